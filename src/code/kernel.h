// SPDX-License-Identifier: GPL-2.0-or-later
// What functions of the kernel mean, by their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/frame.h"

namespace offwait {

/// Every stack's way into the kernel, and to a kernel thread's function.
bool is_kernel_entry(std::string_view function);

/// How every thread sleeps and is woken, and how it came into the kernel: it says nothing about the wait.
bool is_plumbing(std::string_view function);

/// The function that switches threads.
bool is_thread_switch(std::string_view function);
/// A way from a lock of the kernel to the thread switch, but for functions that are called locks
/// (is_about_locks()).
bool leads_to_switch(std::string_view function);
/// The end of a thread switch, where the recorder's programs run.
bool ends_switch(std::string_view function);
/// Whether the recorder itself runs in it: the kernel calls its programs so, or its programs call it.
bool is_recorder(std::string_view function);

/// A wait until somebody takes what the thread writes: to a pipe, a socket, or a terminal.
bool waits_to_write(std::string_view function);
/// A wait for any of the disk requests that are under way.
bool waits_for_any_request(std::string_view function);

/// Whether a clock's samples in this function may be of code before it. A CPU takes a sample when the clock's
/// interrupt reaches it, so what runs with interrupts off is sampled where they come on again:
/// `_raw_spin_unlock_irqrestore`, `finish_task_switch`.
bool turns_interrupts_on(std::string_view function);

/// How many of the innermost frames are such functions. What was sampled in them belongs to the frame after
/// them, which had interrupts off or called what had. A stack keeps at least one kernel frame.
template <typename FrameAt>
std::size_t sampled_late(std::size_t frames, FrameAt&& at) {
  std::size_t late = 0;
  while (late + 1 < frames && at(late).kind == Frame::Kind::kernel &&
         turns_interrupts_on(at(late).function) && at(late + 1).kind == Frame::Kind::kernel) {
    ++late;
  }
  return late;
}

/// The system call that these kernel frames are part of, as `write`, or `page faults`; empty if it is neither
/// or not known. Innermost first; frames after the kernel's are not looked at.
std::string entered_by(const std::vector<Frame>& frames);

/// Why the kernel holds threads back in a function.
enum class KernelPause : std::uint8_t {
  unknown,
  dirty_pages,  ///< they write, and disks have to take more of what was written first
  memory,       ///< they need memory that the kernel has to free first
  io_limit,     ///< their cgroup may not use the disk yet
  disk_queue,   ///< the disk's queue is full
};
/// `unknown`, `dirty-pages`, `memory`, `io-limit`, `disk-queue`.
std::string_view to_string(KernelPause pause);
KernelPause pauses_in(std::string_view function);

/// Whether this is where the kernel comes in for a page that is not there.
bool is_page_fault(std::string_view function);
/// Whether this function of the kernel, in a call that writes to a file, brings what was written to a disk:
/// it is that of a file system, or what calls it. fsync calls it, and so does a write to a file that was
/// opened with O_SYNC or O_DSYNC. In other calls such a name may mean something else.
bool syncs_file(std::string_view function);
/// The system call, as `pwrite64`, whose first function in the kernel this is; empty for other functions.
std::string_view system_call(std::string_view function);

}  // namespace offwait
