// SPDX-License-Identifier: GPL-2.0-or-later
// What a thread that waits for a file asks of it, told by its stack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/found_files.h"
#include "model/trace.h"

namespace offwait {

/// The innermost system call in the stack's kernel frames or, if that comes first, `page fault`; where kernel
/// frames do not tell, the function of libc that the user frames begin with. Variants have one name:
/// `__x64_sys_pwrite64` and `__libc_pwrite` are `pwrite`. Empty: not known.
std::string file_call(const Trace& trace, StackId stack);

/// What the call of the stack does, by its name. A call that may write, and that the kernel syncs at once
/// (O_SYNC, O_DSYNC, io_uring), does a sync where the stack is inside of that.
FileAction file_action(const Trace& trace, StackId stack);

/// By StackId: those whose file_action() is FileAction::sync.
std::vector<bool> stacks_that_sync(const Trace& trace);

}  // namespace offwait
