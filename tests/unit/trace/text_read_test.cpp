// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/trace.h"
#include "model/validate.h"
#include "trace/text.h"
#include "unit/trace/same_trace.h"

namespace offwait {
namespace {

constexpr std::string_view kDesignSample =
    "offwait-waits 1\n"
    "window 0 12000000000\n"
    "thread 11 tgid=10 comm=worker start=0 exit=-\n"
    "wait 11 block=1000 wake=2000 run=2100 waker=thread:12 class=futex\n"
    "wait 11 block=5000 wake=9000 run=9000 waker=disk:vda class=disk stack=fsync;do_commit\n"
    "preempt 12 out=3000 run=3500\n";

Trace parsed(std::string_view text) {
  Result<Trace> trace = parse_text(text, "t");
  INFO((trace.ok() ? "" : trace.error().message));
  REQUIRE(trace.ok());
  const Status valid = validate(*trace);
  INFO((valid.ok() ? "" : valid.error().message));
  REQUIRE(valid.ok());
  return *std::move(trace);
}

Trace after_head(const std::string& lines) { return parsed("offwait-waits 1\nwindow 100 10000\n" + lines); }

/// A wait of thread 1 that is over at once.
std::string line_of_wait_at(const std::string& at, const std::string& rest) {
  std::string line = "wait 1";
  for (const char* key : {" block=", " wake=", " run="}) {
    line += key;
    line += at;
  }
  return line.append(" ").append(rest).append("\n");
}

const WaitSite& site_of(const Trace& trace, std::size_t wait) {
  return trace.sites[trace.waits.at(wait).site];
}

TEST_CASE("the sample trace is read exactly") {
  const Trace trace = parsed(kDesignSample);
  CHECK(trace.window.begin == 0);
  CHECK(trace.window.end == 12'000'000'000);
  REQUIRE(trace.actors.size() == 3);

  const Actor& worker = trace.actors[0];
  CHECK(worker.kind == ActorKind::thread);
  CHECK(worker.name == "worker");
  CHECK(worker.tid == 11);
  CHECK(worker.tgid == 10);
  CHECK(worker.start == 0);
  CHECK(worker.exit == kNever);
  CHECK(worker.seen == 0);
  CHECK_FALSE(worker.outside);

  CHECK(trace.actors[1].kind == ActorKind::disk);
  CHECK(trace.actors[1].name == "vda");

  const Actor& other = trace.actors[2];
  CHECK(other.kind == ActorKind::thread);
  CHECK(other.tid == 12);
  CHECK(other.tgid == 0);
  CHECK(other.name.empty());
  CHECK(other.start == 0);
  CHECK(other.exit == kNever);
  CHECK(other.seen == 3000);

  REQUIRE(trace.waits.size() == 2);
  CHECK(trace.waits[0].block == 1000);
  CHECK(trace.waits[0].wake == 2000);
  CHECK(trace.waits[0].run == 2100);
  CHECK(site_of(trace, 0) == WaitSite{0, 2, WaitClass::futex, kNoStack, kNoStack});
  CHECK(trace.waits[1].block == 5000);
  CHECK(trace.waits[1].wake == 9000);
  CHECK(trace.waits[1].run == 9000);
  CHECK(site_of(trace, 1) == WaitSite{0, 1, WaitClass::disk, 0, kNoStack});
  CHECK(frames_of(trace, 0) == std::vector<std::string>{"fsync", "do_commit"});

  REQUIRE(trace.preemptions.size() == 1);
  CHECK(trace.preemptions[0].thread == 2);
  CHECK(trace.preemptions[0].out == 3000);
  CHECK(trace.preemptions[0].run == 3500);
  CHECK(trace.gaps.empty());
  CHECK(trace.loss.empty());
  CHECK(trace.capacities.empty());
}

Trace every_record_and_key() {
  return after_head(
      "recording target=pid%201 start_time=2026-01-01T00:00:00Z kernel=6.1 cpus=8 offwait=0.1.0 "
      "sample_hz=99\n"
      "cpu busy=15 idle=5\n"
      "stacks walked=9 recalled=256 verified=2 wrong=1\n"
      "cost programs=700 recorder=80 most=0.005 waits_without_stacks=6\n"
      "loss ringbuf_full=3 other=18446744073709551615\n"
      "thread 5 outside=yes exit=9000 start=50 comm=a%00b tgid=4 seen=200 ns_tid=2\n"
      "thread 6 tgid=4 comm= start=150 exit=- outside=no parent=5\n"
      "disk sda bytes_per_s=1.5e8 ios_per_s=0.25 capacity=measured measured=2026-11-21\n"
      "disk sdb on=dm-0;a%3bb\n"
      "nic eth0\n"
      "irq 24%20virtio\n"
      "softirq NET_RX\n"
      "timer\n"
      "wait 5 block=60 wake=300 run=- waker=- class=other waker_stack=x;y stack=y\n"
      "unknown 6 from=200 to=-\n"
      "on_cpu 6 stack=f;y at=160\n"
      "on_cpu 5 at=9000\n"
      "on_cpu 77 at=40\n"
      "responses 6 last=300 first=200 connections=2 count=18446744073709551615 port=65535\n"
      "responses 78 path=%00x;y count=1 connections=0 first=100 last=10000\n"
      "calls 79 last=400 first=150 count=18446744073709551615 function=a::f%3b\n"
      "sample sda at=100 bytes=18446744073709551615 ios=7 in_flight=3\n"
      "io 5 disk=sda bytes=512 issue=70 complete=80\n"
      "io - disk=sdb bytes=0 issue=90 complete=-\n");
}

TEST_CASE("every key of the records recording, cpu and stacks is read") {
  const Trace trace = every_record_and_key();
  CHECK(trace.recording.target == "pid 1");
  CHECK(trace.recording.start_time == "2026-01-01T00:00:00Z");
  CHECK(trace.recording.kernel == "6.1");
  CHECK(trace.recording.cpus == 8);
  CHECK(trace.recording.cpu_busy_ns == 15);
  CHECK(trace.recording.cpu_idle_ns == 5);
  CHECK(trace.recording.sample_hz == 99);
  CHECK(trace.recording.stack_reuse == StackReuse{9, 256, 2, 1});
  CHECK(trace.recording.cost == RecordingCost{700, 80, 0.005, 0, 6});
  CHECK(trace.recording.offwait == "0.1.0");
  CHECK(trace.loss == LossCounts{{"ringbuf_full", 3}, {"other", std::numeric_limits<std::uint64_t>::max()}});
}

TEST_CASE("every record and key of actors is read") {
  const Trace trace = every_record_and_key();
  REQUIRE(trace.actors.size() == 11);
  CHECK(trace.actors[0].name == std::string("a\0b", 3));
  CHECK(trace.actors[0].start == 50);
  CHECK(trace.actors[0].exit == 9000);
  CHECK(trace.actors[0].seen == 200);
  CHECK(trace.actors[0].outside);
  CHECK(trace.actors[1].seen == 150);
  CHECK_FALSE(trace.actors[0].kernel);
  CHECK_FALSE(trace.actors[1].outside);
  CHECK(trace.actors[0].parent == kNoActor);
  CHECK(trace.actors[1].parent == 0);
  const std::vector<ActorKind> kinds{ActorKind::thread,  ActorKind::thread, ActorKind::disk,
                                     ActorKind::disk,    ActorKind::nic,    ActorKind::irq,
                                     ActorKind::softirq, ActorKind::timer};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(trace.actors[i].kind == kinds[i]);
  }
  CHECK(trace.actors[5].name == "24 virtio");
  CHECK(trace.actors[7].name.empty());

  CHECK(trace.actors[0].ns_tid == 2);
  CHECK(trace.actors[1].ns_tid == 0);
}

TEST_CASE("every record and key of threads' activity is read") {
  const Trace trace = every_record_and_key();
  CHECK(trace.waits.at(0).run == kNever);
  CHECK(site_of(trace, 0).waker == kNoActor);
  CHECK(frames_of(trace, site_of(trace, 0).wait_stack) == std::vector<std::string>{"y"});
  CHECK(frames_of(trace, site_of(trace, 0).waker_stack) == std::vector<std::string>{"x", "y"});
  CHECK(trace.frames.size() == 3);

  REQUIRE(trace.cpu_samples.size() == 3);
  CHECK(trace.cpu_samples[0].thread == 1);
  CHECK(trace.cpu_samples[0].at == 160);
  CHECK(frames_of(trace, trace.cpu_samples[0].stack) == std::vector<std::string>{"f", "y"});
  CHECK(trace.cpu_samples[1].thread == 0);
  CHECK(trace.cpu_samples[1].at == 9000);
  CHECK(trace.cpu_samples[1].stack == kNoStack);
  CHECK(trace.cpu_samples[2].thread == 8);
  CHECK(trace.actors[8].tid == 77);
  CHECK(trace.actors[8].start == 40);

  REQUIRE(trace.gaps.size() == 1);
  CHECK(trace.gaps[0].thread == 1);
  CHECK(trace.gaps[0].from == 200);
  CHECK(trace.gaps[0].to == kNever);
}

TEST_CASE("every key of the record responses is read") {
  const Trace trace = every_record_and_key();
  REQUIRE(trace.responses.size() == 2);
  const Responses& tcp = trace.responses[0];
  CHECK(tcp.thread == 1);
  CHECK(tcp.port == 65535);
  CHECK(tcp.path.empty());
  CHECK(tcp.count == UINT64_MAX);
  CHECK(tcp.connections == 2);
  CHECK(tcp.first == 200);
  CHECK(tcp.last == 300);
  const Responses& unix = trace.responses[1];
  CHECK(trace.actors.at(unix.thread).tid == 78);
  CHECK(unix.port == 0);
  CHECK(unix.path == std::string("\0x;y", 4));
}

TEST_CASE("every key of the record calls is read") {
  const Trace trace = every_record_and_key();
  REQUIRE(trace.calls.size() == 1);
  const Calls& calls = trace.calls.front();
  CHECK(trace.actors.at(calls.thread).tid == 79);
  CHECK(calls.function == "a::f;");
  CHECK(calls.count == UINT64_MAX);
  CHECK(calls.first == 150);
  CHECK(calls.last == 400);
}

TEST_CASE("every record and key of disks is read") {
  const Trace trace = every_record_and_key();
  REQUIRE(trace.capacities.size() == 1);
  CHECK(trace.capacities[0].disk == 2);
  CHECK(trace.capacities[0].bytes_per_s == 1.5e8);
  CHECK(trace.capacities[0].ios_per_s == 0.25);
  CHECK(trace.capacities[0].source == CapacitySource::measured);
  CHECK(trace.capacities[0].measured_on == "2026-11-21");

  REQUIRE(trace.disk_counters.size() == 1);
  CHECK(trace.disk_counters[0].disk == 2);
  CHECK(trace.disk_counters[0].at == 100);
  CHECK(trace.disk_counters[0].bytes == std::numeric_limits<std::uint64_t>::max());
  CHECK(trace.disk_counters[0].ios == 7);
  CHECK(trace.disk_counters[0].in_flight == 3);
  CHECK(trace.actors[3].on == std::vector<std::string>{"dm-0", "a;b"});

  REQUIRE(trace.disk_ios.size() == 2);
  CHECK(trace.disk_ios[0].thread == 0);
  CHECK(trace.disk_ios[0].disk == 2);
  CHECK(trace.disk_ios[0].bytes == 512);
  CHECK(trace.disk_ios[0].issue == 70);
  CHECK(trace.disk_ios[0].complete == 80);
  CHECK(trace.disk_ios[1].thread == kNoActor);
  CHECK(trace.disk_ios[1].complete == kNever);
}

TEST_CASE("every wait class and kind of waker is read") {
  std::string lines = "thread 1 tgid=1 comm=x start=0 exit=-\n";
  const std::vector<std::string> classes{"disk", "net",   "futex", "lock",  "pipe",
                                         "poll", "sleep", "child", "fault", "other"};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string at = std::to_string(1000 + i);
    lines += line_of_wait_at(at, "waker=- class=" + classes[i]);
  }
  const std::vector<std::string> wakers{"thread:2", "disk:d", "nic:n", "timer", "irq:i", "softirq:s:t"};
  for (const std::string& waker : wakers) {
    lines += "wait 1 block=2000 wake=2000 run=2000 class=other waker=" + waker + "\n";
  }
  const Trace trace = after_head(lines);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    CHECK(site_of(trace, i).wait_class == static_cast<WaitClass>(i));
  }
  const std::vector<ActorKind> kinds{ActorKind::thread, ActorKind::disk, ActorKind::nic,
                                     ActorKind::timer,  ActorKind::irq,  ActorKind::softirq};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(trace.actors[site_of(trace, classes.size() + i).waker].kind == kinds[i]);
  }
  CHECK(trace.actors[site_of(trace, classes.size() + 5).waker].name == "s:t");
}

