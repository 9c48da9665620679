// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/nameless_modules.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace offwait {
namespace {

using Names = std::vector<std::string>;

Frame user(const std::string& function, const std::string& module) {
  Frame frame;
  frame.function = function;
  frame.module = module;
  return frame;
}

Frame kernel(const std::string& function) {
  Frame frame = user(function, "[kernel]");
  frame.kind = Frame::Kind::kernel;
  return frame;
}

FoundEdge edge(std::vector<Frame> frames) {
  FoundStack stack;
  stack.wait_stack.frames = std::move(frames);
  FoundEdge edge;
  edge.stacks.push_back(std::move(stack));
  return edge;
}

/// An answer about CPU work or, with `where`, a wait there.
FoundAnswer answer_in(std::vector<Frame> where) {
  FoundAnswer answer;
  answer.gain = 0.5;
  answer.evidence.stack.frames = std::move(where);
  return answer;
}

/// A report with one knot that has all of these edges.
Findings findings_of(std::vector<FoundEdge> edges) {
  Findings findings;
  findings.actors.resize(2);
  FoundKnot knot;
  for (FoundEdgeId id = 0; id < edges.size(); ++id) knot.edges.push_back(id);
  findings.edges = std::move(edges);
  findings.knots.push_back(std::move(knot));
  return findings;
}

TEST_CASE("a module without a named function is nameless, in the order of edges and once") {
  const Findings findings = findings_of({
      edge({kernel("futex_wait"), user("pthread_cond_wait", "libc.so.6"), user("", "server"),
            user("", "server")}),
      edge({user("read", "libc.so.6"), user("", "plugin.so"), user("", "server")}),
  });
  CHECK(nameless_modules(findings) == Names{"server", "plugin.so"});
}

TEST_CASE("what others wait in is not the target's lack of names; what an answer shows comes first") {
  Findings findings = findings_of({edge({user("", "server")}), edge({user("", "dpkg")})});
  findings.actors[1].outside = true;
  findings.edges[1].from = 1;
  CHECK(nameless_modules(findings) == Names{"server"});
  FoundAnswer answer;
  answer.evidence.stack.frames = {user("", "redis")};
  findings.answers = {answer};
  CHECK(nameless_modules(findings) == Names{"redis", "server"});
  findings.answers[0].actor = 1;
  CHECK(nameless_modules(findings) == Names{"server"});
}

TEST_CASE("a module with one named function anywhere has names") {
  CHECK(nameless_modules(findings_of({edge({user("", "libc.so.6")}), edge({user("read", "libc.so.6")})}))
            .empty());
  Findings waker = findings_of({edge({user("", "server")})});
  CHECK(nameless_modules(waker) == Names{"server"});
  waker.edges[0].stacks[0].waker_stack.frames = {user("post", "server")};
  CHECK(nameless_modules(waker).empty());
}

TEST_CASE("the innermost frame of the heaviest stack counts, but not those of the C and C++ libraries") {
  Findings findings =
      findings_of({edge({kernel("a"), user("", "libc.so.6"), user("", "libstdc++.so.6.0.30"),
                         user("", "libpthread-2.31.so"), user("", "server"), user("", "outer.so")})});
  CHECK(nameless_modules(findings) == Names{"server"});
  findings.edges[0].stacks.push_back(edge({user("", "lighter")}).stacks[0]);
  CHECK(nameless_modules(findings) == Names{"server"});
  CHECK(nameless_modules(findings_of({edge({user("work", "server"), user("", "outer.so")})})).empty());
  CHECK(nameless_modules(findings_of({edge({kernel("a"), user("", "libc.so.6")})})).empty());
}

TEST_CASE("code without a file is no module") {
  for (const char* module : {"anon", "unknown", "vdso", "[vdso]", "perf-12.map", ""}) {
    CAPTURE(module);
    CHECK(nameless_modules(findings_of({edge({user("", module)})})).empty());
  }
  Frame in_kernel = user("", "kernel");
  in_kernel.kind = Frame::Kind::kernel;
  CHECK(nameless_modules(findings_of({edge({in_kernel})})).empty());
}

TEST_CASE("long waits outside of the knots count, background knots and other edges do not") {
  Findings findings = findings_of({edge({user("", "server")}), edge({user("", "other")})});
  findings.knots[0].background = true;
  CHECK(nameless_modules(findings).empty());
  ExcludedWait excluded;
  excluded.edge = 1;
  findings.excluded_waits.push_back(excluded);
  CHECK(nameless_modules(findings) == Names{"other"});
  CHECK(nameless_modules(Findings{}).empty());
  CHECK(nameless_modules(findings_of({FoundEdge{}})).empty());
}

TEST_CASE("an answer whose place a JIT compiler made without a name") {
  Findings findings;
  CHECK_FALSE(has_nameless_jit_code(findings));
  findings.answers = {
      answer_in({kernel("ep_poll"), user("read", "libc.so.6"), user("", "anon"), user("f", "anon")})};
  CHECK(has_nameless_jit_code(findings));
  findings.answers = {answer_in({user("read", "libc.so.6"), user("f", "perf-1.map"), user("", "anon")})};
  CHECK_FALSE(has_nameless_jit_code(findings));
  findings.answers[0].evidence.samples.places.push_back({{{user("", "anon")}, {}}, 0.5, 10});
  CHECK(has_nameless_jit_code(findings));
  findings.answers[0].gain = 0.001;  // not shown
  CHECK_FALSE(has_nameless_jit_code(findings));
}

}  // namespace
}  // namespace offwait
