// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/names.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/json.h"
#include "report/text.h"
#include "unit/report/sample.h"
#include "unit/report/text_checks.h"

using namespace offwait;

namespace {

const std::string kLong = "a name \x1b of much more than 28 columns";

/// A renderer with room for three bytes.
ActorNames of_three_bytes(const Findings& findings) {
  return {findings, [](std::string_view name) { return std::string(name.substr(0, 3)); }};
}

}  // namespace

TEST_CASE("A name is as the renderer writes it; what is added to it is not cut") {
  Findings findings = sample_findings();
  findings.actors[0].name = "worker-1";
  findings.actors[1].name = "worker-2";
  findings.actors[2].name = "nvme0n1";
  findings.actors[2].on = {"sda", "md127", "sdc", "sdd", "sde"};
  const ActorNames names = of_three_bytes(findings);
  CHECK(names.brief(0) == "wor/11");  // The names differ, but they read the same here.
  CHECK(names.brief(1) == "wor/12");
  CHECK(names.brief(2) == "disk nvm");
  CHECK(names.device(findings.actors[2]) == "nvm");
  CHECK(names.full(findings, 0) == "wor (tid 11)");
  CHECK(names.full(findings, 2) == "disk nvm (on sda, md1, sdc, 2 more)");
  CHECK(names.thread({0, 11, "worker-1", 7}) == "wor (tid 11, 7 in its namespace)");
  CHECK(names.thread({0, 11, "", 0}) == "tid 11");
}

TEST_CASE("A group says in which processes its threads are") {
  Findings findings = sample_findings();
  FoundActor& group = findings.actors[0];
  group.kind = ActorKind::group;
  group.name = "web";
  group.tid = 10;
  group.tids = {10, 11, 20};
  group.tgids = {10};
  CHECK(of_three_bytes(findings).full(findings, 0) == "web×3 (in tgid 10)");
  // Relays stand for more threads than they are.
  group.lives = 70'000;
  CHECK(of_three_bytes(findings).full(findings, 0) == "web×70000 (short-lived processes)");
  group.lives = 1;
  group.tgids = {10, 20};
  CHECK(of_three_bytes(findings).full(findings, 0) == "web×3 (in 2 processes)");
  group.outside = true;
  group.short_lived = true;
  CHECK(of_three_bytes(findings).full(findings, 0) == "web×3 (short-lived processes, outside)");
}

TEST_CASE("Text cuts a name to 28 columns, in either character set; JSON does not") {
  Findings findings = sample_findings();
  findings.actors[1].name = kLong;
  CHECK(has(to_text(findings, {false, Charset::utf8, 120, 0, false}),
            "KNOT 1  a name \\x1b of much more th… (tid 12) ⇄ disk vda\n"));
  CHECK(has(to_text(findings, {false, Charset::ascii, 120, 0, false}),
            "KNOT 1  a name \\x1b of much more ... (tid 12) <-> disk vda\n"));

  findings.excluded_waits = {{1, ExcludedWait::Reason::background, std::nullopt, 1}};
  const auto report = nlohmann::json::parse(to_json(findings));
  CHECK(report["elsewhere"][0]["sentence"] ==
        "a name \\x1b of much more than 28 columns is background: its knot uses little CPU and no disk.");
}
