// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "assembled.h"

namespace offwait {
namespace {

using test::Lines;
using test::only;
using test::RecordingByHand;
using test::trace_of;
using test::two_threads;

constexpr std::uint32_t kUnix = OFFWAIT_UNIX_ADDRESS | 3;

struct Counted {
  std::uint64_t count;
  std::uint64_t connections;
  std::uint64_t first_ns;
  std::uint64_t last_ns;
};

void respond(RecordingByHand& t, std::uint32_t tid, std::uint32_t address, const Counted& counted) {
  offwait_responses responses{};
  responses.count = counted.count;
  responses.connections = counted.connections;
  responses.first_ns = counted.first_ns;
  responses.last_ns = counted.last_ns;
  t.recording.responses.push_back({{0, tid, address}, responses});
}

void bind_path(RecordingByHand& t, std::uint32_t id, std::string_view path) {
  offwait_unix_address address{};
  address.length = static_cast<std::uint32_t>(path.size());
  std::copy(path.begin(), path.end(), address.path);
  t.recording.unix_addresses[id] = address;
}

Lines responses_of(const RecordingByHand& t) { return only("responses", trace_of(t)); }

TEST_CASE("responses belong to their thread, and are in order of threads and addresses") {
  RecordingByHand t = two_threads();
  respond(t, 12, 443, {1, 0, 1500, 1500});
  respond(t, 12, 80, {5, 1, 1200, 1800});
  respond(t, 11, 80, {7, 2, 1100, 1900});
  CHECK(responses_of(t) == Lines{"responses 11@500 80 7 to 2 [1100,1900]",
                                 "responses 12@600 80 5 to 1 [1200,1800]",
                                 "responses 12@600 443 1 to 0 [1500,1500]"});
}

TEST_CASE(
    "how long requests were unread is counted in ticks of the kernel, whose length the responses show") {
  RecordingByHand t = two_threads();
  respond(t, 11, 80, {7, 2, 1100, 1900});
  respond(t, 12, 80, {5, 1, 1200, 1800});
  offwait_responses& counted = t.recording.responses[0].second;
  counted.first_jiffies = 50;
  counted.last_jiffies = 54;
  counted.under_way_ns = 300;
  counted.unread_jiffies = 3;
  t.recording.responses[1].second.first_jiffies = 51;
  t.recording.responses[1].second.last_jiffies = 54;
  const Trace trace = t.trace();
  REQUIRE(trace.responses.size() == 2);
  CHECK(trace.responses[0].under_way == 300);
  CHECK(trace.responses[0].unread == 600);  // 3 ticks of (800 + 600) / (4 + 3) ns
  CHECK(trace.responses[1].unread == 0);
}

TEST_CASE("the path of a unix socket ends at its zero, and another name has its length") {
  RecordingByHand t = two_threads();
  SECTION("a file") {
    bind_path(t, kUnix, std::string_view("/run/s\0", 7));
    respond(t, 11, kUnix, {1, 1, 1100, 1100});
    CHECK(responses_of(t) == Lines{"responses 11@500 /run/s 1 to 1 [1100,1100]"});
  }
  SECTION("a name that is no file's") {
    const std::string_view name("\0a\0b", 4);
    bind_path(t, kUnix, name);
    respond(t, 11, kUnix, {1, 1, 1100, 1100});
    CHECK(responses_of(t) == Lines{"responses 11@500 " + std::string(name) + " 1 to 1 [1100,1100]"});
  }
  SECTION("as long as paths can be") {
    const std::string path(OFFWAIT_UNIX_PATH_LEN, 'x');
    bind_path(t, kUnix, path);
    t.recording.unix_addresses[kUnix].length = UINT32_MAX;
    respond(t, 11, kUnix, {1, 1, 1100, 1100});
    CHECK(responses_of(t) == Lines{"responses 11@500 " + path + " 1 to 1 [1100,1100]"});
  }
}

TEST_CASE("the times of responses are clipped to the window") {
  RecordingByHand t = two_threads();
  respond(t, 11, 80, {3, 1, 990, 2010});
  CHECK(responses_of(t) == Lines{"responses 11@500 80 3 to 1 [1000,2000]"});
}

TEST_CASE("the responses of a thread that has exited belong to it, and not to the tid's next owner") {
  RecordingByHand t = two_threads();
  t.born(13, 1100);
  t.exited(13, 1400);
  t.born(13, 1500);
  t.left(13, 1500, OFFWAIT_STATE_RUNNING, 1500);
  respond(t, 13, 80, {2, 1, 1200, 1300});
  respond(t, 13, 80, {4, 0, 1600, 1700});
  CHECK(responses_of(t) ==
        Lines{"responses 13@1100 80 2 to 1 [1200,1300]", "responses 13@1500 80 4 to 0 [1600,1700]"});
}

TEST_CASE("responses that contradict the recording are left out and counted") {
  RecordingByHand t = two_threads();
  respond(t, 99, 80, {1, 1, 1100, 1100});     // no such thread
  respond(t, 11, kUnix, {1, 1, 1100, 1100});  // no such address
  respond(t, 11, 80, {0, 0, 1100, 1100});
  respond(t, 11, 80, {1, 2, 1100, 1100});
  CHECK(responses_of(t).empty());
  CHECK(only("loss", trace_of(t)) == Lines{"loss record_invalid 4"});
}

}  // namespace
}  // namespace offwait
