// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/screen.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace offwait;

namespace {

using Sections = std::vector<ScreenSection>;
using What = AnswersHeading::What;

FoundAnswer answer(Resource what, double gain, std::size_t progress = 0) {
  FoundAnswer out;
  out.what = what;
  out.gain = gain;
  out.certainty = Certainty::sure;
  out.progress = progress;
  return out;
}

/// Ten seconds of a program with one kind of progress.
Findings judged(std::vector<FoundAnswer> answers) {
  Findings findings;
  findings.window_s = 10;
  findings.totals.waits = 1000;
  findings.progress.resize(2);
  findings.actors.resize(3);
  for (std::size_t i = 0; i < answers.size(); ++i) answers[i].evidence.tid = static_cast<std::int32_t>(i) + 1;
  findings.answers = std::move(answers);
  return findings;
}

FoundKnot knot(bool background, std::vector<FoundEdgeId> edges = {}) {
  FoundKnot out;
  out.actors = {0, 1};
  out.background = background;
  out.edges = std::move(edges);
  return out;
}

FoundDisk disk_used_by(FoundActorId disk, FoundActorId user) {
  FoundDisk out;
  out.actor = disk;
  out.users = {{user, 4096, 1, 0, 0}};
  out.check = FoundDiskCheck{1, 4096, 9, 9 * 4096, true};
  return out;
}

std::vector<std::size_t> numbers(const Screen& screen) {
  std::vector<std::size_t> out;
  for (const ShownAnswer& shown : screen.answers) out.push_back(shown.answer);
  return out;
}

}  // namespace

