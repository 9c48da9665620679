// SPDX-License-Identifier: GPL-2.0-or-later
// User frames that say how every program starts its threads and waits, and nothing of this one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "code/roles.h"
#include "model/frame.h"

namespace offwait {

/// The user frames of a stack, leaf first, without
/// - how threads and main() are started, at the outer end: clone3, start_thread, std::thread's _M_run,
/// _start;
/// - how glibc and libstdc++ wait and wake, at the inner end: only the outermost call there stays that means
///   something, as `pthread_mutex_lock` or `std::condition_variable::wait`;
/// - how libstdc++ calls what it was given, anywhere: std::__invoke, std::function.
/// Functions of libc and libstdc++ without a name are taken for the first two where they stand at these ends.
/// The outer end of a stack that is `cut` is not the start of a thread, so it stays. A stack that has frames
/// and is not cut keeps at least one; frames stay as they are.
std::vector<Frame> without_noise(const std::vector<Frame>& user_frames, bool cut);
/// The same for frames whose noise is known: the indices of those that stay.
std::vector<std::size_t> without_noise(std::span<const Noise> frames, bool cut);

}  // namespace offwait