TEST_CASE("blanks, comments, blank lines and carriage returns mean nothing") {
  const Trace plain = after_head("thread 1 tgid=1 comm=#x start=0 exit=-\npreempt 1 out=5 run=6\n");
  const Trace decorated = parsed(
      "offwait-waits 1\r\n# comment \x1b\xff\n\n \t\n\t window\t100   10000 \r\n"
      "   # comment\nthread 1 \ttgid=1 comm=#x start=0 exit=-\t\n#\npreempt 1 out=5 run=6\n\n");
  CHECK(first_difference(plain, decorated).empty());
  CHECK(plain.actors.at(0).name == "#x");
}

TEST_CASE("the largest time is 2^63-2 and leading zeros are allowed") {
  const Trace trace = parsed("offwait-waits 1\nwindow 007 9223372036854775806\n");
  CHECK(trace.window.begin == 7);
  CHECK(trace.window.end == kNever - 1);
}

TEST_CASE("equal sites, stacks and frames are one, however they are written") {
  const Trace trace = after_head(
      "thread 1 tgid=1 comm=x start=0 exit=-\n"
      "wait 1 block=200 wake=201 run=202 waker=timer class=sleep stack=a;b;a\n"
      "wait 1 block=300 wake=301 run=302 waker=timer class=sleep stack=%61;b;a\n"
      "wait 1 block=400 wake=401 run=402 waker=timer class=sleep stack=a;b\n"
      "wait 1 block=500 wake=501 run=502 waker=timer class=poll stack=a;b\n");
  CHECK(trace.frames == std::vector<Frame>{{.function = "a"}, {.function = "b"}});
  CHECK(trace.stacks.size() == 2);
  REQUIRE(trace.sites.size() == 3);
  CHECK(trace.waits[0].site == 0);
  CHECK(trace.waits[1].site == 0);
  CHECK(trace.waits[2].site == 1);
  CHECK(trace.waits[3].site == 2);
}

