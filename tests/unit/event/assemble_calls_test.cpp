// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cstdint>

#include "assembled.h"

namespace offwait {
namespace {

using test::Lines;
using test::only;
using test::RecordingByHand;
using test::trace_of;
using test::two_threads;

void call(RecordingByHand& t, std::uint32_t tid, offwait_calls counted) {
  t.recording.counted_function = "answer";
  t.recording.calls.push_back({{0, tid, 0}, counted});
}

Lines calls_of(const RecordingByHand& t) { return only("calls", trace_of(t)); }

TEST_CASE("calls belong to their thread, are in order of threads, and their times lie in the window") {
  RecordingByHand t = two_threads();
  call(t, 12, {5, 1200, 2010});
  call(t, 11, {7, 990, 1900});
  CHECK(calls_of(t) == Lines{"calls 11@500 answer 7 [1000,1900]", "calls 12@600 answer 5 [1200,2000]"});
}

TEST_CASE("the calls of a thread that has exited belong to it, and not to the tid's next owner") {
  RecordingByHand t = two_threads();
  t.born(13, 1100);
  t.exited(13, 1400);
  t.born(13, 1500);
  t.left(13, 1500, OFFWAIT_STATE_RUNNING, 1500);
  call(t, 13, {2, 1200, 1300});
  call(t, 13, {4, 1600, 1700});
  CHECK(calls_of(t) == Lines{"calls 13@1100 answer 2 [1200,1300]", "calls 13@1500 answer 4 [1600,1700]"});
}

TEST_CASE("calls that contradict the recording are left out and counted") {
  RecordingByHand t = two_threads();
  call(t, 99, {1, 1100, 1100});  // no such thread
  call(t, 11, {0, 1100, 1100});
  CHECK(calls_of(t).empty());
  CHECK(only("loss", trace_of(t)) == Lines{"loss record_invalid 2"});
}

}  // namespace
}  // namespace offwait
