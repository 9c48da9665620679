// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/services.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "progress/wait_kinds.h"
#include "trace/text.h"

using namespace offwait;

namespace {

using Names = std::vector<std::string>;

struct FoundServices {
  explicit FoundServices(const std::string& lines)
      : trace(read(lines)), groups(group_threads(trace)), services(kinds_of_waits(trace, groups).services) {}

  static Trace read(const std::string& lines) {
    Result<Trace> trace = parse_text("offwait-waits 1\nwindow 0 100000\nrecording cpus=4\n" + lines, "test");
    if (!trace.ok()) FAIL(trace.error().message);
    return std::move(trace).value();
  }
  Names addresses(ServiceId id) const {
    Names out;
    for (const Peer& peer : services.all[id].peers) out.push_back(to_string(peer));
    return out;
  }
  Names names(const std::vector<GroupId>& ids) const {
    Names out;
    for (const GroupId id : ids) out.push_back(groups.groups[id].name);
    return out;
  }

  Trace trace;
  ThreadGroups groups;
  Services services;
};

/// Each thread is a process.
std::string thread_line(int tid, const std::string& name, const std::string& outside = "no") {
  const std::string number = std::to_string(tid);
  return "thread " + number + " tgid=" + number + " comm=" + name + " start=0 exit=- outside=" + outside +
         "\n";
}

std::string wait(int tid, int block, const std::string& waker, const std::string& how) {
  return "wait " + std::to_string(tid) + " block=" + std::to_string(block) +
         " wake=" + std::to_string(block + 50) + " run=" + std::to_string(block + 50) + " waker=" + waker +
         " class=" + how + "\n";
}

std::string responses(int tid, const std::string& address, int count) {
  return "responses " + std::to_string(tid) + " " + address + " count=" + std::to_string(count) +
         " connections=1 first=100 last=90000\n";
}

}  // namespace

TEST_CASE("a service is whom the target asks, on this host or on another one; clients are none") {
  const FoundServices found(thread_line(1, "proxy") + thread_line(2, "up", "yes") +
                            thread_line(3, "wrk", "yes") +
                            wait(1, 100, "thread:3", "poll peer=client:127.0.0.1:40000") +
                            wait(1, 200, "thread:2", "poll peer=service:127.0.0.1:8081") +
                            wait(1, 250, "nic:lo", "poll peer=service:127.0.0.1:8081 in_flight=yes") +
                            wait(1, 300, "nic:eth0", "net peer=service:10.0.0.5:53") +
                            wait(1, 400, "nic:eth0", "net peer=client:10.0.0.7:4000") +
                            wait(2, 100, "thread:1", "net peer=client:127.0.0.1:50000") +
                            wait(3, 200, "thread:1", "poll peer=service:127.0.0.1:80"));
  REQUIRE(found.services.all.size() == 2);
  CHECK(found.addresses(0) == Names{"127.0.0.1:8081"});
  CHECK(found.names(found.services.all[0].answering) == Names{"up"});
  CHECK(found.names(found.services.all[0].behind) == Names{"up"});
  CHECK(found.addresses(1) == Names{"10.0.0.5:53"});
  CHECK(found.services.all[1].answering.empty());
  CHECK(found.services.all[1].behind.empty());
  CHECK(found.services.of_site ==
        std::vector<ServiceId>{kNoService, 0, 0, 1, kNoService, kNoService, kNoService});
  CHECK(found.services.is_behind == std::vector<bool>{false, true, false});
}

TEST_CASE("what a thread of the target answers for is no service, though the socket says so") {
  const FoundServices found(thread_line(1, "app") + thread_line(2, "db") + thread_line(3, "other", "yes") +
                            wait(1, 100, "thread:2", "net peer=service:127.0.0.1:5432") +
                            wait(1, 150, "nic:lo", "net peer=service:127.0.0.1:5432 in_flight=yes") +
                            wait(1, 300, "thread:3", "net peer=service:127.0.0.1:5432"));
  CHECK(found.services.all.empty());
}

TEST_CASE("addresses that the same threads answer for are one service") {
  const FoundServices found(thread_line(1, "app") + thread_line(2, "db", "yes") +
                            thread_line(3, "cache", "yes") +
                            wait(1, 100, "thread:2", "net peer=service:127.0.0.1:1") +
                            wait(1, 200, "thread:3", "net peer=service:127.0.0.1:2") +
                            wait(1, 300, "thread:2", "net peer=service:[::1]:1"));
  REQUIRE(found.services.all.size() == 2);
  CHECK(found.addresses(0) == Names{"127.0.0.1:1", "[::1]:1"});
  CHECK(found.addresses(1) == Names{"127.0.0.1:2"});
  CHECK(found.services.of_site == std::vector<ServiceId>{0, 1, 0});
}

TEST_CASE("on unix sockets those who respond to clients are services") {
  const std::string threads =
      thread_line(1, "php") + thread_line(2, "db", "yes") + thread_line(3, "web", "yes");
  const std::string waits =
      wait(1, 100, "thread:2", "net") + wait(1, 200, "thread:3", "net") + wait(1, 300, "thread:2", "futex");
  const FoundServices found(threads + waits + responses(2, "path=/run/db.sock", 30) +
                            responses(2, "path=/run/x", 5) + responses(3, "port=80", 30));
  REQUIRE(found.services.all.size() == 1);
  CHECK(found.addresses(0) == Names{"/run/db.sock"});
  CHECK(found.services.of_site == std::vector<ServiceId>{0, kNoService, kNoService});
  const FoundServices abstract(threads + waits + responses(2, "path=%00db", 30));
  REQUIRE(abstract.services.all.size() == 1);
  CHECK(abstract.addresses(0) == Names{"@db"});
  // A server on a unix socket may wait for its clients, so it is not known who asks whom.
  const FoundServices both(threads + waits + responses(2, "path=/run/db.sock", 30) +
                           responses(1, "path=/run/php", 9));
  CHECK(both.services.all.empty());
}

TEST_CASE("behind a service are those that it waits for: not its clients, the target, or another service") {
  const FoundServices found(
      thread_line(1, "app") + thread_line(2, "proxy", "yes") + thread_line(3, "db", "yes") +
      thread_line(4, "log", "yes") + thread_line(5, "cache", "yes") + thread_line(6, "admin", "yes") +
      thread_line(7, "jbd2", "kernel") + thread_line(8, "other", "yes") +
      wait(1, 100, "thread:2", "net peer=service:127.0.0.1:1") +
      wait(1, 200, "thread:5", "net peer=service:127.0.0.1:2") +
      wait(2, 100, "thread:1", "net peer=client:127.0.0.1:40000") +
      wait(2, 200, "thread:3", "net peer=service:172.17.0.2:1") +
      wait(2, 300, "thread:6", "poll peer=client:127.0.0.1:40001") +
      wait(2, 400, "thread:5", "net peer=service:127.0.0.1:2") + wait(3, 100, "thread:4", "futex") +
      wait(3, 200, "thread:7", "disk") + wait(8, 200, "thread:4", "futex"));
  REQUIRE(found.services.all.size() == 2);
  CHECK(found.names(found.services.all[0].behind) == Names{"proxy", "db", "log"});
  CHECK(found.names(found.services.all[1].behind) == Names{"cache"});
  CHECK(found.services.is_behind == std::vector<bool>{false, true, true, true, true, false, false, false});
}
