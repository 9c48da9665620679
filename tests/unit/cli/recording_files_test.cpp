// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/recording_files.h"

#include <catch2/catch.hpp>
#include <string>

#include <sys/prctl.h>
#include <unistd.h>

#include "unit/cli/parsed.h"

namespace offwait::cli {
namespace {

using test::good;
using test::Words;
using test::wrong;

std::string name_for(const Words& words) {
  constexpr Nanos kNow = 1'767'225'600 * kSecond + 345'000'000;
  const std::string name = file_name_for(good<RecordOptions>(words).recording.target, kNow);
  const std::string head = "offwait-";
  const std::string tail = "-20260101T000000.345Z.offwait";
  REQUIRE(name.starts_with(head));
  REQUIRE(name.ends_with(tail));
  return name.substr(head.size(), name.size() - head.size() - tail.size());
}

TEST_CASE("a recording is called after its target and the time") {
  CHECK(name_for({"record", "-p", "mariadbd"}) == "mariadbd");
  CHECK(name_for({"record", "--unit", "getty@tty1.service"}) == "getty@tty1.service");
  CHECK(name_for({"record", "--container", "4f1a9c"}) == "4f1a9c");
  CHECK(name_for({"record", "-c", "/sys/fs/cgroup/system.slice/"}) == "system.slice");
  CHECK(name_for({"record", "-a"}) == "system");
  CHECK(name_for({"record", "--", "/usr/bin/ls", "-l"}) == "ls");
  CHECK(name_for({"record", "--", "./a b/../c\nd"}) == "c_d");
  CHECK(name_for({"record", "-p", std::string(200, 'x')}) == std::string(40, 'x'));
  CHECK(name_for({"record", "-p", "2147483647"}) == "2147483647");
  ::prctl(PR_SET_NAME, "named here");
  CHECK(name_for({"record", "-p", std::to_string(::getpid())}) == "named_here");
}

TEST_CASE("how text looks") {
  const OutputOptions chosen =
      good<ReportOptions>({"report", "f", "--color=always", "--width", "120"}).output;
  CHECK(chosen.look.color == ColorChoice::always);
  CHECK(chosen.look.width == 120);
  const OutputOptions usual = good<ProfileOptions>({"-p", "1"}).output;
  CHECK(usual.look.color == ColorChoice::automatic);
  CHECK_FALSE(usual.look.width);
  CHECK(good<DiffOptions>({"diff", "a", "b", "--color", "never"}).output.look.color == ColorChoice::never);
  CHECK(good<DoctorOptions>({"doctor", "--color=auto", "--width=60"}).look.width == 60);
  CHECK(wrong({"report", "f", "--color", "red"}) == "bad color 'red': expected always, never or auto");
  CHECK(wrong({"report", "f", "--color"}) == "--color needs a value: auto|always|never");
  for (const std::string bad : {"59", "1001", "wide", "-80", ""})
    CHECK(wrong({"report", "f", "--width=" + bad})
              .find(bad.empty() ? "--width needs a value" : "bad width '" + bad) != std::string::npos);
}

}  // namespace
}  // namespace offwait::cli
