// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/progress.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "trace/text.h"

using namespace offwait;

namespace {

const std::string kQueue = " class=futex stack=f;--;pthread_cond_wait;main";

/// Reads the lines, with the waits in order of time.
Trace read(const std::string& lines) {
  std::multimap<long, std::string> waits;
  std::string text = "offwait-waits 1\nwindow 0 100000\nrecording cpus=4\n";
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (const std::size_t block = line.find("block="); block != std::string::npos) {
      waits.emplace(std::stol(line.substr(block + 6)), line + "\n");
    } else {
      text += line + "\n";
    }
  }
  for (const auto& [block, line] : waits) text += line;
  Result<Trace> trace = parse_text(text, "test");
  if (!trace.ok()) FAIL(trace.error().message);
  return std::move(trace).value();
}

struct Found {
  explicit Found(const std::string& lines, const ProgressOptions& options = {})
      : trace(read(lines)),
        groups(group_threads(trace)),
        kinds(kinds_of_waits(trace, groups)),
        uses(uses_of(trace, groups, kinds)),
        progress(progress_of(trace, groups, kinds, uses, options)) {}

  std::vector<std::string> names(const ProgressPart& part) const {
    std::vector<std::string> out;
    for (const GroupId group : part.groups) out.push_back(groups.groups[group].name);
    return out;
  }

  Trace trace;
  ThreadGroups groups;
  WaitKinds kinds;
  Uses uses;
  std::vector<Progress> progress;
};

std::string thread(int tid, const std::string& name, const std::string& more = "") {
  return "thread " + std::to_string(tid) + " tgid=1 comm=" + name + " start=0 exit=-" + more + "\n";
}

