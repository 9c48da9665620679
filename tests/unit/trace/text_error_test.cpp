// SPDX-License-Identifier: GPL-2.0-or-later
// One case for every rule of text.h that a line can break, with the exact sentence.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "trace/text.h"

namespace offwait {
namespace {

std::string error_of(std::string_view text) {
  const Result<Trace> trace = parse_text(text, "f");
  return trace.ok() ? "no error" : trace.error().message;
}

const std::string head_lines = "offwait-waits 1\nwindow 100 10000\n";
const std::string thread_lines = head_lines + "thread 1 tgid=1 comm=x start=0 exit=5000\n";
const std::string max_time = "9223372036854775806";

struct Case {
  std::string text;
  std::string message;
};

const char* const kNoClass =
    "class 'sleeping': expected disk, net, futex, lock, pipe, poll, sleep, child, fault, other, spin, "
    "stopped or "
    "frozen";

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.text.substr(0, 300));
    CHECK(error_of(c.text) == c.message);
  }
}

std::vector<Case> after(const std::string& head, std::string_view line, std::vector<Case> cases) {
  for (Case& c : cases) {
    c.text = head + c.text + "\n";
    c.message = "f:" + std::string(line) + ": " + c.message;
  }
  return cases;
}

TEST_CASE("the error for another kind of file says that it is no recording") {
  const std::string none = "f: not a recording of offwait";
  check({{"", none},
         {"\n", none},
         {"hello\n", none},
         {"offwait-wait", none},
         {" offwait-waits 1\n", none},
         {"# comment\noffwait-waits 1\n", none},
         {std::string("\x7f"
                      "ELF\0\0",
                      6),
          none},
         {std::string(3'000'000, '\0'), none},
         {"offwait-waits 2\n", "f:1: version '2' of offwait-waits (expected 'offwait-waits 1')"},
         {"offwait-waits 1 \n", "f:1: version '1 ' of offwait-waits (expected 'offwait-waits 1')"}});
}

TEST_CASE("a file that is cut off is an error") {
  check({{"offwait-waits 1", "f:1: the file is cut off inside this line (it has no newline at its end)"},
         {"offwait-waits 1\nwindow 0 10",
          "f:2: the file is cut off inside this line (it has no newline at its end)"},
         {"offwait-waits 1\n", "f:1: expected 'window BEGIN END', found the end of the file"},
         {"offwait-waits 1\n# x\n\n", "f:3: expected 'window BEGIN END', found the end of the file"}});
}

TEST_CASE("lines have a limit") {
  const std::string blanks(kMaxTextLine, ' ');
  CHECK(error_of(head_lines + blanks + "\n") == "no error");
  CHECK(error_of(head_lines + blanks + " \n") == "f:3: line longer than 1048576 bytes");
  CHECK(error_of(head_lines + blanks + blanks) == "f:3: line longer than 1048576 bytes");
}

TEST_CASE("window") {
  const std::string header = "offwait-waits 1\n";
  check(
      after(header, "2",
            {{"thread 1 tgid=1 comm=x start=0 exit=-", "expected 'window BEGIN END' before any other record"},
             {"window 1", "expected 'window BEGIN END'"},
             {"window", "expected 'window BEGIN END'"},
             {"window 1 2 3", "expected 'window BEGIN END'"},
             {"window a 2", "window begin 'a': expected ns, 0 to " + max_time},
             {"window 1 -", "window end '-': expected ns, 0 to " + max_time},
             {"window 2 1", "window end 1 is before window begin 2"}}));
  check(after(head_lines, "3", {{"window 100 10000", "window twice"}}));
}

