// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/keys.h"

#include <catch2/catch.hpp>
#include <regex>
#include <string>
#include <vector>

#include "diff/profile.h"
#include "trace/text.h"
#include "unit/diff/server.h"

using namespace offwait;
using namespace offwait::test;

namespace {

Trace parsed(const std::string& lines) {
  Server server;
  server.workers = 0;
  server.more = lines;
  return recorded(server, 1);
}

ThreadKindKey key_of(const Trace& trace, std::int32_t tid) {
  const std::vector<ThreadKindKey> keys = thread_keys(trace);
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].tid == tid) return keys[id];
  }
  FAIL("no such thread");
  return {};
}

}  // namespace

TEST_CASE("threads match by what they are, and not by their numbers") {
  Server server;
  const Trace one = recorded(server, 1);
  server.first_tid = 7000;
  server.program = "/opt/new/srv";
  const Trace other = recorded(server, 2);
  CHECK(key_of(one, 101) == key_of(one, 104));
  CHECK(key_of(one, 101) == key_of(other, 7003));
  CHECK_FALSE(key_of(one, 101) == key_of(one, 190));
  CHECK(key_of(one, 101).program == "srv");
  CHECK(key_of(one, 101).start == "serve");
}

TEST_CASE("the start of a process's first thread is none of its other threads'") {
  const Trace trace = parsed(
      "thread 1 tgid=1 comm=db start=0 exit=- program=/db\n"
      "thread 2 tgid=1 comm=db start=0 exit=- program=/db\n"
      "wait 1 block=10 wake=20 run=20 waker=disk:vda class=disk stack=io;--;read;db_main\n"
      "wait 2 block=10 wake=20 run=20 waker=disk:vda class=disk stack=io;--;read;[db+0x100]\n");
  CHECK(key_of(trace, 1).start == "db_main");
  CHECK(key_of(trace, 2).start.empty());
}

TEST_CASE("a start without a name is not that of the others") {
  const Trace trace = parsed(
      "thread 1 tgid=1 comm=db start=0 exit=- program=/db\n"
      "thread 2 tgid=1 comm=db start=0 exit=- program=/db\n"
      "thread 3 tgid=1 comm=db start=0 exit=- program=/db\n"
      "wait 2 block=10 wake=20 run=20 waker=disk:vda class=disk stack=io;--;read;timer\n"
      "wait 3 block=10 wake=20 run=20 waker=disk:vda class=disk stack=io;--;read;[db+0x100]+0x8\n");
  CHECK(key_of(trace, 2).start == "timer");
  CHECK(key_of(trace, 3).start.empty());
}

TEST_CASE("names cannot be joined into others") {
  const Trace trace = parsed(
      "thread 1 tgid=1 comm=a%20b start=0 exit=- program=/d\n"
      "thread 2 tgid=1 comm=c start=0 exit=-\n"
      "thread 3 tgid=3 comm=a start=0 exit=-\n"
      "thread 4 tgid=3 comm=b%20c start=0 exit=-\n"
      "thread 5 tgid=5 comm=a%20b start=0 exit=- program=/c\n"
      "thread 6 tgid=6 comm=disk%20vda start=0 exit=-\n");
  CHECK_FALSE(key_of(trace, 2) == key_of(trace, 4));
  CHECK_FALSE(key_of(trace, 1) == key_of(trace, 5));
  const EndKey thread{EndKey::Kind::thread, key_of(trace, 6), {}};
  CHECK_FALSE(thread == device_key(ActorKind::disk, "vda"));
}

TEST_CASE("locks match by their variable, or by where they are taken") {
  const Trace trace = parsed(
      "thread 1 tgid=1 comm=db start=0 exit=-\n"
      "thread 2 tgid=1 comm=db start=0 exit=-\n"
      "object 0 kind=futex tgid=1 address=4096 symbol=LOCK_open offset=8 module=/usr/sbin/db\n"
      "object 1 kind=futex tgid=1 address=8192\n"
      "object 2 kind=kernel_lock lock=rwsem address=99 tgid=1\n"
      "wait 1 block=10 wake=20 run=20 waker=thread:2 class=futex object=1 "
      "stack=futex_wait;--;pthread_mutex_lock;Cache::get;main\n");
  const std::vector<ThreadKindKey> threads = thread_keys(trace);
  const StackId stack = trace.sites[trace.waits.back().site].wait_stack;
  const LockKey variable = lock_key(trace, trace.objects[0], stack, threads);
  CHECK(variable.variable == "LOCK_open");
  CHECK(variable.module == "db");
  CHECK(variable.offset == 8);
  CHECK(variable.function.empty());
  CHECK(lock_key(trace, trace.objects[1], stack, threads).function == "Cache::get");
  const LockKey memory = lock_key(trace, trace.objects[2], stack, threads);
  CHECK(memory.variable == "mmap_lock");
  CHECK(memory.process == "db");
}

TEST_CASE("code of a process's own has no number in its key") {
  Frame one{.function = "Interpreter", .module = "perf-123.map"};
  Frame other{.function = "Interpreter", .module = "perf-4567.map"};
  CHECK(function_key(one) == function_key(other));
  other.kind = Frame::Kind::kernel;
  CHECK_FALSE(function_key(one) == function_key(other));
}

TEST_CASE("a function of libc has one key, whichever of its names was found") {
  const auto key = [](const std::string& function, const std::string& module) {
    Frame frame;
    frame.function = function;
    frame.module = module;
    return function_key(frame);
  };
  CHECK(key("__libc_sendmsg", "libc.so.6") == key("sendmsg", "libc.so.6"));
  CHECK(key("__GI___poll", "libc.so.6") == key("poll", "libc.so.6"));
  CHECK(key("__libc_pwrite64", "libc.so.6") == key("pwrite", "libc.so.6"));
  CHECK_FALSE(key("__poll", "server") == key("poll", "server"));
  CHECK(key("___", "libc.so.6").function == "___");
}

TEST_CASE("what one recording does not know tells nothing apart in the others") {
  const std::string text = text_of(Server{}, 1);
  const Result<Trace> bare =
      parse_text(std::regex_replace(text, std::regex(" (stack|program)=[^ \n]*"), ""), "test");
  REQUIRE(bare.ok());
  RecordingToCompare one = to_compare(Server{}, 1);
  RecordingToCompare other = to_compare(*bare);
  CHECK_FALSE(one.profile.edges.begin()->first == other.profile.edges.begin()->first);
  align({&one.profile, &other.profile});
  const auto keys = [](const Profile& profile) {
    std::vector<EdgeKey> out;
    for (const auto& [key, sums] : profile.edges) out.push_back(key);
    return out;
  };
  CHECK(keys(one.profile) == keys(other.profile));
}
