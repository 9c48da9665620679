// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <optional>

#include "unit/cli/parsed.h"

namespace offwait::cli {
namespace {

using test::good;
using test::Words;
using test::wrong;

TEST_CASE("whose progress counts, and changes to answer for, several times each") {
  const ProfileOptions options =
      good<ProfileOptions>({"-p", "1", "--progress", "a*", "--progress=comm:b", "--what-if",
                            "disk vda /2, comm:a cpu *2", "--what-if", "cpus *2"});
  CHECK(options.analysis.progress.threads == Words{"a*", "b"});
  REQUIRE(options.analysis.what_ifs.size() == 2);
  CHECK(options.analysis.what_ifs[0].asked == "disk vda /2, comm:a cpu *2");
  CHECK(options.analysis.what_ifs[0].changes.size() == 2);
  CHECK(options.analysis.what_ifs[1].changes == std::vector<NamedChange>{{Resource::cpus, "", "", 0.5}});
  const ReportOptions report =
      good<ReportOptions>({"report", "x", "--progress", "t", "--what-if", "cpus *2"});
  CHECK(report.analysis.progress.threads == Words{"t"});
  CHECK(report.analysis.what_ifs.size() == 1);
  CHECK(good<ProfileOptions>({"-p", "1"}).analysis.progress.threads.empty());
  CHECK(wrong({"dump", "-p", "1", "--what-if", "cpus *2"}) ==
        "dump has no option --what-if: offwait and offwait report have it");
  for (const char* const empty : {"", "comm:"}) {
    CHECK(wrong({"-p", "1", "--progress", empty}) ==
          "--progress needs the name of threads, or a pattern, as in --progress 'worker*'");
  }
  CHECK(wrong({"-p", "1", "--what-if", "disk vda 2"}) ==
        "--what-if 'disk vda 2': '2' stands where a factor is expected: /2 is half of the time, *2 twice as "
        "much");
  const auto progress = [](const Words& words) { return good<ProfileOptions>(words).analysis.progress; };
  CHECK(progress({"--progress", "end", "--", "make"}).end);
  CHECK(progress({"--progress", "end", "--", "make"}).threads.empty());
  CHECK_FALSE(progress({"--progress", "comm:end", "--", "make"}).end);
  CHECK(progress({"--progress", "comm:end", "--", "make"}).threads == Words{"end"});
  CHECK(good<ReportOptions>({"report", "x", "--progress", "end"}).analysis.progress.end);
  CHECK(wrong({"-p", "1", "--progress", "end"}) ==
        "--progress end is the end of a program: write -- and the program last, or name threads");
  CHECK(
      wrong({"--progress", "end", "--progress", "cc", "--", "make"}) ==
      "--progress end and --progress cc each say what counts: choose one (threads called end are comm:end)");
  Words many = {"report", "x"};
  for (int i = 0; i < 17; ++i) many.insert(many.end(), {"--what-if", "cpus *2"});
  CHECK(wrong(many) == "--what-if may be given 16 times");
}

TEST_CASE("a function whose calls count, of any module or of one") {
  const auto counted = [](const Words& words) { return good<ProfileOptions>(words).recording.counted; };
  CHECK(!counted({"-p", "1"}));
  const auto whole = counted({"-p", "1", "--progress-at", "ns::Server::answer"});
  REQUIRE(whole);
  CHECK(whole->module.empty());
  CHECK(whole->name == "ns::Server::answer");
  const auto of_module = counted({"-p", "1", "--progress-at", "libpq.so:ns::answer"});
  REQUIRE(of_module);
  CHECK(of_module->module == "libpq.so");
  CHECK(of_module->name == "ns::answer");
  CHECK(good<DumpOptions>({"dump", "-p", "1", "--progress-at", "f"}).recording.counted->name == "f");
  for (const char* const bad : {"", ":f", "libpq.so:"}) {
    CHECK(wrong({"-p", "1", "--progress-at", bad}) ==
          "bad --progress-at '" + std::string(bad) + "': expected FUNCTION or MODULE:FUNCTION");
  }
  CHECK(wrong({"-p", "1", "--progress-at", "f", "--progress", "w*"}) ==
        "--progress-at f and --progress w* each say what counts: choose one");
  CHECK(wrong({"--progress-at", "f", "--progress", "end", "--", "make"}) ==
        "--progress-at f and --progress end each say what counts: choose one");
  CHECK(wrong({"report", "x", "--progress-at", "f"}) ==
        "report has no option --progress-at: offwait, offwait record, offwait top and offwait dump have it");
}

}  // namespace
}  // namespace offwait::cli