TEST_CASE("records and keys") {
  const std::string records =
      "(expected window, recording, label, cpu, percpu, quota, memory, process, stacks, cost, loss, thread, "
      "disk, "
      "nic, "
      "irq, "
      "softirq, timer, object, wait, "
      "preempt, unknown, false, on_cpu, responses, calls, sample, traffic or io)";
  check(after(head_lines, "3",
              {{"wakeup 1", "unknown record 'wakeup' " + records},
               {"\x1b[2J", "unknown record '\\x1B[2J' " + records},
               {"Wait 1", "unknown record 'Wait' " + records},
               {"preempt 1 out=1 run=2 cpu=3", "unknown key 'cpu' (preempt has out, run)"},
               {"preempt 1 out=1 =2", "unknown key '' (preempt has out, run)"},
               {"preempt 1 out=1 run", "expected KEY=VALUE, found 'run'"},
               {"preempt 1 out=1 run=2 out=1", "key 'out' twice"},
               {"preempt 1 out=1", "preempt without run="},
               {"preempt 1 run=1", "preempt without out="},
               {"unknown 1 from=1", "unknown without to="},
               {"wait 1 block=1 wake=2 run=3 class=disk", "wait without waker="},
               {"wait 1 block=1 wake=2 run=3 waker=-", "wait without class="},
               {"thread 1 comm=x start=0 exit=-", "thread without tgid="},
               {"thread 1 tgid=1 start=0 exit=-", "thread without comm="},
               {"thread 1 tgid=1 comm=x exit=-", "thread without start="},
               {"thread 1 tgid=1 comm=x start=0", "thread without exit="},
               {"sample sda at=1 bytes=1", "sample without ios="},
               {"on_cpu 1 stack=f", "on_cpu without at="},
               {"on_cpu 1 at=1 cpu=0", "unknown key 'cpu' (on_cpu has at, stack)"},
               {"on_cpu 1 at=1 stack=f;;g", "empty frame of stack"},
               {"io 1 disk=sda bytes=1 issue=1", "io without complete="}}));
}

TEST_CASE("numbers") {
  const auto out_of = [](const std::string& value) {
    return "out '" + value + "': expected ns, 0 to " + max_time;
  };
  std::vector<Case> cases;
  for (const std::string value : {"", "-", "-1", "+1", "1x", "0x10", "1.5", "1e3", "9223372036854775807",
                                  "18446744073709551616", "99999999999999999999999999"}) {
    cases.push_back({"preempt 1 out=" + value + " run=-", out_of(value)});
  }
  check(after(head_lines, "3", cases));
  const std::string expected_tid = ": expected a tid, 1 to 2147483647";
  check(after(head_lines, "3",
              {{"preempt 1 out=1 run=x", "run 'x': expected ns, 0 to " + max_time + ", or '-'"},
               {"preempt 1 out=1 run=-1", "run '-1': expected ns, 0 to " + max_time + ", or '-'"},
               {"preempt", "preempt ''" + expected_tid},
               {"preempt 0 out=1 run=2", "preempt '0'" + expected_tid},
               {"preempt -5 out=1 run=2", "preempt '-5'" + expected_tid},
               {"wait 2147483648", "wait '2147483648'" + expected_tid},
               {"unknown x from=1 to=2", "unknown 'x'" + expected_tid},
               {"thread comm=x", "thread 'comm=x'" + expected_tid},
               {"io x disk=sda bytes=1 issue=1 complete=1", "io 'x'" + expected_tid},
               {"io 1 disk=sda bytes=-1 issue=1 complete=1",
                "bytes '-1': expected a count, 0 to 18446744073709551615"},
               {"sample sda at=1 bytes=18446744073709551616 ios=1",
                "bytes '18446744073709551616': expected a count, 0 to 18446744073709551615"},
               {"sample sda at=- bytes=1 ios=1", "at '-': expected ns, 0 to " + max_time},
               {"sample sda at=1 bytes=1 ios=1 in_flight=x",
                "in_flight 'x': expected a count, 0 to 18446744073709551615"},
               {"sample sda at=1 bytes=1 ios=", "ios '': expected a count, 0 to 18446744073709551615"}}));
}