TEST_CASE("a device is the same actor wherever it is named") {
  const Trace trace = after_head(
      "thread 1 tgid=1 comm=x start=0 exit=-\n"
      "wait 1 block=200 wake=201 run=202 waker=disk:v%64a class=disk\n"
      "wait 1 block=300 wake=301 run=302 waker=nic:vda class=disk\n"
      "sample vda at=1 bytes=2 ios=3\n"
      "io 1 disk=%76da bytes=1 issue=2 complete=3\n"
      "disk vda\n");
  REQUIRE(trace.actors.size() == 3);
  CHECK(trace.actors[1].kind == ActorKind::disk);
  CHECK(trace.actors[2].kind == ActorKind::nic);
  CHECK(site_of(trace, 0).waker == 1);
  CHECK(site_of(trace, 1).waker == 2);
  CHECK(trace.disk_counters[0].disk == 1);
  CHECK(trace.disk_ios[0].disk == 1);
}

TEST_CASE("records of a reused tid belong to the life they lie in, whatever the order of the lines") {
  const std::string lives =
      "thread 7 tgid=1 comm=first start=0 exit=1000\n"
      "thread 7 tgid=1 comm=second start=1000 exit=2000\n"
      "thread 8 tgid=1 comm=other start=0 exit=-\n";
  const std::string records =
      "wait 7 block=100 wake=200 run=1000 waker=timer class=sleep\n"
      "wait 7 block=1000 wake=1100 run=1200 waker=timer class=sleep\n"
      "wait 7 block=1900 wake=- run=- waker=- class=sleep\n"
      "wait 8 block=100 wake=999 run=999 waker=thread:7 class=futex\n"
      "wait 8 block=1100 wake=1500 run=1500 waker=thread:7 class=futex\n"
      "wait 8 block=1600 wake=2500 run=2500 waker=thread:7 class=child\n"
      "preempt 7 out=1200 run=1300\n"
      "unknown 7 from=0 to=50\n"
      "io 7 disk=d bytes=1 issue=999 complete=1001\n"
      "io 7 disk=d bytes=1 issue=1000 complete=1001\n"
      "io 7 disk=d bytes=1 issue=3000 complete=3001\n";
  for (const bool lives_first : {true, false}) {
    INFO(lives_first);
    const Trace trace = after_head(lives_first ? lives + records : records + lives);
    const auto name = [&](ActorId id) { return trace.actors.at(id).name; };
    CHECK(name(site_of(trace, 0).thread) == "first");
    CHECK(name(site_of(trace, 1).thread) == "second");
    CHECK(name(site_of(trace, 2).thread) == "second");
    CHECK(name(site_of(trace, 3).waker) == "first");
    CHECK(name(site_of(trace, 4).waker) == "second");
    CHECK(name(site_of(trace, 5).waker) == "second");
    CHECK(name(trace.preemptions.at(0).thread) == "second");
    CHECK(name(trace.gaps.at(0).thread) == "first");
    CHECK(name(trace.disk_ios.at(0).thread) == "first");
    CHECK(name(trace.disk_ios.at(1).thread) == "second");
    CHECK(name(trace.disk_ios.at(2).thread) == "second");
  }
}

