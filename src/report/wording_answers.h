// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences of the first screen: what a change would gain, what that rests on, and what to try. What is
// returned is hostile as the names in it are: it is escaped and cut to width where it goes out.
#pragma once

#include <string>
#include <string_view>

#include "analysis/findings.h"
#include "analysis/screen.h"
#include "report/names.h"

namespace offwait {

/// Whether the recording is long enough for a prediction: else why not, as a sentence; empty if it is.
std::string too_short_text(const Findings& findings, const ActorNames& names);

/// What stands above the answers; empty for AnswersHeading::What::none.
std::string answers_heading(const Findings& findings, const AnswersHeading& heading, const ActorNames& names);

/// `disk loop0 twice as fast`; `redis-server's CPU work halved`; `2 CPUs instead of 1`.
std::string change_text(const FoundAnswer& answer, const ActorNames& names);

/// What a recording cannot show of this runtime; empty if that is nothing.
std::string runtime_text(const FoundRuntime& found);

/// `what if disk loop0 /2, cpus *2: +61% (55 to 66) [sure]`. Without a number only the direction is given.
std::string what_if_text(const Findings& findings, const FoundWhatIf& what_if, const ActorNames& names);

/// `redis-server waited 9.10 s, 1,632 times 5.60 ms, most of it in`: a stack or samples follow; without them
/// the text ends before the comma.
std::string evidence_text(const Findings& findings, const FoundAnswer& answer, const ActorNames& names);
/// Where the part waits most or, for CPU work, where it was sampled most: `41% of it in`, and a stack that
/// follows. Both empty where that is not known.
struct AnswerPlace {
  std::string text;
  Backtrace stack;
};
AnswerPlace place_of(const FoundAnswer& answer);
/// `meanwhile up_worker slept (97%)`: what a service on this host did while it was waited for; that this is
/// not known; empty for what is no service.
std::string service_text(const FoundAnswer& answer, const ActorNames& names);
/// `· held half as long: +92% (84 to 100)`: the other number of an answer about a lock; empty for any other
/// answer, and where there are no numbers.
std::string held_gain_text(const FoundAnswer& answer);
/// `· its CPU time alone: +27% (25 to 29) · its waits for the disk alone: +26% (24 to 28)`: the parts of an
/// answer about calls that make sure of what is on a disk; empty for any other answer.
std::string sync_parts_text(const FoundAnswer& answer);
/// `· 7 threads instead of 1: up to ×7.0`, `· more than 1 worker: up to ×16, if disk vda serves 16 requests
/// at a time`; empty unless others queue for the answer's threads.
std::string more_threads_text(const Findings& findings, const FoundAnswer& answer, const ActorNames& names);
/// What the disk did, and who else has much of it; empty without one.
std::string device_text(const Findings& findings, const FoundAnswer& answer, const ActorNames& names);

/// `Everything else: < 1%`, `3 more gain up to 14% (-v)`
std::string others_text(const OtherAnswers& others);
/// `-v also shows 2 more knots, and what limits nothing: 14 long waits outside the knots, 3 threads
/// blocked throughout.`; empty if there are none.
std::string rest_text(const LeftOut& more);

}  // namespace offwait