TEST_CASE("recording and loss") {
  check(after(head_lines, "3",
              {{"recording cpus=0", "cpus '0': expected a count, 1 to 4294967295"},
               {"recording hosts=x",
                "unknown key 'hosts' (recording has target, start_time, kernel, offwait, cpus, sample_hz, "
                "command, recorder, host, interrupted)"},
               {"recording sample_hz=-1", "sample_hz '-1': expected a rate, 0 to 4294967295"},
               {"recording target=%zz", "target: bad escape '%zz' (expected % and two hexadecimal digits)"},
               {"loss x", "expected NAME=COUNT, found 'x'"},
               {"loss =1", "empty loss counter"},
               {"loss x=-1", "loss counter 'x' '-1': expected a count, 0 to 18446744073709551615"},
               {"loss x=1 %78=2", "loss counter 'x' twice"}}));
  check(
      {{head_lines + "recording\nrecording\n", "f:4: recording twice"},
       {head_lines + "cpu busy=1 idle=2\ncpu busy=1 idle=2\n", "f:4: cpu twice"},
       {head_lines +
            "stacks walked=1 recalled=2 verified=1 wrong=0\nstacks walked=1 recalled=2 verified=1 wrong=0\n",
        "f:4: stacks twice"},
       {head_lines + "stacks walked=1 recalled=-2 verified=1 wrong=0\n",
        "f:3: recalled '-2': expected a count, 0 to 18446744073709551615"},
       {head_lines + "cpu busy=1\n", "f:3: cpu without idle="},
       {head_lines + "cpu busy=-1 idle=2\n", "f:3: busy '-1': expected ns, 0 to 9223372036854775806"},
       {head_lines + "loss a=1\nloss b=2\n", "f:4: loss twice"}});
}

TEST_CASE("CPUs, quotas and other processes") {
  check(after(
      head_lines, "3",
      {{"cpu busy=1 idle=2 steal=x", "steal 'x': expected ns, 0 to " + max_time},
       {"percpu cpu=4294967296 busy=1 idle=1", "cpu '4294967296': expected a CPU's number, 0 to 4294967295"},
       {"percpu cpu=0 busy=1", "percpu without idle="},
       {"percpu cpu=0 busy=1 idle=-", "idle '-': expected ns, 0 to " + max_time},
       {"quota cgroup=/a quota=0 period=1 periods=1 throttled=1 throttled_ns=1",
        "quota '0': expected a time above 0, 1 to " + max_time},
       {"quota cgroup=/a quota=1 period=0 periods=1 throttled=1 throttled_ns=1",
        "period '0': expected a time above 0, 1 to " + max_time},
       {"quota cgroup= quota=1 period=1 periods=1 throttled=1 throttled_ns=1", "empty cgroup"},
       {"quota cgroup=/a quota=1 period=1 periods=1 throttled=2 throttled_ns=1",
        "throttled=2 of periods=1 (expected at most as many)"},
       {"process tgid=0 comm=x cpu=1", "tgid '0': expected a tgid, 1 to 2147483647"},
       {"process tgid=1 comm=x", "process without cpu="},
       {"process tgid=1 comm=x cpu=1 children=-1", "children '-1': expected ns, 0 to " + max_time},
       {"thread 1 tgid=1 comm=x start=5 exit=- cpus=", "cpus '': expected a list of CPUs like 0-3,7"},
       {"thread 1 tgid=1 comm=x start=5 exit=- cpus=3-1", "cpus '3-1': expected a list of CPUs like 0-3,7"},
       {"thread 1 tgid=1 comm=x start=5 exit=- cpus=0,1", "cpus '0,1': expected a list of CPUs like 0-3,7"},
       {"thread 1 tgid=1 comm=x start=5 exit=- cpus=0-3;7",
        "cpus '0-3;7': expected a list of CPUs like 0-3,7"}}));
  check({{head_lines + "percpu cpu=3 busy=1 idle=1\npercpu cpu=3 busy=1 idle=1\n",
          "f:4: percpu cpu=3 after cpu=3 (expected ascending numbers)"}});
}