TEST_CASE("waits of two lives of a tid may be interleaved") {
  const Trace trace = after_head(
      "thread 7 tgid=1 comm=first start=0 exit=1000\n"
      "thread 7 tgid=1 comm=second start=1000 exit=2000\n"
      "wait 7 block=1000 wake=1100 run=1200 waker=timer class=sleep\n"
      "wait 7 block=100 wake=200 run=300 waker=timer class=sleep\n");
  CHECK(site_of(trace, 0).thread == 1);
  CHECK(site_of(trace, 1).thread == 0);
}

TEST_CASE("a tid without thread line is unknown throughout, or until its first preempt line") {
  const Trace trace = after_head(
      "thread 1 tgid=1 comm=x start=0 exit=-\n"
      "wait 1 block=50 wake=60 run=60 waker=thread:3 class=futex\n"
      "wait 1 block=200 wake=300 run=300 waker=thread:2 class=futex\n"
      "preempt 4 out=700 run=800\n"
      "preempt 4 out=900 run=-\n"
      "preempt 5 out=30 run=40\n"
      "io 6 disk=d bytes=1 issue=20000 complete=20001\n");
  const auto check_thread = [&](std::int32_t tid, Nanos start, Nanos seen) {
    INFO(tid);
    std::size_t found = 0;
    for (const Actor& actor : trace.actors) {
      if (actor.tid != tid) {
        continue;
      }
      ++found;
      CHECK(actor.tgid == 0);
      CHECK(actor.name.empty());
      CHECK(actor.start == start);
      CHECK(actor.exit == kNever);
      CHECK(actor.seen == seen);
      CHECK_FALSE(actor.outside);
    }
    CHECK(found == 1);
  };
  check_thread(2, 100, 10000);
  check_thread(3, 60, 10000);
  check_thread(4, 100, 700);
  check_thread(5, 30, 100);
  check_thread(6, 100, 10000);
}

