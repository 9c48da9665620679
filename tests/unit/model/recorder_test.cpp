// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/recorder.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace offwait {
namespace {

Actor thread(const std::string& name, const std::string& program, bool outside) {
  Actor actor;
  actor.name = name;
  actor.program = program;
  actor.outside = outside;
  return actor;
}

/// A target called offwait, the recorder, a thread of it that has a name of its own, and two others.
Trace recorded() {
  Trace trace;
  trace.actors = {thread("offwait", "/usr/bin/offwait", false), thread("offwait", "", true),
                  thread("reader", "/opt/offwait", true), thread("client", "/opt/notoffwait", true),
                  thread("offwait", "", true)};
  trace.actors.back().kernel = true;
  return trace;
}

std::vector<bool> recorders(const Trace& trace) {
  std::vector<bool> found;
  for (const Actor& actor : trace.actors) found.push_back(actor.recorder);
  return found;
}

TEST_CASE(
    "where the recording does not say who recorded, it is who is called offwait outside of the target") {
  Trace trace = recorded();
  name_recorder(trace);
  CHECK(recorders(trace) == std::vector<bool>{false, true, true, false, false});
}

TEST_CASE("where the recording says who recorded, names say nothing") {
  Trace trace = recorded();
  trace.recording.recorder = 7;
  trace.actors[3].recorder = true;
  name_recorder(trace);
  CHECK(recorders(trace) == std::vector<bool>{false, false, false, true, false});
}

}  // namespace
}  // namespace offwait