TEST_CASE("threads") {
  check(after(
      head_lines, "3",
      {{"thread 1 tgid=-1 comm=x start=0 exit=-", "tgid '-1': expected a tgid, 0 to 2147483647"},
       {"thread 1 tgid=1 comm=\xc3\xa4 start=0 exit=-", "comm: byte 0xC3 must be written as %C3"},
       {"thread 1 tgid=1 comm=x start=- exit=-", "start '-': expected ns, 0 to " + max_time},
       {"thread 1 tgid=1 comm=x start=-5 exit=-", "start '-5': expected ns, 0 to " + max_time},
       {"thread 1 tgid=1 comm=x start=5 exit=4", "exit 4 is before start 5"},
       {"thread 1 tgid=1 comm=x start=5 exit=- seen=4", "seen 4 is before start 5"},
       {"thread 1 tgid=1 comm=x start=5 exit=- outside=1",
        "outside '1': expected yes, no, kernel or recorder"},
       {"thread 1 tgid=1 comm=x start=5 exit=- ns_tid=0", "ns_tid '0': expected a tid, 1 to 2147483647"},
       {"thread 1 tgid=1 comm=x start=5 exit=- parent=1", "thread 1 is its own parent"},
       {"thread 1 tgid=1 comm=x start=5 exit=- parent=2", "child of tid 2, which has no thread line"},
       {"thread 1 tgid=1 comm=" + std::string(4097, 'x') + " start=5 exit=-",
        "comm longer than 4096 bytes"}}));
  const std::string other = ", but another thread line has it live in [0, 5000)";
  check(after(thread_lines, "4",
              {{"thread 1 tgid=1 comm=x start=0 exit=5000", "thread 1 lives in [0, 5000)" + other},
               {"thread 1 tgid=1 comm=x start=4999 exit=-", "thread 1 lives in [4999, -)" + other},
               {"thread 1 tgid=1 comm=x start=10 exit=20", "thread 1 lives in [10, 20)" + other},
               {"thread 1 tgid=1 comm=x start=0 exit=0", "thread 1 lives in [0, 0)" + other}}));
  check({{head_lines + "thread 1 tgid=1 comm=x start=50 exit=-\nthread 1 tgid=1 comm=x start=0 exit=51\n",
          "f:4: thread 1 lives in [0, 51), but another thread line has it live in [50, -)"}});
}

TEST_CASE("devices") {
  check(after(
      head_lines, "3",
      {{"disk", "empty name of disk"},
       {"nic %", "name of nic: bad escape '%' (expected % and two hexadecimal digits)"},
       {"nic eth0 speed=1", "unknown key 'speed' (nic has received_per_s, sent_per_s, capacity)"},
       {"irq 5 x", "expected 'irq NAME' and nothing else"},
       {"softirq", "empty name of softirq"},
       {"timer x", "expected 'timer' and nothing else"},
       {"disk a bytes_per_s=1 ios_per_s=1", "expected all of bytes_per_s, ios_per_s and capacity, or none"},
       {"disk a capacity=given", "expected all of bytes_per_s, ios_per_s and capacity, or none"},
       {"disk a on=", "empty on"},
       {"disk a on=b;;c", "empty on"},
       {"disk a bytes_per_s=0 ios_per_s=1 capacity=given", "bytes_per_s '0': expected a number > 0"},
       {"disk a bytes_per_s=1 ios_per_s=-1 capacity=given", "ios_per_s '-1': expected a number > 0"},
       {"disk a bytes_per_s=inf ios_per_s=1 capacity=given", "bytes_per_s 'inf': expected a number > 0"},
       {"disk a bytes_per_s=nan ios_per_s=1 capacity=given", "bytes_per_s 'nan': expected a number > 0"},
       {"disk a bytes_per_s=1e999 ios_per_s=1 capacity=given", "bytes_per_s '1e999': expected a number > 0"},
       {"disk a bytes_per_s=500M ios_per_s=1 capacity=given", "bytes_per_s '500M': expected a number > 0"},
       {"disk a bytes_per_s=1 ios_per_s=1 capacity=guessed",
        "capacity 'guessed': expected given, measured or assumed"},
       {"disk a bytes_per_s=1 ios_per_s=1 capacity=given measured=2026-11-21",
        "measured '2026-11-21': expected a day like 2026-11-21, with capacity=measured"},
       {"disk a measured=2026-11-21",
        "measured '2026-11-21': expected a day like 2026-11-21, with capacity=measured"},
       {"disk a bytes_per_s=1 ios_per_s=1 capacity=measured measured=yesterday",
        "measured 'yesterday': expected a day like 2026-11-21, with capacity=measured"},
       {"sample", "sample without at="},
       {"sample at=1 bytes=1 ios=1", "sample without at="},
       {"io 1 disk= bytes=1 issue=1 complete=1", "empty name of disk"},
       {"io 1 disk=sda bytes=1 issue=2 complete=1", "complete 1 is before issue 2"},
       {"disk " + std::string(4097, 'x'), "name of disk longer than 4096 bytes"}}));
  check({{head_lines + "disk a\ndisk a\n", "f:4: disk 'a' twice"},
         {head_lines + "irq a\nirq %61\n", "f:4: irq '%61' twice"},
         {head_lines + "timer\ntimer\n", "f:4: timer twice"}});
}