/// `number` waits of 50 ns each, one every 1000 ns.
std::string waits(int tid, int number, const std::string& waker, const std::string& how, int offset = 100) {
  std::string out;
  for (int i = 0; i < number; ++i) {
    const int at = offset + i * 1000;
    out += "wait " + std::to_string(tid) + " block=" + std::to_string(at) +
           " wake=" + std::to_string(at + 50) + " run=" + std::to_string(at + 50) + " waker=" + waker + how +
           "\n";
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("threads are grouped by their names, their process's, and where they start") {
  const Found found(thread(1, "main") + thread(2, "io-1") + thread(3, "io-2") + thread(4, "io-3") +
                    "thread 5 tgid=5 comm=main start=0 exit=-\nthread 6 tgid=5 comm=io-9 start=0 exit=-\n" +
                    "thread 7 tgid=7 comm=other start=0 exit=-\nthread 8 tgid=7 comm=io-1 start=0 exit=-\n" +
                    thread(9, "io-5", " outside=yes") +
                    waits(2, 1, "timer", " class=sleep stack=k;--;sleep;reader+0x10") +
                    waits(3, 1, "timer", " class=sleep stack=k;--;poll;reader+0x30") +
                    waits(4, 1, "timer", " class=sleep stack=k;--;sleep;writer") +
                    waits(6, 1, "timer", " class=sleep stack=k;--;sleep;reader+0x10") +
                    waits(8, 1, "timer", " class=sleep stack=k;--;sleep;reader+0x10"));
  std::vector<std::size_t> sizes;
  for (const ThreadGroup& group : found.groups.groups) sizes.push_back(group.members.size());
  // main twice; io-1, io-2 and the other process's io-9; io-3; other; its io-1; the one outside.
  CHECK(sizes == std::vector<std::size_t>{2, 3, 1, 1, 1, 1});
}

TEST_CASE("functions tell locks from hand-overs") {
  const Found found(thread(1, "a") + thread(2, "b") +
                    waits(1, 1, "thread:2", " class=futex stack=f;--;pthread_mutex_lock;main") +
                    waits(1, 1, "thread:2", " class=futex stack=f;--;pthread_cond_wait;main", 200) +
                    waits(1, 1, "thread:2", " class=lock stack=f", 300) +
                    waits(1, 1, "thread:2", " class=pipe stack=f;--;read;main", 400) +
                    waits(1, 1, "disk:vda", " class=disk", 500) + waits(1, 1, "timer", " class=futex", 600) +
                    waits(1, 1, "nic:eth0", " class=net peer=service:10.0.0.1:1", 700) +
                    waits(1, 1, "nic:eth0", " class=net", 800) + waits(1, 1, "-", " class=other", 900));
  CHECK(found.kinds.of_site == std::vector<WaitKind>{WaitKind::lock, WaitKind::handover, WaitKind::lock,
                                                     WaitKind::handover, WaitKind::disk, WaitKind::timer,
                                                     WaitKind::remote, WaitKind::transit, WaitKind::unknown});
}

TEST_CASE("where threads of a service are seen to send, a packet without a sender was held back") {
  const std::string threads = thread(1, "proxy") + thread(2, "origin", " outside=yes");
  const std::string held = waits(1, 3, "nic:lo", " class=poll peer=service:127.0.0.1:80", 200);
  const std::string sent = waits(1, 3, "thread:2", " class=poll peer=service:127.0.0.1:80", 400);
  CHECK(Found(threads + held).kinds.of_site == std::vector<WaitKind>{WaitKind::remote});
  CHECK(Found(threads + held + sent).kinds.of_site ==
        std::vector<WaitKind>{WaitKind::transit, WaitKind::handover});
}

TEST_CASE("an Erlang scheduler without work waits for a hand-over, and for a lock where it takes one") {
  const auto in = [](const std::string& futex) {
    return " class=futex futex=" + futex + " stack=f;--;syscall;";
  };
  const Found found(thread(1, "1_scheduler") + thread(2, "2_scheduler") +
                    waits(1, 1, "thread:2", in("a") + "ethr_event_twait;erts_schedule") +
                    waits(2, 1, "thread:1", in("a") + "ethr_event_twait;erts_schedule") +
                    waits(1, 1, "thread:2", in("b") + "ethr_event_swait;ethr_mutex_lock;erts_schedule", 500));
  CHECK(found.kinds.of_site == std::vector<WaitKind>{WaitKind::handover, WaitKind::handover, WaitKind::lock});
  CHECK(found.kinds.guessed == std::vector<bool>{false, false, false});
}

TEST_CASE("without names, a futex that a group waits at and ends waits at is a lock") {
  const Found found(thread(1, "w1") + thread(2, "w2") + thread(3, "feed") +
                    waits(1, 5, "thread:2", " class=futex futex=a") +
                    waits(2, 5, "thread:1", " class=futex futex=a", 500) +
                    waits(1, 5, "thread:3", " class=futex futex=b", 200));
  CHECK(found.kinds.of_site == std::vector<WaitKind>{WaitKind::lock, WaitKind::handover, WaitKind::lock});
  CHECK(found.kinds.guessed == std::vector<bool>{true, true, true});
}

TEST_CASE("kernel threads, and who serves them alone, work below devices") {
  const Found found(thread(1, "db") + thread(2, "jbd2", " outside=kernel") +
                    thread(3, "fuse", " outside=yes") + thread(4, "client", " outside=yes") +
                    waits(1, 3, "thread:2", " class=disk") + waits(2, 3, "thread:3", " class=other", 200) +
                    waits(1, 3, "thread:4", kQueue, 300));
  CHECK(found.kinds.below_devices == std::vector<bool>{false, true, true, false});
  CHECK(found.kinds.of_site[0] == WaitKind::below);
  CHECK(found.kinds.of_site[2] == WaitKind::handover);
}

TEST_CASE("a pool of threads that serves the kernel alone works below devices, and is no progress") {
  const Found found(thread(1, "db") + thread(2, "jbd2", " outside=kernel") +
                    "thread 3 tgid=3 comm=fuse start=0 exit=- outside=yes\n" +
                    "thread 4 tgid=4 comm=cache start=0 exit=- outside=yes\n" +
                    waits(1, 30, "thread:2", " class=lock") + waits(2, 90, "thread:3", " class=other", 200) +
                    waits(3, 90, "thread:4", kQueue, 300) + waits(4, 90, "thread:3", kQueue, 400));
  CHECK(found.kinds.below_devices == std::vector<bool>{false, true, true, true});
  REQUIRE(!found.progress.empty());
  for (const Progress& progress : found.progress) CHECK(found.names(progress.parts.at(0)) == Names{"db"});
}

TEST_CASE("the recorder is no progress, however often it and the target wait for each other") {
  const std::string waiting = waits(1, 30, "thread:2", kQueue) + waits(2, 30, "thread:1", kQueue, 200) +
                              waits(1, 90, "thread:3", kQueue, 300) + waits(3, 90, "thread:1", kQueue, 400);
  const std::string target = thread(1, "logger") + thread(2, "worker");
  const auto named = [&](const std::string& outside) {
    const Found found(target + "thread 3 tgid=3 comm=reader start=0 exit=- outside=" + outside + "\n" +
                      waiting);
    REQUIRE(!found.progress.empty());
    return found.names(found.progress[0].parts.at(0));
  };
  CHECK(named("yes") == Names{"reader"});  // a client
  CHECK(named("recorder") == Names{"logger", "worker"});
}

TEST_CASE("a wait for a thread below owes to a disk what requests took that were complete at its end") {
  // The requests take [110, 130) and [120, 140); of the next wait [1100, 1150), [1120, 1150); a request that
  // is under way at a wait's end is of no part in it.
  const Found found(thread(1, "db") + thread(2, "jbd2", " outside=kernel") +
                    "disk vda bytes_per_s=1e6 ios_per_s=1000 capacity=assumed\n" +
                    waits(1, 3, "thread:2", " class=lock") +
                    "io 2 disk=vda bytes=1 issue=110 complete=130\n"
                    "io 2 disk=vda bytes=1 issue=120 complete=140\n"
                    "io 2 disk=vda bytes=1 issue=1090 complete=1150\n"
                    "io 2 disk=vda bytes=1 issue=1120 complete=1149\n"
                    "io 2 disk=vda bytes=1 issue=2110 complete=2160\n");
  std::vector<std::pair<std::uint32_t, Nanos>> parts;
  for (const DiskPart& part : found.kinds.disk_parts) parts.emplace_back(part.wait, part.part_ns);
  CHECK(parts == std::vector<std::pair<std::uint32_t, Nanos>>{{0, 30}, {1, 50}});
  CHECK(found.uses.groups[0].disk_ns.begin()->second == 80);
  CHECK(found.uses.groups[0].work_ns() == found.uses.groups[0].running_ns + 80);
}

TEST_CASE("a wait for a thread below owes nothing to disks that this thread did not use") {
  // Two journals on two disks, with a kworker that both wait for: its waits at that time tell the disks
  // apart.
  const std::string disks =
      "disk vda bytes_per_s=1e6 ios_per_s=1000 capacity=assumed\n"
      "disk vdb bytes_per_s=1e6 ios_per_s=1000 capacity=assumed\n"
      "io 3 disk=vdb bytes=1 issue=110 complete=190\n"
      "io 3 disk=vdb bytes=1 issue=1110 complete=1140\n"
      "io 5 disk=vda bytes=1 issue=120 complete=180\n"
      "io 5 disk=vda bytes=1 issue=2110 complete=2140\n";
  const auto parts_of_first_thread = [&](const std::string& more) {
    const Found found(thread(1, "db") + thread(2, "jbd2/vda-8", " outside=kernel") +
                      thread(3, "jbd2/vdb-8", " outside=kernel") + thread(4, "other", " outside=yes") +
                      thread(5, "kworker/0:1H", " outside=kernel") + disks +
                      "wait 1 block=100 wake=200 run=200 waker=thread:2 class=lock\n" + more);
    std::vector<std::pair<std::string, Nanos>> out;
    for (const DiskPart& part : found.kinds.disk_parts) {
      const Wait& wait = found.trace.waits[part.wait];
      if (found.trace.actors[found.trace.sites[wait.site].thread].tid == 1)
        out.emplace_back(found.trace.actors[part.disk].name, part.part_ns);
    }
    return out;
  };
  using Parts = std::vector<std::pair<std::string, Nanos>>;
  CHECK(parts_of_first_thread("") == Parts{{"vda", 60}, {"vdb", 80}});  // what jbd2/vda did is not known
  CHECK(parts_of_first_thread("wait 2 block=120 wake=180 run=180 waker=disk:vda class=disk\n") ==
        Parts{{"vda", 60}});
  CHECK(parts_of_first_thread("wait 2 block=120 wake=185 run=185 waker=thread:5 class=disk\n"
                              "wait 5 block=90 wake=180 run=180 waker=disk:vda class=disk\n"
                              "wait 5 block=1000 wake=1140 run=1140 waker=disk:vdb class=disk\n") ==
        Parts{{"vda", 60}});
}

TEST_CASE("where very many requests end in a wait, the time that any was under way counts") {
  std::string lines = thread(1, "db") + thread(2, "jbd2", " outside=kernel") +
                      "disk vda bytes_per_s=1e6 ios_per_s=1000 capacity=assumed\n" +
                      "wait 1 block=1000 wake=90000 run=90000 waker=thread:2 class=lock\n";
  for (int i = 0; i < 100; ++i) {
    lines += "io 2 disk=vda bytes=1 issue=" + std::to_string(500 + i * 800) +
             " complete=" + std::to_string(1100 + i * 800) + "\n";
  }
  const Found found(lines);
  REQUIRE(found.kinds.disk_parts.size() == 1);
  CHECK(found.kinds.disk_parts[0].part_ns == 100 + 99 * 600);
}

TEST_CASE("a thread that only sleeps stands for next to nothing of its group") {
  const Found found(thread(1, "w-1") + thread(2, "w-2") + thread(3, "peer") +
                    waits(1, 20, "thread:3", kQueue) + waits(2, 20, "timer", " class=sleep", 200) +
                    waits(3, 10, "thread:1", kQueue, 300));
  const std::vector<double>& weights = found.uses.thread_weights;
  CHECK(weights[0] == Approx(30).margin(0.1));
  CHECK(weights[1] < 0.1);
  CHECK(weights[2] == Approx(30).margin(0.1));
}

TEST_CASE("a thread that sleeps between looks for something stands for next to nothing of its group") {
  // It looks for 2 ns, 20 times in vain and 3 times not.
  std::string poller;
  for (int i = 0; i < 23; ++i) {
    const int end = 1000 * i + 980;
    poller += "wait 1 block=" + std::to_string(1000 * i + 2) + " wake=" + std::to_string(end) +
              " run=" + std::to_string(end) + " waker=timer class=sleep stack=k;--;usleep;watch;main\n";
    if (i % 8 == 0) {
      poller += "wait 1 block=" + std::to_string(end + 4) + " wake=" + std::to_string(end + 10) +
                " run=" + std::to_string(end + 10) + " waker=thread:2 class=futex stack=f;--;lock;main\n";
    }
  }
  const Found found(thread(1, "w-1") + thread(2, "w-2") + poller + waits(2, 20, "-", " class=other", 40'000));
  REQUIRE(found.kinds.of_site[0] == WaitKind::unknown);
  CHECK(found.uses.thread_weights[0] == Approx(3).margin(0.1));
  CHECK(found.uses.thread_weights[1] == Approx(23).margin(0.1));
}

TEST_CASE("what a group did is summed up") {
  const Found found(thread(1, "a") + thread(2, "b") + waits(1, 10, "disk:vda", " class=disk") +
                    waits(1, 10, "timer", " class=sleep", 300) + waits(1, 4, "thread:2", kQueue, 500) +
                    "preempt 1 out=90000 run=91000\n");
  const GroupUse& a = found.uses.groups[0];
  CHECK(a.lifetime_ns == 100'000);
  CHECK(a.running_ns == 100'000 - 24 * 50 - 1000);
  CHECK(a.runnable_ns == 1000);
  CHECK(a.timer_ns == 500);
  CHECK(a.disk_ns.begin()->second == 500);
  CHECK(a.work_ns() == a.running_ns + 500);
  CHECK(a.waits_ended == 14);
  CHECK(a.timers == 10);
  CHECK(a.handovers == 4);
  CHECK(found.uses.groups[1].handovers == 4);
  CHECK(found.uses.handovers.begin()->second.queue == 4);
  CHECK(weights_of(found.groups, found.uses) == std::vector<double>{18, 4});
}

TEST_CASE("groups that are joined by queues progress together, those that share a lock on their own") {
  const Found found(thread(1, "get") + thread(2, "use") + thread(3, "set") +
                    waits(2, 50, "thread:1", kQueue) +
                    waits(3, 50, "thread:1", " class=futex stack=f;--;pthread_mutex_lock;main", 500));
  REQUIRE(!found.progress.empty());
  const Progress& first = found.progress.front();
  CHECK(first.how == Progress::How::inferred);
  REQUIRE(first.parts.size() == 2);
  CHECK(found.names(first.parts[0]) == Names{"get", "use"});
  CHECK(found.names(first.parts[1]) == Names{"set"});
  CHECK(first.share == Approx(1.0));
}

TEST_CASE("a ticker and those it wakes are not the main progress") {
  const Found found(thread(1, "cron") + thread(2, "idle") + thread(3, "make") + thread(4, "use") +
                    waits(2, 5, "thread:1", kQueue) + waits(4, 80, "thread:3", kQueue));
  REQUIRE(!found.progress.empty());
  REQUIRE(found.progress.front().parts.size() == 1);
  CHECK(found.names(found.progress.front().parts[0]) == Names{"make", "use"});
}

TEST_CASE("threads that compute and sleep do the work, though others besides hand over now and then") {
  std::string lines = thread(2, "cron") + thread(3, "pool");
  for (const int worker : {4, 5, 6}) {
    lines += thread(worker, "worker") + waits(worker, 95, "timer", " class=sleep", 50);
  }
  for (int at = 0; at < 100'000; at += 10'000) {
    const auto from = " block=" + std::to_string(at);
    const auto until = [at](int after) {
      return " wake=" + std::to_string(at + after) + " run=" + std::to_string(at + after);
    };
    lines += "wait 2" + from + until(9950) + " waker=timer class=sleep\n";
    lines += "wait 3" + from + until(9970) + " waker=thread:2" + kQueue + "\n";
  }
  const Found found(lines);
  REQUIRE(!found.progress.empty());
  REQUIRE(found.progress.front().parts.size() == 1);
  CHECK(found.names(found.progress.front().parts[0]) == Names{"worker"});
}

TEST_CASE(
    "a thread without units of work may be meant if it is always busy and the target answers no client") {
  const std::string lock = " class=futex stack=f;--;pthread_mutex_lock;main";
  const std::string worker =
      thread(1, "worker") + thread(2, "helper") + waits(1, 50, "disk:vda", " class=disk");
  const Found apart(worker);
  REQUIRE(!apart.progress.empty());
  CHECK(apart.uses.groups[1].running_ns == 100'000);
  const auto names_of = [](const Found& found) {
    std::set<Names> out;
    for (const Progress& progress : found.progress) out.insert(found.names(progress.parts.at(0)));
    return out;
  };
  CHECK(apart.names(apart.progress.front().parts.at(0)) == Names{"worker"});
  CHECK(names_of(apart) == std::set{Names{"worker"}, Names{"helper"}});
  CHECK(names_of(Found(worker + "wait 2 block=1000 wake=12000 run=12000 waker=- class=other\n")) ==
        std::set{Names{"worker"}});
  const Found answering(worker + "thread 3 tgid=3 comm=client start=0 exit=- outside=yes\n" +
                        waits(3, 90, "thread:1", kQueue, 200));
  CHECK(answering.progress.front().how == Progress::How::clients);
  CHECK_FALSE(names_of(answering).contains(Names{"helper"}));
  // Others wait for its lock, and it waits 19 times for theirs.
  const Found locked(worker + waits(1, 50, "thread:2", lock, 200) + waits(2, 19, "thread:1", lock, 500));
  CHECK(locked.uses.groups[1].units == 19);
  REQUIRE(locked.progress.front().parts.size() == 1);
  CHECK(locked.names(locked.progress.front().parts[0]) == Names{"worker"});
  const Found counted(worker + waits(1, 50, "thread:2", lock, 200) + waits(2, 20, "thread:1", lock, 500));
  CHECK(counted.progress.front().parts.size() == 2);
}

TEST_CASE("answers to clients outside of the target are what it is for") {
  const std::string threads = thread(1, "srv") + thread(2, "client", " outside=yes");
  const Found found(threads + waits(2, 30, "thread:1", kQueue) + waits(1, 30, "thread:2", kQueue, 500));
  REQUIRE(!found.progress.empty());
  CHECK(found.progress.front().how == Progress::How::clients);
  CHECK(found.progress.front().count == 30);
  CHECK(found.names(found.progress.front().parts[0]) == Names{"client"});
  const Found few(threads + waits(2, 10, "thread:1", kQueue) + waits(1, 10, "thread:2", kQueue, 500));
  CHECK(few.progress.front().how == Progress::How::inferred);
}

std::string responses(int tid, const std::string& address, int count, int connections) {
  return "responses " + std::to_string(tid) + " " + address + " count=" + std::to_string(count) +
         " connections=" + std::to_string(connections) + " first=100 last=90000\n";
}

TEST_CASE("responses to clients come before the waits of threads that seem to be clients") {
  const std::string threads =
      thread(1, "read") + thread(2, "write") + thread(3, "admin") + thread(4, "client", " outside=yes");
  const std::string some = threads + waits(4, 30, "thread:1", kQueue) + waits(1, 30, "thread:4", kQueue, 500);
  const Found found(some + responses(1, "path=/run/s", 9, 1) + responses(1, "port=80", 40, 3) +
                    responses(2, "port=80", 10, 0) + responses(3, "port=81", 1, 1) +
                    responses(4, "port=82", 500, 7));
  REQUIRE(!found.progress.empty());
  const Progress& first = found.progress.front();
  CHECK(first.how == Progress::How::clients);
  CHECK(first.count == 60);
  CHECK(first.connections == 5);
  CHECK(first.active.length() == 100'000);  // its threads worked before the first response
  CHECK(first.addresses == std::vector<ServedAddress>{{80, ""}, {0, "/run/s"}, {81, ""}});
  REQUIRE(first.parts.size() == 3);
  CHECK(found.names(first.parts[0]) == Names{"read"});
  CHECK(first.parts[0].weight == 49);
  CHECK(found.names(first.parts[1]) == Names{"write"});
  CHECK(first.parts[1].weight == 10);
  CHECK(found.names(first.parts[2]) == Names{"admin"});
  CHECK(first.parts[2].weight == 1);
  CHECK(first.share == Approx(1.0));
}

TEST_CASE("threads that call the function that the user counts come before answers and the command's end") {
  const auto calls = [](int tid, int count) {
    return "calls " + std::to_string(tid) + " function=f count=" + std::to_string(count) +
           " first=100 last=90000\n";
  };
  const std::string lines = thread(1, "read") + thread(2, "write") + thread(3, "cli", " outside=yes") +
                            responses(1, "port=80", 400, 3) + waits(1, 30, "thread:2", kQueue);
  const Found found(lines + calls(1, 3) + calls(2, 9) + calls(3, 50));
  REQUIRE(found.progress.size() == 1);
  const Progress& first = found.progress.front();
  CHECK(first.how == Progress::How::told);
  CHECK(first.functions == Names{"f"});
  CHECK(first.count == 12);
  REQUIRE(first.parts.size() == 2);
  CHECK(found.names(first.parts[0]) == Names{"read"});
  CHECK(first.parts[0].weight == 3);
  CHECK(found.names(first.parts[1]) == Names{"write"});
  CHECK(first.parts[1].weight == 9);
  const Found others(lines + calls(3, 50));
  CHECK(others.progress.front().how == Progress::How::clients);
  ProgressOptions named;
  named.threads = {"write"};
  const Found told(lines + calls(1, 3), named);
  CHECK(told.progress.front().functions.empty());
  CHECK(found.names(told.progress.front().parts.at(0)) == Names{"write"});
}

TEST_CASE("clients were away before the first response and after the last one if the server waited then") {
  const auto active = [](const std::string& waits_then) {
    const Found found(thread(1, "read") + waits(1, 30, "thread:1", kQueue, 30'000) + waits_then +
                      "responses 1 port=80 count=40 connections=3 first=20000 last=70000\n");
    const Window& part = found.progress.front().active;
    return std::pair(part.begin, part.end);
  };
  const std::string before = "wait 1 block=100 wake=19900 run=19900 waker=- class=net\n";
  const std::string after = "wait 1 block=70100 wake=- run=- waker=- class=net\n";
  CHECK(active(before + after) == std::pair<Nanos, Nanos>(20'000, 70'000));
  CHECK(active(before) == std::pair<Nanos, Nanos>(20'000, 100'000));
  CHECK(active("") == std::pair<Nanos, Nanos>(0, 100'000));
}

TEST_CASE("clients that the target responds to have no progress of their own") {
  const std::string threads = thread(1, "server") +
                              "thread 2 tgid=2 comm=client start=0 exit=- outside=yes\n" +
                              waits(2, 90, "thread:1", kQueue) + waits(2, 900, "-", " class=other", 20'000) +
                              waits(1, 90, "thread:2", kQueue, 300);
  const auto has_client = [](const Found& found) {
    return std::any_of(found.progress.begin() + 1, found.progress.end(), [&found](const Progress& one) {
      return found.names(one.parts.at(0)) == Names{"client"};
    });
  };
  CHECK(has_client(Found(threads)));
  CHECK_FALSE(has_client(Found(threads + responses(1, "port=80", 90, 2))));
}

TEST_CASE("where responses are counted, only what does not work for them may be meant besides") {
  const std::string threads = thread(1, "server") + thread(2, "listen") + thread(3, "merge") +
                              thread(4, "sort") + thread(5, "client", " outside=yes") +
                              waits(5, 90, "thread:1", kQueue) + waits(1, 90, "thread:5", kQueue, 300) +
                              waits(1, 90, "thread:2", kQueue, 500) + waits(3, 90, "thread:4", kQueue, 700);
  const auto meant = [](const Found& found) {
    std::vector<Names> out;
    for (const Progress& one : found.progress) out.push_back(found.names(one.parts.at(0)));
    return out;
  };
  CHECK(meant(Found(threads)) ==
        std::vector<Names>{
            {"client"}, {"server", "listen", "client"}, {"listen"}, {"merge", "sort"}, {"sort"}});
  CHECK(meant(Found(threads + responses(1, "port=80", 90, 2))) ==
        std::vector<Names>{{"server"}, {"merge", "sort"}, {"sort"}});
}

TEST_CASE("fewer than 20 responses are no progress") {
  const std::string threads = thread(1, "srv") + thread(2, "client", " outside=yes") +
                              waits(2, 30, "thread:1", kQueue) + waits(1, 30, "thread:2", kQueue, 500);
  const Found few(threads + responses(1, "port=80", 19, 2));
  CHECK(few.progress.front().count == 30);
  CHECK(few.progress.front().connections == 0);
  CHECK(few.progress.front().addresses.empty());
  const Found enough(threads + responses(1, "port=80", 20, 2));
  CHECK(enough.progress.front().count == 20);
  CHECK(enough.progress.front().connections == 2);
}

TEST_CASE("what the user names counts alone") {
  ProgressOptions options;
  options.threads = {"u*"};
  const Found found(thread(1, "make") + thread(2, "use") + waits(2, 50, "thread:1", kQueue), options);
  REQUIRE(found.progress.size() == 1);
  CHECK(found.progress[0].how == Progress::How::told);
  CHECK(found.names(found.progress[0].parts[0]) == Names{"use"});
}

TEST_CASE("a group counts if the name of one of its threads matches") {
  ProgressOptions options;
  options.threads = {"use-2", "nobody"};
  const std::string lines = thread(1, "make") + thread(2, "use-1") + thread(3, "use-2");
  const Found found(lines + waits(2, 50, "thread:1", kQueue) + waits(3, 50, "thread:1", kQueue), options);
  REQUIRE(found.progress.size() == 1);
  CHECK(found.progress[0].how == Progress::How::told);
  REQUIRE(found.progress[0].parts.size() == 1);
  CHECK(found.names(found.progress[0].parts[0]) == Names{"use-1"});
  options.threads = {"nobody"};
  const Found other(lines + waits(2, 50, "thread:1", kQueue), options);
  REQUIRE(!other.progress.empty());
  CHECK(other.progress[0].how == Progress::How::inferred);
}

TEST_CASE("a command has ended when its main thread has exited in the window") {
  const std::string child = "thread 2 tgid=2 comm=cc start=0 exit=40000\n";
  const auto end_of = [&child](const std::string& exit, std::int32_t command) {
    Trace trace = read("thread 1 tgid=1 comm=make start=0 exit=" + exit + "\n" + child);
    trace.recording.command = command;
    return command_end(trace);
  };
  CHECK(end_of("99999", 1) == ActorId{0});
  CHECK(end_of("99999", 2) == ActorId{1});
  CHECK(!end_of("-", 1));
  CHECK(!end_of("99999", 3));
  CHECK(!end_of("99999", 0));
}

TEST_CASE("two services that share a log may be meant each") {
  const Found found(thread(1, "http") + thread(2, "mail") + thread(3, "log") +
                    waits(3, 40, "thread:1", kQueue) + waits(3, 40, "thread:2", kQueue, 600));
  REQUIRE(!found.progress.empty());
  REQUIRE(found.progress.front().parts.size() == 1);
  CHECK(found.names(found.progress.front().parts[0]) == Names{"http", "mail", "log"});
  std::vector<Names> meant;
  for (std::size_t i = 1; i < found.progress.size(); ++i) {
    meant.push_back(found.names(found.progress[i].parts.at(0)));
  }
  CHECK(meant == std::vector<Names>{{"http", "mail", "log"}, {"http"}, {"mail"}});
}

TEST_CASE("threads that are born for each piece of work go at the pace of the one that makes them") {
  std::string lines = thread(1, "main");
  for (int i = 0; i < 30; ++i) {
    const std::string at = std::to_string(i * 3000);
    const std::string end = std::to_string(i * 3000 + 2000);
    const std::string tid = std::to_string(10 + i);
    lines += "thread " + tid + " tgid=1 comm=task start=" + at + " exit=" + end + " parent=1\n";
    // Each third one is waited for; the others are done before.
    if (i % 3 == 0) {
      lines += "wait 1 block=" + std::to_string(i * 3000 + 100) + " wake=" + end + " run=" + end +
               " waker=thread:" + tid + kQueue + "\n";
    }
  }
  const Found found(lines);
  for (const Progress& progress : found.progress) {
    REQUIRE(progress.parts.size() == 1);
    CHECK(found.names(progress.parts[0]) == std::vector<std::string>{"main", "task"});
  }
}

TEST_CASE("a wait that no thread and no device ended has an unknown end, whatever the actor is called") {
  Found found(thread(1, "a") + waits(1, 5, "disk:vda", " class=disk"));
  REQUIRE(found.kinds.of_site == std::vector<WaitKind>{WaitKind::disk});
  found.trace.actors[found.trace.sites[0].waker].kind = ActorKind::group;
  CHECK(kinds_of_waits(found.trace, found.groups).of_site == std::vector<WaitKind>{WaitKind::unknown});
}