TEST_CASE("the screen has four answers, and evidence for the best of each progress") {
  Findings findings =
      judged({answer(Resource::cpu, 0.9), answer(Resource::cpu, 0.8, 1), answer(Resource::cpu, 0.7),
              answer(Resource::cpu, 0.6), answer(Resource::cpu, 0.5), answer(Resource::cpu, 0.4)});
  const Screen screen = screen_of(findings);
  CHECK(screen.sections == Sections{ScreenSection::answers});
  CHECK(screen.heading.what == What::none);
  CHECK_FALSE(screen.why_runnable);
  CHECK(numbers(screen) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(screen.answers[0].evidence);
  CHECK(screen.answers[1].evidence);
  CHECK_FALSE(screen.answers[2].evidence);
  REQUIRE(screen.others);
  CHECK(screen.others->count == 2);
  CHECK(screen.others->gain == 0.5);

  const Screen whole = screen_of(findings, {.everything = true});
  CHECK(numbers(whole).size() == 6);
  CHECK(
      std::all_of(whole.answers.begin(), whole.answers.end(), [](const auto& one) { return one.evidence; }));
  REQUIRE(whole.others);
  CHECK(whole.others->count == 0);

  findings.answers[0].certainty = Certainty::rough;
  CHECK_FALSE(screen_of(findings).others);
}

TEST_CASE(
    "where the target does not respond, what its client does is no answer, and the rest is not judged") {
  Findings findings = judged({answer(Resource::cpu, 0.9), answer(Resource::cpu, 0.3, 1)});
  findings.answers[0].doubt = Doubt::unanswered;
  const Screen screen = screen_of(findings);
  CHECK(screen.heading.what == What::unanswered);
  CHECK(numbers(screen) == std::vector<std::size_t>{1});
  CHECK_FALSE(screen.others);
}

TEST_CASE("requests to a disk are a part of the answer about the disk where no other threads use it") {
  Findings findings = judged({answer(Resource::disk, 0.9), answer(Resource::io, 0.4, 1)});
  for (FoundAnswer& one : findings.answers) {
    one.device = 3;
    one.evidence.tid = 1;  // the same group
    one.progress = 0;
  }
  CHECK(numbers(screen_of(findings)) == std::vector<std::size_t>{0});
  findings.answers[0].other_user = OtherDiskUser{2, 0.5};
  CHECK(numbers(screen_of(findings)) == std::vector<std::size_t>{0, 1});
  findings.answers[0].other_user.reset();
  findings.answers[0].evidence.tid = 2;
  CHECK(numbers(screen_of(findings)) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("the sentence above the answers") {
  Findings findings = judged({answer(Resource::cpu, 0.05), answer(Resource::disk, 0.03)});
  CHECK(heading_of(findings).what == What::balanced);
  CHECK(heading_of(findings).most == 0.05);
  findings.progress[0].how = Progress::How::inferred;
  findings.progress[0].threads = {{"a", 1}, {"b", 1}};
  CHECK(heading_of(findings).what == What::unknown);
  findings.verdict.rule = Verdict::Rule::asks;
  CHECK(heading_of(findings).what == What::graph);
  findings.answers[0].gain = 0.3;
  CHECK(heading_of(findings).what == What::none);
  for (FoundAnswer& one : findings.answers) one.actor = 0;
  findings.actors[0].outside = true;
  CHECK(heading_of(findings).what == What::none);  // the disk is the target's
  findings.answers[1].what = Resource::sleep;
  CHECK(heading_of(findings).what == What::none);  // it is not known that these are clients
  findings.progress[0].how = Progress::How::clients;
  CHECK(heading_of(findings).what == What::clients);
  findings.answers.push_back(answer(Resource::disk, 0.01));
  CHECK(heading_of(findings).what == What::clients);
  findings.answers[2].certainty = Certainty::rough;
  CHECK(heading_of(findings).what == What::none);
  findings.answers.pop_back();
  findings.answers[1].evidence.takes_output = true;
  CHECK(heading_of(findings).what == What::none);
  findings.answers[0].doubt = Doubt::unanswered;
  CHECK(heading_of(findings).what == What::unanswered);
  findings.answers[0].certainty = Certainty::split;
  CHECK(heading_of(findings).what == What::split);
  findings.held_back = HeldBack{};
  CHECK(screen_of(findings).heading.what == What::held_back);
}

TEST_CASE("beside answers a knot is shown if it explains one, and without its idle edges") {
  Findings findings = judged({answer(Resource::cpu, 0.9), answer(Resource::disk, 0.8)});
  findings.edges.resize(2);
  findings.edges[1].idle = true;
  findings.knots = {knot(false), knot(false, {0, 1}), knot(true)};
  findings.answers[1].knot = 1;
  const Screen screen = screen_of(findings);
  CHECK(screen.sections == Sections{ScreenSection::answers, ScreenSection::knots, ScreenSection::left_out});
  REQUIRE(screen.knots.size() == 1);
  CHECK(screen.knots[0].knot == 1);
  CHECK(screen.knots[0].explains == 1);
  CHECK(screen.knots[0].edges == std::vector<FoundEdgeId>{0});
  CHECK(screen.left_out.knots == 1);
  CHECK(screen.left_out.background == 1);

  const Screen whole = screen_of(findings, {.everything = true});
  CHECK(whole.sections == Sections{ScreenSection::answers, ScreenSection::knots, ScreenSection::background});
  CHECK(whole.knots.size() == 2);
  CHECK(whole.knots[1].edges == std::vector<FoundEdgeId>{0, 1});
  CHECK(whole.background_knots == std::vector<std::size_t>{2});
}

TEST_CASE("without progress the wait graph is the answer, and what limits nothing is shown") {
  Findings findings = judged({});
  findings.progress.clear();
  findings.edges.resize(1);
  findings.edges[0].idle = true;
  findings.knots = {knot(false, {0}), knot(true)};
  findings.excluded_waits.resize(1);
  const Screen screen = screen_of(findings);
  CHECK(screen.sections == Sections{ScreenSection::verdict, ScreenSection::knots,
                                    ScreenSection::excluded_waits, ScreenSection::background});
  CHECK(screen.knots[0].edges == std::vector<FoundEdgeId>{0});
  CHECK_FALSE(screen.knots[0].explains);
  CHECK(screen.left_out.waits == 0);
}

TEST_CASE("a recording that is too short has no answers, and nothing that was asked about") {
  Findings findings = judged({answer(Resource::cpu, 0.9)});
  findings.window_s = 0.5;
  findings.what_ifs.resize(1);
  findings.knots = {knot(false)};
  const Screen screen = screen_of(findings);
  CHECK(screen.sections == Sections{ScreenSection::too_short, ScreenSection::graph, ScreenSection::knots});
  CHECK(screen.answers.empty());
  findings.window_s = 10;
  CHECK(screen_of(findings).sections ==
        Sections{ScreenSection::answers, ScreenSection::what_ifs, ScreenSection::left_out});
}

TEST_CASE("disks are shown that the target uses, and a mismatch where an answer is about the disk") {
  Findings findings = judged({answer(Resource::disk, 0.9)});
  findings.actors.resize(4);
  findings.actors[1].outside = true;
  findings.answers[0].device = 2;
  findings.disks = {disk_used_by(2, 0), disk_used_by(3, 1), disk_used_by(3, 0)};
  const Screen screen = screen_of(findings);
  CHECK(screen.sections == Sections{ScreenSection::answers, ScreenSection::disks});
  REQUIRE(screen.disks.size() == 2);
  CHECK(screen.disks[0].disk == 0);
  CHECK(screen.disks[0].mismatch);
  CHECK(screen.disks[1].disk == 2);
  CHECK_FALSE(screen.disks[1].mismatch);
  const Screen whole = screen_of(findings, {.everything = true});
  CHECK(whole.disks.size() == 3);
  CHECK(whole.disks[1].mismatch);
}

TEST_CASE("memory is told where the target waits for disks, if most of what it read had been there") {
  Findings findings = judged({answer(Resource::cpu, 0.9)});
  findings.totals.waits_for[BlockedBy::disk] = 0.1;
  findings.memory = FoundMemory{"/a", 60, 59, 5, false, 500, 0, 1000};
  CHECK(screen_of(findings).sections == Sections{ScreenSection::answers, ScreenSection::memory});
  findings.memory->refault_bytes = 499;
  CHECK_FALSE(screen_of(findings).has(ScreenSection::memory));
  CHECK(screen_of(findings, {.everything = true}).has(ScreenSection::memory));
  findings.memory->swap_bytes = 1;
  CHECK(screen_of(findings).has(ScreenSection::memory));
  findings.totals.waits_for[BlockedBy::disk] = 0.09;
  CHECK_FALSE(screen_of(findings).has(ScreenSection::memory));
}

TEST_CASE("losses come first if they may change the answer, else last") {
  Findings findings = judged({answer(Resource::cpu, 0.9)});
  findings.loss = {{"ringbuf_full", 1}};
  findings.recording.cost.programs_ns = 1;
  CHECK(screen_of(findings).sections ==
        Sections{ScreenSection::answers, ScreenSection::cost, ScreenSection::losses});
  findings.loss = {{"ringbuf_full", 500}};
  CHECK(screen_of(findings).sections ==
        Sections{ScreenSection::losses, ScreenSection::answers, ScreenSection::cost});
}

TEST_CASE("threads that are stuck show what they wait for beside answers") {
  Findings findings = judged({answer(Resource::cpu, 0.9)});
  findings.deadlocks.resize(1);
  findings.excluded_waits.resize(2);
  const Screen screen = screen_of(findings);
  CHECK(screen.sections ==
        Sections{ScreenSection::deadlocks, ScreenSection::answers, ScreenSection::excluded_waits});
  CHECK(screen.left_out.waits == 0);
}

TEST_CASE("a part is shown if it has something to say") {
  const auto has = [](ScreenSection section, auto change) {
    Findings findings = judged({answer(Resource::cpu, 0.9)});
    const bool before = screen_of(findings).has(section);
    change(findings);
    const bool after = screen_of(findings).has(section);
    return !before && after;
  };
  CHECK(has(ScreenSection::sinks, [](Findings& findings) {
    findings.sinks.resize(1);
    findings.sinks[0].saturated = true;
  }));
  CHECK(has(ScreenSection::stopped, [](Findings& findings) { findings.totals.stopped_s = 1; }));
  CHECK(has(ScreenSection::runnable, [](Findings& findings) { findings.actors[0].time = {4, 1, 5, 0, 10}; }));
  CHECK(has(ScreenSection::nics, [](Findings& findings) {
    findings.nics.resize(1);
    findings.nics[0].actor = 2;
    findings.edges.resize(1);
    findings.edges[0].to = 2;
  }));
  CHECK(has(ScreenSection::false_wakeups, [](Findings& findings) {
    findings.false_wakeups.count = 1;
    findings.false_wakeups.edges = {{0, 1, 1}};
  }));
  CHECK(
      has(ScreenSection::wrong_stacks, [](Findings& findings) { findings.recording.stack_reuse.wrong = 1; }));
  CHECK(has(ScreenSection::stack_ends, [](Findings& findings) {
    findings.stack_ends = {9, 0, {{StackCut::deep, 1}}};
  }));
  CHECK(has(ScreenSection::left_out, [](Findings& findings) { findings.excluded_waits.resize(1); }));
}

TEST_CASE("what is left out is counted") {
  Findings findings = judged({answer(Resource::cpu, 0.9)});
  findings.excluded_waits.resize(3);
  findings.sinks.resize(2);
  findings.knots = {knot(true), knot(false)};
  findings.open_waits.resize(2);
  findings.open_waits[0].throughout = true;
  const LeftOut out = screen_of(findings).left_out;
  CHECK(out.knots == 1);
  CHECK(out.waits == 3);
  CHECK(out.background == 3);
  CHECK(out.blocked == 1);
  const Screen whole = screen_of(findings, {.everything = true, .search = true});
  CHECK(whole.left_out.waits == 0);
  CHECK(whole.sections == Sections{ScreenSection::answers, ScreenSection::knots, ScreenSection::search,
                                   ScreenSection::excluded_waits, ScreenSection::background,
                                   ScreenSection::blocked});
}

TEST_CASE("why CPUs are lacking is said once") {
  Findings findings = judged({answer(Resource::cpu, 0.9)});
  findings.actors[0].time = {4, 1, 5, 0, 10};
  findings.cpu_supply.cause = CpuSupply::Cause::own;
  CHECK(screen_of(findings).why_runnable);
  CHECK_FALSE(screen_of(findings).neighbours);
  findings.cpu_supply.cause = CpuSupply::Cause::others;
  CHECK_FALSE(screen_of(findings).why_runnable);
  CHECK(screen_of(findings).neighbours);
  // The disk limits, whatever others do on the CPUs.
  findings.answers.front().what = Resource::disk;
  CHECK_FALSE(screen_of(findings).neighbours);
  CHECK(screen_of(findings).why_runnable);
}

TEST_CASE("background knots are shown where they are the answer") {
  Findings findings = judged({});
  findings.progress.clear();
  findings.knots = {knot(true)};
  CHECK(screen_of(findings).background_knots == std::vector<std::size_t>{0});
  findings.verdict.rule = Verdict::Rule::background;
  CHECK(screen_of(findings).background_knots.empty());
  CHECK(screen_of(findings).knots.size() == 1);
}