TEST_CASE("objects") {
  check(after(
      head_lines, "3",
      {{"object kind=futex", "object 'kind=futex': expected an object's number, 0 to 4294967294"},
       {"object 4294967295 kind=futex", "object '4294967295': expected an object's number, 0 to 4294967294"},
       {"object 0", "object without kind="},
       {"object 0 kind=lock", "kind 'lock': expected futex, kernel_lock, file, journal or metadata"},
       {"object 0 kind=futex", "an object of kind futex has tgid and address, or inode, or hash"},
       {"object 0 kind=futex hash=1 address=1",
        "an object of kind futex has tgid and address, or inode, or hash"},
       {"object 0 kind=futex hash=123456789",
        "hash '123456789': expected 1 to 8 lower-case hexadecimal digits, not zero"},
       {"object 0 kind=futex tgid=1 address=A",
        "address 'A': expected 1 to 16 lower-case hexadecimal digits, not zero"},
       {"object 0 kind=futex tgid=1 address=11112222333344445",
        "address '11112222333344445': expected 1 to 16 lower-case hexadecimal digits, not zero"},
       {"object 0 kind=futex tgid=0 address=1", "tgid '0': expected a tgid, 1 to 2147483647"},
       {"object 0 kind=kernel_lock lock=spinlock address=1",
        "lock 'spinlock': expected unknown, mutex, rwsem, percpu_rwsem or rtmutex"},
       {"object 0 kind=kernel_lock", "an object of kind kernel_lock has an address"},
       {"object 0 kind=file", "an object of kind file has an inode or a path"},
       {"object 0 kind=file path=", "empty path"},
       {"object 0 kind=file inode=1 dev=8", "dev '8': expected MAJOR:MINOR"},
       {"object 0 kind=file inode=1 dev=8:", "dev '8:': expected MAJOR:MINOR"},
       {"object 0 kind=file inode=1 dev=8:1:2", "dev '8:1:2': expected MAJOR:MINOR"},
       {"object 0 kind=file inode=1 dev=-8:1", "dev '-8:1': expected MAJOR:MINOR"},
       {"object 0 kind=file inode=1 dev=4294967296:1", "dev '4294967296:1': expected MAJOR:MINOR"},
       {"object 0 kind=file inode=1 generation=4294967296",
        "generation '4294967296': expected a generation, 0 to 4294967295"},
       {"object 0 kind=file inode=1 deleted=1", "deleted '1': expected yes or no"},
       {"object 0 kind=file path=" + std::string(4097, 'x'), "path longer than 4096 bytes"}}));
  check({{head_lines + "object 1 kind=journal\nobject 1 kind=metadata\n", "f:4: object 1 twice"},
         {head_lines + "object 1 kind=futex hash=1\nio - disk=a bytes=1 issue=1 complete=1 file=1\n",
          "f:4: file 1 is a futex (expected a file, a journal or metadata)"}});
}

