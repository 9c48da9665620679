// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out whether a trace can be written in the text form.
#pragma once

#include <optional>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// The time from the birth of a thread to the birth of the next thread with its tid. In this time the tid
/// means this thread in the text form.
struct TidSpan {
  Nanos begin = 0;
  Nanos end = kNever;
  bool covers(Nanos at) const { return begin <= at && at < end; }
};

/// The spans by ActorId; only those of threads have a meaning. Fails if text cannot express the tids.
Result<std::vector<TidSpan>> tid_spans(const Trace& trace);

/// Checks a trace that satisfies validate(). Returns an error for the first thing that text cannot express,
/// or nothing.
std::optional<Error> find_unwritable(const Trace& trace, const std::vector<TidSpan>& spans);

}  // namespace offwait
