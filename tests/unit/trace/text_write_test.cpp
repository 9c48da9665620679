// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "model/trace.h"
#include "model/validate.h"
#include "trace/frame_text.h"
#include "trace/text.h"
#include "unit/trace/same_trace.h"
#include "unit/trace/written.h"

namespace offwait {
namespace {

std::string error_of(const Trace& trace) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const Status status = write_text(trace, file);
  CHECK(std::ftell(file) == 0);
  CHECK(std::fclose(file) == 0);
  return status.ok() ? "no error" : status.error().message;
}

Object object_of(Object::Kind kind) {
  Object object;
  object.kind = kind;
  return object;
}

/// One object of each sort.
std::vector<Object> objects() {
  std::vector<Object> all(8);
  all[0].hash = 0xc0ffee;
  all[1].tgid = 10;
  all[1].address = 0x7f00dead1000;
  all[1].symbol = "a lock";
  all[1].module = "/opt/a b";
  all[1].symbol_offset = 8;
  all[2].device = {0, 1};
  all[2].inode = 7;
  all[2].file_offset = 64;
  all[2].path = "/dev/shm/x";
  all[3] = object_of(Object::Kind::kernel_lock);
  all[3].address = 0xffff888100000000;
  all[3].lock = KernelLock::rwsem;
  all[3].symbol = "mmap_lock";
  all[3].tgid = 10;
  all[4] = object_of(Object::Kind::file);
  all[4].path = "pipe:[3]";
  all[5] = object_of(Object::Kind::file);
  all[5].device = {259, 1};
  all[5].inode = 12;
  all[5].generation = 4294967295;
  all[5].path = "/var/a b;\n";
  all[5].deleted = true;
  all[6] = object_of(Object::Kind::journal);
  all[6].device = {259, 1};
  all[7] = object_of(Object::Kind::metadata);
  return all;
}

/// A trace with one entry of each kind.
Trace small_trace() {
  Trace trace;
  trace.window = {0, 10000};
  trace.recording = {
      "pid 10", "2026-01-01T00:00:00Z",    "6.1", 2, "0.1.0", 15000, 5000, 99, {9, 256, 1, 0}, {}, 40, 10, 70,
      "db 1",   {{"a", "b c"}, {"d", ""}}, true};
  trace.recording.cost = {700, 80, 0.03, 5, 6};
  trace.cpu_times = {{0, 9000, 1000}, {3, 6000, 4000}};
  trace.cpu_quotas = {{"/a b", 50, 100, 7, 6, 250}};
  trace.memory = {{"", false, 4096, 1024, 0, 5, 0}, {"/a b", true, 2048, 2000, 3, 5, 6}};
  trace.other_processes = {{71, "rustc", 900, 0}, {5, "make it", 0, 800}};
  trace.loss = {{"ringbuf_full", 0}, {"stack_store_full", 7}};
  trace.actors = {thread(11, "worker"), device(ActorKind::disk, "vda"), device(ActorKind::timer, ""),
                  thread(12, "a b", 50, 9000)};
  trace.actors[3].seen = 60;
  trace.actors[3].outside = true;
  trace.actors[3].recorder = true;
  trace.actors[3].parent = 0;
  trace.actors[3].ns_tid = 2;
  trace.actors[3].allowed_cpus = {{0, 1}, {3, 3}};
  trace.actors[3].program = "/opt/a b";
  trace.actors[3].title = "a: one 7";
  trace.actors[3].lives = 3;
  trace.frames = {frame_of_text("f+0x1 (a.out)"), frame_of_text("main")};
  trace.frames[0].kind = Frame::Kind::kernel;
  trace.stacks = {{{0, 1}}, {{1}}};
  trace.sites = {{0, 3, WaitClass::futex, 0, 1},
                 {0, 1, WaitClass::disk, kNoStack, kNoStack},
                 {0, kNoActor, WaitClass::poll, 1, kNoStack}};
  trace.objects = objects();
  trace.waits = {{0, 1, 100, 200, 250, 3}, {1, 5, 300, 400, 400}, {2, kNoObject, 500, kNever, kNever}};
  trace.preemptions = {{3, 70, 80}, {3, 90, kNever}};
  trace.gaps = {{0, 260, 280}};
  trace.false_marks = {{0, 255}, {0, 285}};
  trace.cpu_samples = {{3, 1, 65}, {0, kNoStack, 40}};
  trace.responses = {{0, 6379, "", 20, 2, 100, 9000}, {3, 0, std::string("\0a b", 4), 1, 0, 80, 80}};
  trace.calls = {{3, "a b", 7, 90, 100}};
  trace.capacities = {{1, 5e8, 50000, CapacitySource::assumed}};
  trace.disk_counters = {{1, 0, 1, 2}, {1, 10000, 3, 4}};
  trace.disk_ios = {{0, 1, 310, 390, 4096, 5, DiskOperation::write}, {kNoActor, 1, 320, kNever, 0}};
  return trace;
}

TEST_CASE("a trace is written as text.h says") {
  CHECK(written(small_trace()) ==
        "offwait-waits 1\n"
        "window 0 10000\n"
        "recording target=pid%2010 start_time=2026-01-01T00:00:00Z kernel=6.1 offwait=0.1.0 cpus=2 "
        "sample_hz=99 command=10 recorder=70 host=db%201 interrupted=yes\n"
        "label name=a value=b%20c\n"
        "label name=d value=\n"
        "cpu busy=15000 idle=5000 steal=40\n"
        "percpu cpu=0 busy=9000 idle=1000\n"
        "percpu cpu=3 busy=6000 idle=4000\n"
        "quota cgroup=/a%20b quota=50 period=100 periods=7 throttled=6 throttled_ns=250\n"
        "memory limit=4096 used=1024 refaulted=5\n"
        "memory cgroup=/a%20b target=yes limit=2048 used=2000 reached=3 refaulted=5 swapped=6\n"
        "process tgid=71 comm=rustc cpu=900\n"
        "process tgid=5 comm=make%20it cpu=0 children=800\n"
        "stacks walked=9 recalled=256 verified=1 wrong=0\n"
        "cost programs=700 recorder=80 most=0.03 waits_with_stacks=5 waits_without_stacks=6\n"
        "loss ringbuf_full=0 stack_store_full=7\n"
        "thread 11 tgid=10 comm=worker start=0 exit=-\n"
        "disk vda bytes_per_s=5e+08 ios_per_s=50000 capacity=assumed\n"
        "timer\n"
        "thread 12 tgid=10 comm=a%20b start=50 exit=9000 ns_tid=2 seen=60 outside=recorder parent=11 "
        "cpus=0-1,3 program=/opt/a%20b title=a:%20one%207 lives=3\n"
        "object 0 kind=futex hash=c0ffee\n"
        "object 1 kind=futex tgid=10 address=7f00dead1000 symbol=a%20lock module=/opt/a%20b offset=8\n"
        "object 2 kind=futex dev=0:1 inode=7 file_offset=64 path=/dev/shm/x\n"
        "object 3 kind=kernel_lock lock=rwsem tgid=10 address=ffff888100000000 symbol=mmap_lock\n"
        "object 4 kind=file path=pipe:[3]\n"
        "object 5 kind=file dev=259:1 inode=12 generation=4294967295 path=/var/a%20b%3B%0A deleted=yes\n"
        "object 6 kind=journal dev=259:1\n"
        "object 7 kind=metadata\n"
        "wait 11 block=100 wake=200 run=250 waker=thread:12 class=futex object=1 "
        "stack=f+0x1%20(a.out);--;main "
        "waker_stack=main holder=12\n"
        "wait 11 block=300 wake=400 run=400 waker=disk:vda class=disk object=5\n"
        "wait 11 block=500 wake=- run=- waker=- class=poll stack=main\n"
        "preempt 12 out=70 run=80\n"
        "preempt 12 out=90 run=-\n"
        "unknown 11 from=260 to=280\n"
        "false 11 at=255\n"
        "false 11 at=285\n"
        "on_cpu 12 at=65 stack=main\n"
        "on_cpu 11 at=40\n"
        "responses 11 port=6379 count=20 connections=2 first=100 last=9000\n"
        "responses 12 path=%00a%20b count=1 connections=0 first=80 last=80\n"
        "calls 12 function=a%20b count=7 first=90 last=100\n"
        "sample vda at=0 bytes=1 ios=2\n"
        "sample vda at=10000 bytes=3 ios=4\n"
        "io 11 disk=vda bytes=4096 issue=310 complete=390 file=5 op=write\n"
        "io - disk=vda bytes=0 issue=320 complete=-\n");
}

TEST_CASE("an empty trace is a header and a window") {
  CHECK(written(Trace{}) == "offwait-waits 1\nwindow 0 0\n");
}

TEST_CASE("a written trace is read back with the same ids") {
  const Trace trace = small_trace();
  const Trace back = read_back(written(trace));
  CHECK(first_difference(trace, back).empty());
  CHECK(back.sites == trace.sites);
  CHECK(back.frames == trace.frames);
  CHECK(back.objects == trace.objects);
}

TEST_CASE("a packet in flight is written and read back") {
  Trace trace;
  trace.window = {0, 10000};
  trace.actors = {thread(11, "reader"), thread(12, "writer"), device(ActorKind::nic, "lo")};
  trace.sites = {{0, 1, WaitClass::net}, {0, 2, WaitClass::net}, {0, 2, WaitClass::net}};
  trace.sites[1].in_flight = true;
  trace.waits = {{0, kNoObject, 100, 200, 200}, {1, kNoObject, 200, 300, 350}, {2, kNoObject, 400, 500, 500}};
  const std::string text = written(trace);
  CHECK(text.find("wait 11 block=100 wake=200 run=200 waker=thread:12 class=net\n"
                  "wait 11 block=200 wake=300 run=350 waker=nic:lo class=net in_flight=yes\n"
                  "wait 11 block=400 wake=500 run=500 waker=nic:lo class=net\n") != std::string::npos);
  CHECK(first_difference(trace, read_back(text)).empty());
}

TEST_CASE("capacities and counters of interfaces are written and read back") {
  Trace trace;
  trace.window = {0, 10000};
  trace.actors = {device(ActorKind::nic, "eth0"), device(ActorKind::nic, "lo")};
  trace.nic_capacities = {{0, 1.25e9, 0.5, CapacitySource::reported}};
  trace.nic_counters = {{0, 5, 7, 8}, {1, 6, UINT64_MAX, 0}};
  const std::string text = written(trace);
  CHECK(text.find("nic eth0 received_per_s=1.25e+09 sent_per_s=0.5 capacity=reported\nnic lo\n") !=
        std::string::npos);
  CHECK(text.find(
            "traffic eth0 at=5 received=7 sent=8\ntraffic lo at=6 received=18446744073709551615 sent=0\n") !=
        std::string::npos);
  CHECK(written(read_back(text)) == text);
}

TEST_CASE("peers are written and read back, clients as clients and services as services") {
  Trace trace;
  trace.window = {0, 10000};
  trace.actors = {thread(11, "reader"), device(ActorKind::nic, "eth0")};
  trace.peers = {{Peer::Role::service, "10.0.0.5", 3306},
                 {Peer::Role::client, "10.0.0.5", 3306},
                 {Peer::Role::client, "2001:db8::1", kAnyPort},
                 {Peer::Role::service, "a b;%\n", {}}};
  trace.waits = {};
  for (PeerId peer = 0; peer < trace.peers.size(); ++peer) {
    WaitSite site{0, 1, WaitClass::net};
    site.peer = peer;
    trace.sites.push_back(site);
    const Nanos at = 100 * Nanos{peer};
    trace.waits.push_back({peer, kNoObject, at, at + 50, at + 60});
  }
  const std::string text = written(trace);
  CHECK(text.find("class=net peer=service:10.0.0.5:3306\n") != std::string::npos);
  CHECK(text.find("class=net peer=client:10.0.0.5:3306\n") != std::string::npos);
  CHECK(text.find("class=net peer=client:[2001:db8::1]:*\n") != std::string::npos);
  CHECK(text.find("class=net peer=service:a%20b%3B%25%0A\n") != std::string::npos);
  const Trace back = read_back(text);
  CHECK(first_difference(trace, back).empty());
  CHECK(back.peers == trace.peers);
}

TEST_CASE("a wait for any request is written and read back") {
  Trace trace;
  trace.window = {0, 10000};
  trace.actors = {thread(11, "reader"), device(ActorKind::disk, "vda")};
  trace.sites = {{0, 1, WaitClass::disk}, {0, 1, WaitClass::disk}};
  trace.sites[1].any_request = true;
  trace.waits = {{0, kNoObject, 100, 200, 200}, {1, kNoObject, 200, 300, 350}};
  const std::string text = written(trace);
  CHECK(text.find("wait 11 block=100 wake=200 run=200 waker=disk:vda class=disk\n"
                  "wait 11 block=200 wake=300 run=350 waker=disk:vda class=disk any=yes\n") !=
        std::string::npos);
  CHECK(first_difference(trace, read_back(text)).empty());
}

TEST_CASE("the holder of a mutex is written and read back, even if its tid had another owner before") {
  Trace trace;
  trace.window = {1000, 10000};
  trace.actors = {thread(11, "waiter"), thread(12, "old"), thread(12, "holder")};
  trace.actors[1].exit = 500;
  trace.actors[2].start = 600;
  trace.sites = {{0, kNoActor, WaitClass::futex}};
  trace.waits = {{0, kNoObject, 100, kNever, kNever, 2}};
  const std::string text = written(trace);
  CHECK(text.find("wait 11 block=100 wake=- run=- waker=- class=futex holder=12\n") != std::string::npos);
  CHECK(read_back(text).waits[0].holder == 2);
  trace.waits[0].holder = 1;
  CHECK(error_of(trace) == "a held lock at 1000 outside the life of thread 12 cannot be written as text");
}

TEST_CASE("how many waits a wait's stacks stand for is written and read back") {
  Trace trace;
  trace.window = {0, 10000};
  trace.actors = {thread(11, "waiter")};
  trace.sites = {{0, kNoActor, WaitClass::futex}};
  trace.waits = {{0, kNoObject, 100, 200, 200}, {0, kNoObject, 300, 400, 400}};
  trace.waits[1].stands_for = 1.1F;
  const std::string text = written(trace);
  CHECK(text.find("class=futex\nwait 11 block=300 wake=400 run=400 waker=- class=futex stands_for=1.1\n") !=
        std::string::npos);
  CHECK(first_difference(trace, read_back(text)).empty());
}

TEST_CASE("times before 0 and seen before the birth are raised") {
  Trace trace;
  trace.window = {0, 100};
  trace.actors = {thread(1, "x", -50)};
  trace.actors[0].seen = -50;
  trace.sites = {{0, kNoActor, WaitClass::other, kNoStack, kNoStack}};
  trace.waits = {{0, kNoObject, -20, 30, 40}};
  const Trace back = read_back(written(trace));
  CHECK(back.actors[0].start == 0);
  CHECK(back.actors[0].seen == 0);
  CHECK(back.waits[0].block == 0);
  CHECK(back.waits[0].wake == 30);

  trace.window = {20, 100};
  trace.waits.clear();
  trace.sites.clear();
  for (const auto& [seen, read] :
       std::vector<std::pair<Nanos, Nanos>>{{9, 20}, {10, 10}, {15, 15}, {20, 20}, {30, 30}}) {
    trace.actors = {thread(1, "x", 10)};
    trace.actors[0].seen = seen;
    CHECK(read_back(written(trace)).actors[0].seen == read);
  }
}

TEST_CASE("long frames and stacks are cut where text.h says") {
  Trace trace = small_trace();
  trace.frames[1].function.assign(4097, 'x');
  trace.stacks[0].frames.assign(1025, 0);
  const Trace back = read_back(written(trace));
  const std::vector<std::string> wait_stack = frames_of(back, back.sites[0].wait_stack);
  CHECK(wait_stack.size() == 1024);
  CHECK(wait_stack[1022] == "f+0x1 (a.out)");
  CHECK(wait_stack[1023] == "[cut]");
  CHECK(frames_of(back, back.sites[0].waker_stack) ==
        std::vector<std::string>{std::string(4091, 'x') + "[cut]"});

  trace = small_trace();
  trace.stacks[0].frames.assign(1024, 0);
  CHECK(frames_of(read_back(written(trace)), 0) == std::vector<std::string>(1024, "f+0x1 (a.out)"));

  // The longest line is still short enough to be read: each byte takes three characters, and the stack is
  // there twice.
  trace.frames[0] = {.function = std::string(4096, '\x01')};
  trace.stacks[1].frames.assign(1024, 0);
  trace.actors[1].name = std::string(4096, ' ');
  trace.sites[0].waker = 1;
  const Trace worst = read_back(written(trace));
  CHECK(frames_of(worst, worst.sites[0].wait_stack).size() == 22);
  CHECK(frames_of(worst, worst.sites[0].wait_stack).back() == "[cut]");
}

TEST_CASE("an empty stack is written as none") {
  Trace trace = small_trace();
  trace.stacks[1].frames.clear();
  const Trace back = read_back(written(trace));
  CHECK(back.sites[0].waker_stack == kNoStack);
  CHECK(back.sites[2].wait_stack == kNoStack);
}

TEST_CASE("a trace that is not valid is not written") {
  Trace trace = small_trace();
  trace.waits[0].wake = 99;
  CHECK(error_of(trace) == validate(trace).error().message);
}

TEST_CASE("a trace that text cannot express is an error, and nothing is written") {
  const auto error_with = [](auto change) {
    Trace trace = small_trace();
    change(trace);
    return error_of(trace);
  };
  CHECK(error_with([](Trace& t) { t.actors.push_back(device(ActorKind::group, "g")); }) ==
        "an actor of kind group cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors.push_back(device(ActorKind::nic, "")); }) ==
        "a nic without a name cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors[2].name = "x"; }) ==
        "a timer with a name cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors.push_back(device(ActorKind::disk, "vda")); }) ==
        "two actors disk 'vda' cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors.push_back(device(ActorKind::timer, "")); }) ==
        "two actors timer '' cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors[0].name.assign(4097, 'x'); }) ==
        "a thread whose name is longer than 4096 bytes cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors[0].tid = 0; }) ==
        "thread 0 of process 10, born at 0, cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors[0].tgid = -1; }) ==
        "thread 11 of process -1, born at 0, cannot be written as text");
  CHECK(error_with([](Trace& t) { t.actors[0].tid = 12; }) ==
        "two threads that have tid 12 at the same time cannot be written as text");
  CHECK(error_with([](Trace& t) {
          t.waits[0] = {0, 0, 10, 49, 49};
        }) == "a wake at 49 outside the life of thread 12 cannot be written as text");
  CHECK(error_with([](Trace& t) { t.disk_ios[0].thread = 3, t.disk_ios[0].issue = 49; }) ==
        "a request at 49 outside the life of thread 12 cannot be written as text");
  CHECK(error_with([](Trace& t) { t.frames[1] = {}; }) == "an empty frame cannot be written as text");
  CHECK(error_with([](Trace& t) { t.capacities.push_back(t.capacities[0]); }) ==
        "two capacities of disk 'vda' cannot be written as text");
  CHECK(error_with([](Trace& t) { t.disk_counters[0].at = kNever; }) ==
        "disk counters without a time cannot be written as text");
  CHECK(error_with([](Trace& t) { t.disk_ios[1].issue = kNever; }) ==
        "a request without a time of issue cannot be written as text");
  CHECK(error_with([](Trace& t) { t.recording.target.assign(4097, 'x'); }) ==
        "a target, start time, kernel, version or host longer than 4096 bytes cannot be written as text");
  CHECK(error_with([](Trace& t) { t.recording.recorder = -1; }) ==
        "the recorder -1 cannot be written as text");
  CHECK(error_with([](Trace& t) { t.recording.command = -1; }) == "the command -1 cannot be written as text");
  CHECK(error_with([](Trace& t) { t.loss[""] = 1; }) ==
        "loss counters whose names are empty or too long cannot be written as text");
  CHECK(error_with([](Trace& t) {
          for (int i = 100; i < 200; ++i) {
            t.loss[std::to_string(i) + std::string(4000, ' ')] = 1;
          }
        }) == "loss counters whose names are empty or too long cannot be written as text");
}

TEST_CASE("failures to write are reported") {
  std::FILE* full = std::fopen("/dev/full", "w");
  REQUIRE(full != nullptr);
  const Status status = write_text(small_trace(), full);
  static_cast<void>(std::fclose(full));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == "cannot write: No space left on device");

  // More than any buffer: the failure comes from the middle.
  Trace trace = small_trace();
  trace.disk_counters.assign(100'000, {1, 0, 1, 2});
  full = std::fopen("/dev/full", "w");
  REQUIRE(full != nullptr);
  const Status middle = write_text(trace, full);
  static_cast<void>(std::fclose(full));
  REQUIRE_FALSE(middle.ok());
  CHECK(middle.error().message == "cannot write: No space left on device");

  std::FILE* read_only = std::fopen("/dev/null", "r");
  REQUIRE(read_only != nullptr);
  const Status closed = write_text(small_trace(), read_only);
  static_cast<void>(std::fclose(read_only));
  REQUIRE_FALSE(closed.ok());
  CHECK(closed.error().message == "cannot write: Bad file descriptor");
}

}  // namespace
}  // namespace offwait
