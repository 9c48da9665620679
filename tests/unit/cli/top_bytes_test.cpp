// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_bytes.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <limits>

namespace offwait::cli {
namespace {

TopFindings filled() {
  TopFindings out;
  out.window_s = 10;
  out.with_answers = true;
  out.progress = "to clients";
  out.progress_tids = {11, 12};
  out.said = "said";
  out.answers = {{"change", "+1%", "[sure]", "evidence", "advice", true, 1, 0.5, 2, true, {1, {"k", "u"}}}};
  out.verdict = "verdict";
  out.actors = {{"A", {11}, true, false, true}, {"disk vda", {}, false, true, false}};
  TopEdge edge;
  edge.to = 1;
  edge.weight = 0.5;
  edge.classes = "disk";
  edge.stacks = {{0.75, {1, {"k", "u"}}, {0, {"w"}}}};
  out.edges = {edge};
  out.knots = {{"A ⇄ disk vda", "blocking I/O"}};
  out.locks = {{"lock", 1, 2, 3, "held by A", {0, {"f"}}}};
  out.files = {{"file", 1, 2, 3, "A", {}}};
  out.disks = {{"disk vda", "busy", "files"}};
  return out;
}

TEST_CASE("findings are the same after they were sent") {
  const std::string bytes = to_bytes(filled());
  const Result<TopFindings> read = top_findings_of(bytes);
  REQUIRE(read.ok());
  CHECK(to_bytes(*read) == bytes);
  CHECK(read->answers[0].code.frames == std::vector<std::string>{"k", "u"});
  CHECK(read->progress_tids == std::vector<std::int32_t>{11, 12});
  CHECK(read->edges[0].stacks[0].share == 0.75);
  CHECK(read->actors[0].in_knot);
}

TEST_CASE("bytes that are cut, longer, or refer to what is not there are no findings") {
  const std::string bytes = to_bytes(filled());
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    CHECK_FALSE(top_findings_of(bytes.substr(0, size)).ok());
  CHECK_FALSE(top_findings_of(bytes + "x").ok());
  TopFindings wrong = filled();
  wrong.edges[0].to = 2;
  CHECK_FALSE(top_findings_of(to_bytes(wrong)).ok());
}

TEST_CASE("numbers that cannot be shown are 0") {
  TopFindings strange = filled();
  strange.edges[0].weight = std::numeric_limits<double>::quiet_NaN();
  strange.edges[0].waits = std::numeric_limits<double>::infinity();
  const Result<TopFindings> read = top_findings_of(to_bytes(strange));
  REQUIRE(read.ok());
  CHECK(read->edges[0].weight == 0);
  CHECK(read->edges[0].waits == 0);
}

}  // namespace
}  // namespace offwait::cli
