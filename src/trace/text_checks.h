// SPDX-License-Identifier: GPL-2.0-or-later
// What the text form cannot say.
#pragma once

#include <optional>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// The time from the birth of a thread to the birth of the next one with its tid. In this time the tid means
/// the thread in the text form.
struct TidSpan {
  Nanos begin = 0;
  Nanos end = kNever;
  bool covers(Nanos at) const { return begin <= at && at < end; }
};

/// By ActorId; those of actors that are no threads are of no use. Fails for tids that cannot be said in text.
Result<std::vector<TidSpan>> tid_spans(const Trace& trace);

/// Checks a trace that satisfies validate(). What cannot be written as text, or nothing.
std::optional<Error> find_unwritable(const Trace& trace, const std::vector<TidSpan>& spans);

}  // namespace offwait