TEST_CASE("waits") {
  const auto waker = [](const std::string& value) {
    return Case{"wait 1 block=1 wake=2 run=3 class=disk waker=" + value,
                "waker '" + value +
                    "': expected thread:TID, disk:NAME, nic:NAME, timer, irq:NAME, softirq:NAME or '-'"};
  };
  const std::string wait = "wait 1 block=1 wake=2 run=3 waker=- class=";
  const auto futex = [&](const std::string& text) {
    return Case{wait + "futex futex=" + text,
                "futex '" + text + "': expected 1 to 8 lower-case hexadecimal digits, not zero"};
  };
  check(after(
      thread_lines, "4",
      {waker(""),
       waker("disk"),
       waker("timer:x"),
       waker("group:x"),
       waker("12"),
       waker("Thread:1"),
       {"wait 1 block=1 wake=2 run=3 class=disk waker=thread:x",
        "waker thread 'x': expected a tid, 1 to 2147483647"},
       {"wait 1 block=1 wake=2 run=3 class=disk waker=thread:0",
        "waker thread '0': expected a tid, 1 to 2147483647"},
       {"wait 1 block=1 wake=2 run=3 class=disk waker=disk:", "empty waker"},
       {"wait 1 block=1 wake=2 run=3 class=disk waker=nic:%0",
        "waker: bad escape '%0' (expected % and two hexadecimal digits)"},
       {wait + "sleeping", kNoClass},
       futex(""),
       futex("0"),
       futex("0x1"),
       futex("A"),
       futex("-1"),
       futex("123456789"),
       {wait + "futex object=-1", "object '-1': expected an object's number, 0 to 4294967294"},
       {wait + "futex object=7", "object 7 has no line before this one"},
       {wait + "futex object=7 futex=7", "both object and futex (expected one of them)"},
       {"io 1 disk=a bytes=1 issue=1 complete=1 file=7", "object 7 has no line before this one"},
       {"wait 1 block=- wake=2 run=3 waker=- class=disk", "block '-': expected ns, 0 to " + max_time},
       {"wait 1 block=5 wake=4 run=6 waker=- class=disk", "wake 4 is before block 5"},
       {"wait 1 block=5 wake=6 run=5 waker=- class=disk", "run 5 is before wake 6"},
       {"wait 1 block=5 wake=- run=6 waker=- class=disk",
        "run '6' of a wait that has not ended (expected '-')"},
       {"wait 1 block=5 wake=- run=- waker=thread:2 class=disk",
        "waker 'thread:2' of a wait that has not ended (expected '-')"},
       {"wait 1 block=5 wake=- run=- waker=timer class=disk",
        "waker 'timer' of a wait that has not ended (expected '-')"},
       {"wait 1 block=1 wake=2 run=3 waker=nic:lo class=net in_flight=1",
        "in_flight '1': expected yes or no"},
       {"wait 1 block=1 wake=2 run=3 waker=timer class=net in_flight=yes",
        "waker 'timer' of a packet in flight: expected nic:NAME"},
       {wait + "net any=yes", "any of a wait of class 'net': expected class=disk"},
       {wait + "disk any=maybe", "any 'maybe': expected yes or no"},
       {wait + "net in_flight=yes", "waker '-' of a packet in flight: expected nic:NAME"},
       {wait + "net peer=10.0.0.5:3306", "peer '10.0.0.5:3306': expected client:NAME or service:NAME"},
       {wait + "net peer=service", "peer 'service': expected client:NAME or service:NAME"},
       {wait + "net peer=client:", "empty peer"},
       {wait + "net peer=client:%0", "peer: bad escape '%0' (expected % and two hexadecimal digits)"},
       {wait + "net peer=client:" + std::string(4097, 'x'), "peer longer than 4096 bytes"},
       {wait + "net peer=client:a peer=client:a", "key 'peer' twice"},
       {"nic eth0 capacity=given", "received_per_s, sent_per_s and capacity stand together"},
       {"nic eth0 received_per_s=1 sent_per_s=1 capacity=measured",
        "capacity 'measured': expected given, assumed or reported"},
       {"nic eth0 received_per_s=0 sent_per_s=1 capacity=given", "received_per_s '0': expected a number > 0"},
       {"traffic eth0 at=1 received=1", "traffic without sent="},
       {"traffic eth0 at=- received=1 sent=1", "at '-': expected ns, 0 to " + max_time},
       {wait + "disk stack=", "empty frame of stack"},
       {wait + "disk stack=a;;b", "empty frame of stack"},
       {wait + "disk waker_stack=a;", "empty frame of waker_stack"},
       {wait + "disk stack=a%;b", "frame of stack: bad escape '%' (expected % and two hexadecimal digits)"},
       {wait + "disk stack=" + std::string(4097, 'x'), "frame of stack longer than 4096 bytes"}}));

  std::string frames = "f";
  for (std::size_t i = 1; i < kMaxTextFrames; ++i) {
    frames += ";f";
  }
  CHECK(error_of(thread_lines + wait + "disk stack=" + frames + "\n") == "no error");
  CHECK(error_of(thread_lines + wait + "disk stack=" + frames + ";f\n") ==
        "f:4: stack of more than 1024 frames");
}

