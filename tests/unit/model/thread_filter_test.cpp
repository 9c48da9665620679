// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/thread_filter.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace offwait {
namespace {

using Names = std::vector<std::string>;

ActorId add(Trace& trace, const std::string& name, std::int32_t tid, std::int32_t tgid, Nanos start = 0) {
  Actor actor;
  actor.name = name;
  actor.tid = tid;
  actor.tgid = tgid;
  actor.start = start;
  trace.actors.push_back(actor);
  return static_cast<ActorId>(trace.actors.size() - 1);
}

/// Two processes of two threads each, a client outside and a disk.
Trace two_processes() {
  Trace trace;
  add(trace, "server", 10, 10);
  add(trace, "io-1", 11, 10);
  add(trace, "helper", 20, 20);
  add(trace, "io-2", 21, 20);
  trace.actors[add(trace, "client", 30, 30)].outside = true;
  trace.actors[add(trace, "server", 0, 0)].kind = ActorKind::disk;
  return trace;
}

/// The names of the target's threads.
Names target_of(const Trace& trace) {
  Names names;
  for (const Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread && !actor.outside) names.push_back(actor.name);
  }
  return names;
}

Names chosen(const ThreadFilter& filter, const Trace& trace = two_processes()) {
  const Result<Trace> result = with_target(trace, filter);
  if (!result) FAIL(result.error().message);
  CHECK(result->actors.size() == trace.actors.size());
  return target_of(*result);
}

std::string refused(const ThreadFilter& filter, const Trace& trace = two_processes()) {
  const Result<Trace> result = with_target(trace, filter);
  REQUIRE_FALSE(result.ok());
  return result.error().message;
}

TEST_CASE("without patterns the target stays what it is") {
  CHECK(chosen({}) == Names{"server", "io-1", "helper", "io-2"});
}

TEST_CASE("processes by the names of their main threads") {
  CHECK(chosen({{"server"}, {}}) == Names{"server", "io-1"});
  CHECK(chosen({{"h*"}, {}}) == Names{"helper", "io-2"});
  CHECK(chosen({{"[hs]e*"}, {}}) == Names{"server", "io-1", "helper", "io-2"});
  CHECK(chosen({{"helper", "ser?er"}, {}}) == Names{"server", "io-1", "helper", "io-2"});
}

TEST_CASE("threads by their own names") {
  CHECK(chosen({{}, {"io-?"}}) == Names{"io-1", "io-2"});
  CHECK(chosen({{}, {"io-2", "server"}}) == Names{"server", "io-2"});
}

TEST_CASE("both have to match") {
  CHECK(chosen({{"server"}, {"io-*"}}) == Names{"io-1"});
  CHECK(refused({{"server"}, {"io-2"}}) ==
        "--threads: no thread of the chosen processes is called 'io-2'; there are 'io-1', 'server'");
}

TEST_CASE("threads outside of the target are never chosen") {
  CHECK(chosen({{}, {"*"}}) == Names{"server", "io-1", "helper", "io-2"});
  CHECK(refused({{"client"}, {}}) ==
        "--comm: no process of the target is called 'client'; there are 'helper', 'server'");
}

TEST_CASE("a filter can be checked before there is a trace") {
  const Trace trace = two_processes();
  CHECK(check_filter(trace.actors, {}).ok());
  CHECK(check_filter({}, {}).ok());
  CHECK(check_filter(trace.actors, {{"serv*"}, {"io-1"}}).ok());
  CHECK(check_filter(trace.actors, {{"serv*"}, {"io-2"}}).error().message ==
        "--threads: no thread of the chosen processes is called 'io-2'; there are 'io-1', 'server'");
  CHECK(check_filter({}, {{"x"}, {}}).error().message ==
        "--comm: no process of the target is called 'x'; there is none");
}

TEST_CASE("each pattern has to match something") {
  CHECK(refused({{"server", "x"}, {}}) ==
        "--comm: no process of the target is called 'x'; there are 'helper', 'server'");
  CHECK(refused({{}, {"io"}}) ==
        "--threads: no thread of the target is called 'io'; there are 'helper', 'io-1', 'io-2', 'server'");
}

TEST_CASE("an error lists the names that there are, and is short") {
  Trace trace;
  for (int i = 1; i <= 20; ++i) add(trace, "t" + std::to_string(10 + i), i, 1);
  add(trace, std::string(500, 'a'), 21, 1);
  CHECK(refused({{}, {"x"}}, trace) == "--threads: no thread of the target is called 'x'; there are '" +
                                           std::string(64, 'a') +
                                           "…', 't11', 't12', 't13', 't14', 't15', 't16', 't17' and 13 more");
  CHECK(refused({{"x"}, {}}, Trace()) == "--comm: no process of the target is called 'x'; there is none");
}

TEST_CASE("a process whose main thread is unknown has the name of its oldest thread") {
  Trace trace;
  add(trace, "younger", 12, 10, 50);
  add(trace, "older", 11, 10, 20);
  add(trace, "youngest", 13, 10, 60);
  CHECK(chosen({{"older"}, {}}, trace) == Names{"younger", "older", "youngest"});
  add(trace, "main", 10, 10, 5);
  CHECK(chosen({{"main"}, {}}, trace) == Names{"younger", "older", "youngest", "main"});
}

TEST_CASE("a process number that was used again") {
  Trace trace;
  add(trace, "first", 10, 10, 0);
  add(trace, "a", 11, 10, 5);
  add(trace, "second", 10, 10, 100);
  add(trace, "b", 12, 10, 105);
  CHECK(chosen({{"first"}, {}}, trace) == Names{"first", "a"});
  CHECK(chosen({{"second"}, {}}, trace) == Names{"second", "b"});
}

}  // namespace
}  // namespace offwait
