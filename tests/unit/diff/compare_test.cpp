// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/compare.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "diff/thread_names.h"
#include "unit/diff/server.h"

using namespace offwait;
using namespace offwait::test;

namespace {

using RowChange = ComparedAmount::Change;

Server with_disk(double ms) {
  Server server;
  server.seconds = 2;
  server.disk_ms = ms;
  return server;
}

}  // namespace

TEST_CASE("a disk that is faster is the first edge") {
  const Comparison found = compared(with_disk(2), with_disk(0.5), 1);
  REQUIRE_FALSE(found.edges.empty());
  const ComparedEdge& edge = found.edges.front();
  CHECK(edge.from.name == "srv-*");
  CHECK(edge.to.kind == EndKey::Kind::disk);
  CHECK(edge.to.name == "vda");
  CHECK(edge.weight.change == RowChange::shrank);
  CHECK(found.unit.kind == ComparedUnit::Kind::answer);
  CHECK(edge.wait.before == Approx(0.002).epsilon(0.1));
  CHECK(edge.wait.after == Approx(0.0005).epsilon(0.1));
  CHECK(edge.waits.before == Approx(1).epsilon(0.05));
  CHECK(edge.waits.after == Approx(1).epsilon(0.05));
  CHECK_FALSE(edge.waits.changed());
  CHECK(edge.classes.at(WaitClass::disk) == Approx(1));
  CHECK(edge.weight.each_before.size() == 1);
  REQUIRE(found.throughput);
  CHECK(found.throughput->after > 1.5 * found.throughput->before);
  CHECK(found.spread_within);
  for (const ComparedFunction& row : found.functions) {
    if (row.function.function == "fdatasync") CHECK(row.time.change == RowChange::shrank);
  }
}

TEST_CASE("what shrank comes before what grew more, where there is more progress") {
  Server before;
  before.seconds = 2;
  before.workers = 1;
  before.locked_ms = 0;
  before.disk_ms = 0.3;
  Server after = before;
  after.disk_ms = 0.03;
  after.more = waits_at_lock(100, 19);
  const Comparison found = compared(before, after, 1, 3);
  REQUIRE(found.throughput);
  CHECK(found.throughput->change == RowChange::grew);
  REQUIRE(found.edges.size() >= 2);
  const ComparedEdge& first = found.edges[0];
  const ComparedEdge& second = found.edges[1];
  CHECK(first.to.name == "vda");
  CHECK(first.weight.change == RowChange::shrank);
  CHECK(second.weight.change == RowChange::came);
  CHECK(second.weight.difference() > -first.weight.difference());
  CHECK(explains(first.weight, found.throughput));
  CHECK_FALSE(explains(second.weight, found.throughput));
  CHECK_FALSE(explains(first.weight, std::nullopt));
  const Comparison back = compared(after, before, 1, 3);
  CHECK(back.edges[0].to.name == "vda");
  CHECK(back.edges[0].weight.change == RowChange::grew);
}

TEST_CASE("a lock that is gone went, in edges and in locks") {
  Server before;
  before.seconds = 2;
  before.locked_ms = 1;
  before.disk_ms = 0.2;
  Server after = before;
  after.locked_ms = 0;
  const Comparison found = compared(before, after, 1, 3);
  CHECK_FALSE(found.spread_within);
  REQUIRE_FALSE(found.edges.empty());
  CHECK(found.edges.front().to.name == "srv-*");
  CHECK(found.edges.front().weight.change == RowChange::went);
  CHECK(found.edges.front().weight.each_before.size() == 3);
  REQUIRE(found.locks.size() == 1);
  CHECK(found.locks.front().wait.change == RowChange::went);
  CHECK(found.locks.front().key.function == "store");
  CHECK(found.locks.front().waiters == std::vector<std::string>{"srv-*"});
  const Comparison back = compared(after, before, 1, 3);
  CHECK(back.edges.front().weight.change == RowChange::came);
  CHECK(back.locks.front().wait.change == RowChange::came);
}

TEST_CASE("a lock that is waited for as long, but less often, changed") {
  Server before = with_disk(1);
  before.locked_ms = 0;
  Server after = before;
  before.more = waits_at_lock(2000, 0.2);
  after.more = waits_at_lock(100, 4);
  const Comparison found = compared(before, after, 1, 3);
  const ComparedEdge& edge = found.edges.front();
  CHECK(edge.to.name == "srv-*");
  CHECK(edge.changed());
  CHECK_FALSE(edge.weight.changed());
  CHECK(edge.waits.change == RowChange::shrank);
  CHECK(edge.waits.before == Approx(20 * edge.waits.after).epsilon(0.1));
  const ComparedLock& lock = found.locks.front();
  CHECK_FALSE(lock.wait.changed());
  CHECK(lock.waits.change == RowChange::shrank);
  CHECK(changes(found) == 2);
}