TEST_CASE("preempt and unknown") {
  check(after(thread_lines, "4",
              {{"preempt 1 out=5 run=4", "run 4 is before out 5"},
               {"unknown 1 from=5 to=4", "to 4 is before from 5"}}));
}

TEST_CASE("waits and unknown stretches need a thread that lives") {
  const std::string late = head_lines + "thread 1 tgid=1 comm=x start=1000 exit=5000\n";
  check(after(head_lines, "3",
              {{"wait 1 block=1 wake=2 run=3 waker=- class=disk", "wait of tid 1, which has no thread line"},
               {"unknown 1 from=1 to=2", "unknown of tid 1, which has no thread line"}}));
  check(after(late, "4",
              {{"wait 1 block=999 wake=2000 run=2000 waker=- class=disk",
                "wait [999, 2000) of thread 1, which was not born yet"},
               {"wait 1 block=4000 wake=4500 run=5001 waker=- class=disk",
                "wait [4000, 5001) of thread 1 does not lie inside its lifetime [1000, 5000)"},
               {"wait 1 block=5001 wake=- run=- waker=- class=disk",
                "wait [5001, -) of thread 1 does not lie inside its lifetime [1000, 5000)"},
               {"preempt 1 out=4000 run=5001",
                "preempt [4000, 5001) of thread 1 does not lie inside its lifetime [1000, 5000)"},
               {"preempt 1 out=5001 run=-",
                "preempt [5001, -) of thread 1 does not lie inside its lifetime [1000, 5000)"},
               {"preempt 1 out=0 run=1", "preempt [0, 1) of thread 1, which was not born yet"},
               {"unknown 1 from=4000 to=5001",
                "unknown [4000, 5001) of thread 1 does not lie inside its lifetime [1000, 5000)"}}));
  check({{late + "thread 2 tgid=1 comm=x start=0 exit=-\nwait 2 block=1 wake=999 run=999 waker=thread:1 "
                 "class=futex\n",
          "f:5: waker thread 1 was not born yet at 999"},
         {late + "io 1 disk=sda bytes=1 issue=999 complete=1000\n",
          "f:4: io thread 1 was not born yet at 999"}});
}

TEST_CASE("a CPU sample is of a thread that was born") {
  check({{head_lines + "on_cpu 5 at=200\nthread 5 tgid=1 comm=x start=300 exit=-\n",
          "f:3: on_cpu thread 5 was not born yet at 200"}});
}

TEST_CASE("responses are of a thread that was born, at one address and inside the window") {
  check({{head_lines + "responses 5 port=80 count=1 connections=1 first=150 last=200\n" +
              "thread 5 tgid=1 comm=x start=300 exit=-\n",
          "f:3: responses thread 5 was not born yet at 200"}});
  const std::string times = " first=150 last=200";
  check(after(
      head_lines, "3",
      {{"responses 5 count=1 connections=1" + times,
        "responses with neither port nor path (expected one of port and path)"},
       {"responses 5 port=80 path=/run/s count=1 connections=1" + times,
        "responses with both port and path (expected one of port and path)"},
       {"responses 5 port=0 count=1 connections=1" + times, "port '0': expected a port, 1 to 65535"},
       {"responses 5 port=65536 count=1 connections=1" + times, "port '65536': expected a port, 1 to 65535"},
       {"responses 5 path= count=1 connections=1" + times, "empty path"},
       {"responses 5 port=80 count=0 connections=0" + times,
        "count '0': expected a count, 1 to 18446744073709551615"},
       {"responses 5 port=80 count=2 connections=3" + times,
        "2 responses to 3 connections (expected no more connections than responses)"},
       {"responses 5 port=80 count=1 connections=1 first=200 last=150", "last 150 is before first 200"},
       {"responses 5 port=80 count=1 connections=1 first=99 last=150",
        "responses from 99 to 150 outside the window [100, 10000)"},
       {"responses 5 port=80 count=1 connections=1 first=150 last=10001",
        "responses from 150 to 10001 outside the window [100, 10000)"},
       {"responses 5 port=80 connections=1" + times, "responses without count="},
       {"responses 5 port=80 count=1" + times, "responses without connections="}}));
}

