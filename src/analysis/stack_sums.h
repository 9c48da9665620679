// SPDX-License-Identifier: GPL-2.0-or-later
// Time waited and samples taken, added up by thread name and stack: the widths of a flame graph.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/found_files.h"
#include "base/result.h"
#include "model/frame.h"
#include "model/trace.h"

namespace offwait {

enum class StackKind : std::uint8_t {
  off_cpu,   ///< where threads waited
  off_wake,  ///< where threads waited, for whom, and where the waker woke them
  on_cpu,    ///< where threads ran, by CPU samples
};

/// What is added up of waits. CPU samples are always counted one by one.
enum class StackMeasure : std::uint8_t {
  wait,    ///< time waited (SiteSum::wait_ns)
  weight,  ///< time waited by the thread and by those behind it (SiteSum::weight_ns)
};

struct StackSumOptions {
  StackKind kind = StackKind::off_cpu;
  StackMeasure measure = StackMeasure::wait;
  bool keep_false_wakeups = false;  ///< as AnalysisOptions::keep_false_wakeups
  bool objects = false;             ///< waits for different locks and files have sums of their own
};

struct StackWaker {
  ActorKind kind = ActorKind::thread;
  std::string name;
  friend bool operator==(const StackWaker&, const StackWaker&) = default;
};

/// The sum over all threads with one name. Two sums of one StackSums differ in another field than `amount`,
/// or are for two objects that are called alike.
struct StackSum {
  std::string thread;  ///< its name, which may be empty
  StackId stack = kNoStack;
  /// For `off_wake` only. None if the waker is not known or the wait is still open.
  std::optional<StackWaker> waker;
  StackId waker_stack = kNoStack;  ///< for `off_wake` only
  std::int64_t amount = 0;         ///< ns, or samples for `on_cpu`; may be 0
  // With StackSumOptions::objects, what was waited for, as far as that is known:
  std::string lock{};                     ///< name_of_lock(); hostile bytes
  std::optional<FoundFileName> stored{};  ///< a file, or what else on a disk
  friend bool operator==(const StackSum&, const StackSum&) = default;
};

struct StackSums {
  StackKind kind = StackKind::off_cpu;
  // The trace's own: the ids in `sums` are indices into `stacks`.
  std::vector<Frame> frames;
  std::vector<Stack> stacks;
  std::vector<StackSum> sums;  ///< in no particular order
};

/// CPU samples of the target's threads inside the window, counted by thread name and stack.
std::vector<StackSum> sampled_stacks(const Trace& trace);

/// Adds up the waits, or the samples inside the window, of the target's threads. Short-lived threads get no
/// stand-ins, and similar threads are not merged, so that sums add up to the time of single threads. A trace
/// that was prepared for analyse() cannot serve: stand-ins add to the weights of the waits of others. The
/// trace must satisfy validate(). Fails with the errors of prepare(); never for `on_cpu`, which needs no
/// sweep.
Result<StackSums> stack_sums(Trace trace, const StackSumOptions& options);

}  // namespace offwait