TEST_CASE("intervals of a thread may touch and be empty") {
  const Trace trace = after_head(
      "thread 1 tgid=1 comm=x start=200 exit=500\n"
      "wait 1 block=200 wake=250 run=300 waker=timer class=sleep\n"
      "preempt 1 out=300 run=400\n"
      "wait 1 block=400 wake=400 run=400 waker=timer class=sleep\n"
      "unknown 1 from=400 to=500\n"
      "wait 1 block=500 wake=500 run=500 waker=timer class=sleep\n");
  CHECK(trace.waits.size() == 3);
}

TEST_CASE("an interval without an end may belong to a thread that exits") {
  const Trace trace = after_head(
      "thread 1 tgid=1 comm=x start=0 exit=500\n"
      "wait 1 block=200 wake=250 run=- waker=timer class=sleep\n");
  CHECK(trace.waits[0].run == kNever);
  CHECK(site_of(trace, 0).thread == 0);
}

TEST_CASE("a file is read in chunks as it is from memory") {
  std::string text = "offwait-waits 1\nwindow 0 100000000\nthread 1 tgid=1 comm=x start=0 exit=-\n";
  while (text.size() < 5'000'000) {
    const std::string at = std::to_string(text.size());
    const std::string leaf = "f" + std::to_string(text.size() % 1000);
    text += line_of_wait_at(at, "waker=timer class=sleep stack=" + leaf + ";main");
  }
  const int fd = memfd_create("trace", 0);
  REQUIRE(fd >= 0);
  REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
  const Result<Trace> from_file = read_text(fd, "t");
  close(fd);
  REQUIRE(from_file.ok());
  CHECK(first_difference(*from_file, parsed(text)).empty());
  CHECK(from_file->waits.size() > 50'000);
  CHECK(from_file->stacks.size() == from_file->sites.size());
}

TEST_CASE("text is recognised by its beginning") {
  CHECK(looks_like_text("offwait-waits 1\n"));
  CHECK(looks_like_text("offwait-waits 2"));
  CHECK_FALSE(looks_like_text("offwait-wait"));
  CHECK_FALSE(looks_like_text("OFFWAIT\0"));
  CHECK_FALSE(looks_like_text(""));
}

TEST_CASE("the traces in tests/traces are read and valid") {
  for (const std::string name : {"figure1", "figure3", "lock-convoy", "open-ends", "hostile-names"}) {
    INFO(name);
    const std::string path = std::string(OFFWAIT_SOURCE_DIR) + "/tests/traces/" + name + ".txt";
    const int fd = open(path.c_str(), O_RDONLY);
    REQUIRE(fd >= 0);
    const Result<Trace> trace = read_text(fd, name);
    close(fd);
    INFO((trace.ok() ? "" : trace.error().message));
    REQUIRE(trace.ok());
    CHECK(validate(*trace).ok());
    CHECK_FALSE(trace->waits.empty());
  }
}

TEST_CASE("objects are numbered in order of their lines, and equal ones are one") {
  const Trace trace = parsed(
      "offwait-waits 1\nwindow 0 1000\nthread 1 tgid=1 comm=a start=0 exit=-\n"
      "object 7 kind=file inode=3 dev=8:1 path=/a\n"
      "object 3 kind=journal dev=8:1\n"
      "object 9 kind=file inode=3 dev=8:1 path=/a\n"
      "wait 1 block=1 wake=2 run=3 waker=- class=disk object=9\n"
      "wait 1 block=4 wake=5 run=6 waker=- class=disk object=3\n"
      "wait 1 block=7 wake=8 run=9 waker=- class=futex futex=ff\n"
      "wait 1 block=10 wake=11 run=12 waker=- class=futex\n"
      "wait 1 block=13 wake=14 run=15 waker=- class=futex futex=ff holder=1\n"
      "io 1 disk=sda bytes=1 issue=1 complete=2 file=7\n");
  REQUIRE(trace.objects.size() == 3);
  CHECK(trace.objects[0] == Object{.kind = Object::Kind::file, .device = {8, 1}, .inode = 3, .path = "/a"});
  CHECK(trace.objects[1] == Object{.kind = Object::Kind::journal, .device = {8, 1}});
  CHECK(trace.objects[2] == Object{.kind = Object::Kind::futex, .hash = 0xff});
  const EvictableVector<Wait>& waits = trace.waits;
  CHECK(std::vector{waits[0].object, waits[1].object, waits[2].object, waits[3].object, waits[4].object} ==
        std::vector<ObjectId>{0, 1, 2, kNoObject, 2});
  CHECK(waits[3].holder == kNoActor);
  CHECK(waits[4].holder == 0);
  CHECK(trace.disk_ios[0].file == 0);
}

}  // namespace
}  // namespace offwait
