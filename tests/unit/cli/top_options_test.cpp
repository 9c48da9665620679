// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "unit/cli/parsed.h"

namespace offwait::cli {
namespace {

using test::good;
using test::wrong;

TEST_CASE("top: a target alone, and everything else as documented") {
  const TopOptions options = good<TopOptions>({"top", "-p", "1234"});
  CHECK(options.recording.target.pids == std::vector<std::int32_t>{1234});
  CHECK(options.recording.max_overhead == 0.05);
  CHECK_FALSE(options.recording.duration);
  CHECK(options.replay.empty());
  CHECK_FALSE(options.once);
  CHECK_FALSE(options.batch);
  CHECK_FALSE(options.height);
  CHECK(options.command_line == std::vector<std::string>{"offwait", "top", "-p", "1234"});
}

TEST_CASE("top: every option") {
  const TopOptions options = good<TopOptions>({"top", "-a", "-d", "30s", "--max-overhead", "2%", "--once",
                                               "--width", "120", "--height", "40", "--progress", "worker*"});
  CHECK(options.recording.target.all);
  CHECK(options.recording.duration == 30 * kSecond);
  CHECK(options.recording.max_overhead == 0.02);
  CHECK(options.once);
  CHECK(options.look.width == 120);
  CHECK(options.height == 40);
  CHECK(options.analysis.progress.threads == std::vector<std::string>{"worker*"});
  const TopOptions replay = good<TopOptions>({"top", "--replay", "f.offwait", "--at", "20s", "--batch"});
  CHECK(replay.replay == "f.offwait");
  CHECK(replay.at == 20 * kSecond);
  CHECK(replay.batch);
}

TEST_CASE("top: what contradicts itself is said, with what to do") {
  CHECK(wrong({"top"}).find("say what to record: -p PID") == 0);
  CHECK(wrong({"top", "-p", "1", "--replay", "f"}) == "-p and --replay each say what to show: choose one");
  CHECK(wrong({"top", "--replay", "f", "-d", "5s"}) ==
        "--duration is about a recording, and f is one already");
  CHECK(wrong({"top", "-p", "1", "--at", "5s"}) == "--at is a time in the recording of --replay FILE");
  CHECK(wrong({"top", "-a", "--once", "--batch"}) == "--once and --batch each say what to print: choose one");
  CHECK(wrong({"top", "-a", "--height", "3"}) == "bad height '3': expected lines from 12 to 1000");
  CHECK(wrong({"top", "1234"}) ==
        "unexpected '1234': top takes a target and options, as in 'offwait top -p PID'");
}

}  // namespace
}  // namespace offwait::cli
