// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <catch2/catch.hpp>

#include "unit/analysis/scene.h"

using namespace offwait;
using namespace offwait::test;

namespace {

/// Two threads of one kind that wait for one disk for four fifths of the time.
Scene two_readers() {
  Scene scene;
  const ActorId first = scene.thread("read-1", 11);
  const ActorId second = scene.thread("read-2", 12);
  const ActorId disk = scene.device(ActorKind::disk, "vda");
  for (int t = 0; t < 1000; t += 10) {
    scene.wait(first, disk, t + 2, t + 10, WaitClass::disk);
    scene.wait(second, disk, t + 2, t + 10, WaitClass::disk);
  }
  return scene;
}

}  // namespace

TEST_CASE("Answers and progress are told in terms of the report's actors, merged or apart") {
  const Scene scene = two_readers();
  const Findings merged = scene.findings();
  REQUIRE(merged.actors.size() == 2);
  REQUIRE(merged.progress.size() == 1);
  CHECK(merged.progress[0].threads.at(0).name == "read-*");
  CHECK(merged.progress[0].how == Progress::How::inferred);
  CHECK(merged.progress[0].actors == std::vector<FoundActorId>{0});
  CHECK(merged.progress[0].share == Approx(1));
  CHECK_FALSE(merged.progress[0].per_s);
  REQUIRE(merged.answers.size() == 3);
  const FoundAnswer& first = merged.answers[0];
  CHECK(first.device == FoundActorId{1});
  CHECK(first.gain == Approx(2.0 / 3).margin(0.01));
  CHECK(first.certainty == Certainty::sure);
  CHECK(first.progress == 0);
  const FoundAnswer& last = merged.answers[2];
  CHECK(last.what == Resource::cpu);
  CHECK(last.actor == FoundActorId{0});
  CHECK_FALSE(last.device);

  AnalysisOptions apart;
  apart.merge = false;
  const Findings separate = scene.findings(apart);
  REQUIRE(separate.actors.size() == 3);
  CHECK(separate.progress[0].actors == std::vector<FoundActorId>{0, 1});
  CHECK(separate.answers[0].device == FoundActorId{2});
  CHECK(separate.answers[2].actor == FoundActorId{0});
}

TEST_CASE("What other threads waited for a disk is told apart from what the named ones did") {
  Scene scene = two_readers();
  const Findings alike = scene.findings();
  CHECK(alike.answers[0].evidence.time_s == Approx(1.6));
  CHECK(alike.answers[0].evidence.others_s == 0);
  const ActorId other = scene.thread("log", 13);
  for (int t = 0; t < 1000; t += 10) scene.wait(other, 2, t + 5, t + 10, WaitClass::disk);
  const Findings findings = scene.findings();
  const auto disk = std::find_if(findings.answers.begin(), findings.answers.end(),
                                 [](const FoundAnswer& one) { return one.what == Resource::disk; });
  REQUIRE(disk != findings.answers.end());
  CHECK(disk->evidence.name == "read-*");
  CHECK(disk->evidence.time_s == Approx(2.1));
  CHECK(disk->evidence.others_s == Approx(0.5));
}

TEST_CASE("An answer names the knot in which threads wait for its part, and none if there is none") {
  Scene scene;
  scene.trace.recording.cpus = 8;
  const ActorId ask = scene.thread("ask", 11);
  const ActorId reply = scene.thread("reply", 12);
  for (int t = 0; t < 1000; t += 10) {
    scene.wait(reply, ask, t, t + 4);
    scene.wait(ask, reply, t + 4, t + 10);
  }
  const Findings findings = scene.findings();
  REQUIRE(findings.knots.size() == 1);
  REQUIRE(findings.answers.size() == 2);
  CHECK(findings.answers[0].actor == FoundActorId{1});
  CHECK(findings.answers[0].gain == Approx(10.0 / 7 - 1).margin(0.01));
  CHECK(findings.answers[0].knot == std::size_t{0});
  CHECK(findings.answers[1].knot == std::size_t{0});
  const Findings without = two_readers().findings();
  REQUIRE(without.knots.empty());
  CHECK_FALSE(without.answers[0].knot);
}

TEST_CASE("What a device spares does not make a knot that of an answer") {
  Scene scene;
  scene.trace.recording.cpus = 8;
  const ActorId reader = scene.thread("reader", 11);
  const ActorId disk = scene.device(ActorKind::disk, "vda");
  for (int t = 0; t < 1000; t += 10) {
    scene.wait(reader, disk, t, t + 4, WaitClass::disk);
    scene.trace.disk_ios.push_back({reader, disk, t * kMs, (t + 4) * kMs, 4096});
  }
  const Findings findings = scene.findings();
  REQUIRE(findings.knots.size() == 1);
  REQUIRE(findings.knots[0].actors == std::vector<FoundActorId>{0, 1});
  const auto answer = [&findings](Resource what) {
    return *std::find_if(findings.answers.begin(), findings.answers.end(),
                         [what](const FoundAnswer& one) { return one.what == what; });
  };
  CHECK(answer(Resource::disk).knot == std::size_t{0});
  CHECK_FALSE(answer(Resource::cpu).knot);
}

TEST_CASE("Changes that the user asks about are answered in the user's words") {
  const Scene scene = two_readers();
  AnalysisOptions options;
  options.what_ifs = {*parse_what_if("disk vda /2"), *parse_what_if("disk vda /2, comm:read* cpu /2")};
  const Findings findings = scene.findings(options);
  REQUIRE(findings.what_ifs.size() == 2);
  CHECK(findings.what_ifs[0].asked == "disk vda /2");
  CHECK(findings.what_ifs[0].gain == findings.answers[0].gain);
  CHECK(findings.what_ifs[1].asked == "disk vda /2, comm:read* cpu /2");
  CHECK(findings.what_ifs[1].gain == Approx(1).margin(0.01));
  options.progress.threads = {"read-2"};
  CHECK(scene.findings(options).progress[0].how == Progress::How::told);
  options.what_ifs = {*parse_what_if("disk sda /2")};
  const Result<Findings> failed = analyse(scene.trace, options);
  REQUIRE(!failed.ok());
  CHECK(failed.error().message ==
        "--what-if 'disk sda /2': no recorded disk is called 'sda'; there are 'vda'");
  CHECK(failed.error().exit_status == 2);
}

TEST_CASE("Without answers in the options there are neither answers nor progress") {
  AnalysisOptions options;
  options.answers = false;
  const Findings findings = two_readers().findings(options);
  CHECK(findings.answers.empty());
  CHECK(findings.progress.empty());
  CHECK(findings.knots.size() == two_readers().findings().knots.size());
}

TEST_CASE("A target that does nothing has no answers and no progress") {
  Scene scene;
  scene.thread("a", 1);
  scene.wait(0, kNoActor, 0, -1);
  const Findings findings = scene.findings();
  CHECK(findings.answers.empty());
  CHECK(findings.progress.empty());
}