TEST_CASE("amounts are per answer, whatever the length of windows and the number of threads") {
  Server before = with_disk(1);
  before.locked_ms = 0;
  Server after = before;
  after.workers = 8;
  after.seconds = 3;
  const Comparison found = compared(before, after, 5, 3);
  CHECK(changes(found) == 0);
  REQUIRE(found.throughput);
  CHECK(found.throughput->change == RowChange::grew);
}

TEST_CASE("the unit is what all recordings count") {
  Server counted;
  Server uncounted;
  uncounted.responses = false;
  using Reason = ComparedUnit::Reason;
  const auto unit = [](const Server& before, const Server& after) { return compared(before, after, 1).unit; };
  CHECK(unit(counted, counted).kind == ComparedUnit::Kind::answer);
  CHECK(unit(uncounted, uncounted).reason == Reason::not_counted);
  CHECK(unit(uncounted, counted).reason == Reason::not_before);
  CHECK(unit(counted, uncounted).reason == Reason::not_after);
  CHECK(unit(counted, uncounted).kind == ComparedUnit::Kind::second);
  Server calls = counted;
  calls.more = "calls 101 function=commit count=200 first=0 last=399999999\n";
  Server other_calls = counted;
  other_calls.more = "calls 101 function=rollback count=200 first=0 last=399999999\n";
  CHECK(unit(calls, calls).kind == ComparedUnit::Kind::call);
  CHECK(unit(calls, calls).functions == std::vector<std::string>{"commit"});
  CHECK(unit(calls, other_calls).reason == Reason::different);
  CHECK(unit(calls, counted).reason == Reason::different);
  std::vector<RecordingToCompare> some;
  some.push_back(to_compare(counted, 1));
  some.push_back(to_compare(uncounted, 2));
  std::vector<RecordingToCompare> same;
  same.push_back(to_compare(uncounted, 3));
  same.push_back(to_compare(counted, 4));
  CHECK(compare(some, same, 0.01).unit.reason == Reason::in_some);
}

TEST_CASE("modules whose functions have names in some recordings only are told") {
  Server named;
  named.more = "on_cpu 101 at=100000 stack=--;memcpy+0x1%20(libc.so.6);work+0x1%20(srv);serve+0x1%20(srv)\n";
  Server nameless;
  nameless.more = "on_cpu 101 at=100000 stack=--;[libc.so.6+0x100]+0x1;work+0x1%20(srv);serve+0x1%20(srv)\n";
  const Comparison found = compared(named, nameless, 1);
  CHECK(found.named_in_some == std::vector<std::string>{"libc.so.6"});
  REQUIRE(found.functions.size() > 1);
  for (const ComparedFunction& row : found.functions) CHECK_FALSE(row.changed());
  CHECK(compared(nameless, named, 1).named_in_some == std::vector<std::string>{"libc.so.6"});
  CHECK(compared(nameless, nameless, 1).named_in_some.empty());
  CHECK(compared(named, named, 1).named_in_some.empty());
  // The module has a table of some symbols, and the other recording met none of the rest as innermost ones.
  Server partly;
  partly.more =
      "on_cpu 101 at=100000 stack=--;memcpy+0x1%20(libc.so.6);[libc.so.6+0x100]+0x9;serve+0x1%20(srv)\n";
  CHECK(compared(partly, nameless, 1).named_in_some.empty());
}

TEST_CASE("other programs are told by their names") {
  Server other;
  other.program = "/usr/bin/other";
  other.name = "oth";
  const Comparison found = compared({}, other, 1);
  CHECK(found.before.programs == std::vector<std::string>{"srv"});
  CHECK(found.after.programs == std::vector<std::string>{"other"});
  CHECK(found.edges.front().weight.change != RowChange::none);
}

TEST_CASE("threads that are called the same are told apart") {
  Server server;
  server.more =
      "thread 301 tgid=100 comm=srv start=0 exit=- program=/usr/sbin/srv\n"
      "thread 302 tgid=100 comm=srv start=0 exit=- program=/usr/sbin/srv\n"
      "thread 303 tgid=303 comm=house start=0 exit=-\n"
      "thread 304 tgid=304 comm=db start=0 exit=- program=/db\n"
      "thread 305 tgid=304 comm=db start=0 exit=- program=/db\n"
      "wait 301 block=1000000 wake=3000000 run=3000000 waker=disk:vdb class=disk "
      "stack=io;--;read;load;reader\n"
      "wait 302 block=2000000 wake=3000000 run=3000000 waker=disk:vdc class=disk "
      "stack=io;--;read;dump;writer\n";
  const RecordingToCompare one = to_compare(server, 1);
  const ThreadNames names({&one.profile});
  std::set<std::string> all;
  for (const auto& [key, sums] : one.profile.threads) all.insert(names.of(key));
  CHECK(all == std::set<std::string>{"srv", "srv [reader]", "srv [writer]", "srv-*", "house [of srv]",
                                     "house [of house]", "idle", "db", "db [main]"});
}