TEST_CASE("calls are of a thread that was born, of a function and inside the window") {
  check({{head_lines + "calls 5 function=f count=1 first=150 last=200\n" +
              "thread 5 tgid=1 comm=x start=300 exit=-\n",
          "f:3: calls thread 5 was not born yet at 200"}});
  check(after(head_lines, "3",
              {{"calls 5 function= count=1 first=150 last=200", "empty function"},
               {"calls 5 count=1 first=150 last=200", "calls without function="},
               {"calls 5 function=f count=0 first=150 last=200",
                "count '0': expected a count, 1 to 18446744073709551615"},
               {"calls 5 function=f count=1 first=200 last=150", "last 150 is before first 200"},
               {"calls 5 function=f count=1 first=99 last=150",
                "calls from 99 to 150 outside the window [100, 10000)"},
               {"calls 5 function=f count=1 first=150 last=10001",
                "calls from 150 to 10001 outside the window [100, 10000)"}}));
}

TEST_CASE("the intervals of a thread must be in order and disjoint") {
  const std::string rule = " ends (they must be in order of time and must not overlap)";
  const auto wait = [](const std::string& from, const std::string& to) {
    return "wait 1 block=" + from + " wake=" + (to == "-" ? "-" : from) + " run=" + to +
           " waker=- class=disk\n";
  };
  check({{thread_lines + wait("200", "300") + wait("299", "400"),
          "f:5: wait [299, 400) of thread 1 begins before its wait [200, 300) of line 4" + rule},
         {thread_lines + wait("200", "300") + wait("100", "150"),
          "f:5: wait [100, 150) of thread 1 begins before its wait [200, 300) of line 4" + rule},
         {thread_lines + wait("200", "-") + wait("400", "500"),
          "f:5: wait [400, 500) of thread 1 begins before its wait [200, -) of line 4" + rule},
         {thread_lines + "preempt 1 out=200 run=300\npreempt 1 out=250 run=260\n",
          "f:5: preempt [250, 260) of thread 1 begins before its preempt [200, 300) of line 4" + rule},
         {head_lines + "preempt 1 out=200 run=300\npreempt 1 out=100 run=150\n",
          "f:4: preempt [100, 150) of thread 1 begins before its preempt [200, 300) of line 3" + rule},
         {thread_lines + "unknown 1 from=200 to=300\nunknown 1 from=200 to=300\n",
          "f:5: unknown [200, 300) of thread 1 begins before its unknown [200, 300) of line 4" + rule},
         {thread_lines + "preempt 1 out=250 run=260\n" + wait("200", "300"),
          "f:4: preempt [250, 260) of thread 1 begins before its wait [200, 300) of line 5" + rule},
         {thread_lines + wait("200", "300") + "unknown 1 from=100 to=201\n",
          "f:4: wait [200, 300) of thread 1 begins before its unknown [100, 201) of line 5" + rule},
         {thread_lines + "unknown 1 from=100 to=-\npreempt 1 out=4000 run=4001\n",
          "f:5: preempt [4000, 4001) of thread 1 begins before its unknown [100, -) of line 4" + rule}});
}

TEST_CASE("errors of reading a file name it") {
  const int directory = open("/", O_RDONLY | O_DIRECTORY);
  REQUIRE(directory >= 0);
  const Result<Trace> trace = read_text(directory, "dir");
  close(directory);
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message == "dir: cannot read: Is a directory");

  const int zeros = open("/dev/zero", O_RDONLY);
  REQUIRE(zeros >= 0);
  const Result<Trace> garbage = read_text(zeros, "/dev/zero");
  close(zeros);
  REQUIRE_FALSE(garbage.ok());
  CHECK(garbage.error().message == "/dev/zero: not a recording of offwait");
}

}  // namespace
}  // namespace offwait
