// SPDX-License-Identifier: GPL-2.0-or-later
// Traces for tests of the analysis, put together thread by thread.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "analysis/analyse.h"
#include "model/validate.h"

namespace offwait::test {

inline constexpr Nanos kMs = 1'000'000;

/// A trace of a window of one second, put together thread by thread.
class Scene {
 public:
  Scene() {
    trace.window = {0, kSecond};
    trace.loss = {{"ringbuf_full", 0}};
  }
  ActorId thread(const std::string& name, int tid, int tgid = 1) {
    Actor actor;
    actor.name = name;
    actor.tid = tid;
    actor.tgid = tgid;
    trace.actors.push_back(actor);
    return static_cast<ActorId>(trace.actors.size() - 1);
  }
  ActorId device(ActorKind kind, const std::string& name) {
    Actor actor;
    actor.kind = kind;
    actor.name = name;
    trace.actors.push_back(actor);
    return static_cast<ActorId>(trace.actors.size() - 1);
  }
  void wait(ActorId who, ActorId waker, Nanos from_ms, Nanos to_ms, WaitClass wait_class = WaitClass::futex) {
    WaitSite site;
    site.thread = who;
    site.waker = waker;
    site.wait_class = wait_class;
    SiteId id = 0;
    while (id < trace.sites.size() && !(trace.sites[id] == site)) {
      ++id;
    }
    if (id == trace.sites.size()) {
      trace.sites.push_back(site);
    }
    const Nanos wake = to_ms < 0 ? kNever : to_ms * kMs;
    trace.waits.push_back({id, kNoObject, from_ms * kMs, wake, wake});
  }
  Findings findings(const AnalysisOptions& options = {}) const {
    if (const Status valid = validate(trace); !valid.ok()) FAIL(valid.error().message);
    const Result<Findings> result = analyse(trace, options);
    if (!result.ok()) {
      FAIL(result.error().message);
    }
    return *result;
  }
  Trace trace;
};

}  // namespace offwait::test
