// SPDX-License-Identifier: GPL-2.0-or-later
// In which function each thread began. Where all threads of a program have one name, it tells them apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// The function in which a stack's thread began: the outermost user frame behind those that begin every
/// thread (`clone3`, `start_thread`, a runtime's). Empty for a stack that is cut, and for one whose
/// innermost frame that is: such a stack has lost its outer frames, or never had any. The threads of Go run
/// any goroutine, so all of them begin in `runtime`.
std::string start_function(const Trace& trace, const Stack& stack);

/// By ActorId, the start_function() of nine tenths of the thread's waits and samples; empty if there is none.
/// `ended` is the number of waits that ended at each site.
///
/// A function without a name may begin every thread as well (libstdc++'s does on most systems): if each
/// thread goes on from it to one function only, and not all to the same one, the threads begin in those.
std::vector<std::string> start_functions(const Trace& trace, const std::vector<std::uint64_t>& ended);

}  // namespace offwait
