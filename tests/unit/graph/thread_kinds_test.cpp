// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/thread_kinds.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "graph/start_functions.h"
#include "traces.h"

namespace offwait {
namespace {

using test::TraceByHand;
using Kinds = std::vector<ThreadKind>;

/// Frames from the leaf on, without kernel frames.
StackId stack_of(TraceByHand& t, const std::vector<std::string>& functions) {
  Stack stack;
  for (const std::string& function : functions) {
    stack.frames.push_back(static_cast<FrameId>(t.trace.frames.size()));
    t.trace.frames.push_back({.function = function});
    // `+16`: a function without a name that begins at 16
    if (function.starts_with('+')) {
      t.trace.frames.back().function.clear();
      t.trace.frames.back().begin = std::stoull(function.substr(1));
      t.trace.frames.back().module = "db";
    }
  }
  t.trace.stacks.push_back(std::move(stack));
  return static_cast<StackId>(t.trace.stacks.size() - 1);
}

std::string start_of(const std::vector<std::string>& functions) {
  TraceByHand t(100);
  return start_function(t.trace, t.trace.stacks[stack_of(t, functions)]);
}

ActorId process(TraceByHand& t, const std::string& name, const std::string& program,
                const std::string& title = "") {
  const ActorId id = t.thread(name);
  Actor& actor = t.trace.actors[id];
  actor.tgid = actor.tid;
  actor.program = program;
  actor.title = title;
  return id;
}

TEST_CASE("a thread starts in the first function that not every thread begins with") {
  CHECK(start_of({"read", "handle_one_connection", "pfs_spawn_thread", "start_thread", "__clone3"}) ==
        "handle_one_connection");
  CHECK(start_of({"epoll_wait", "main", "__libc_start_call_main", "__libc_start_main_impl", "_start"}) ==
        "main");
  CHECK(start_of({"read", "JavaThread::thread_main_inner()", "Thread::call_run()",
                  "thread_native_entry(Thread*)", "start_thread", "clone3"}) ==
        "JavaThread::thread_main_inner()");
  CHECK(start_of({"read", "app::serve", "std::sys_common::backtrace::__rust_begin_short_backtrace",
                  "core::ops::function::FnOnce::call_once{{vtable.shim}}",
                  "std::sys::unix::thread::Thread::new::thread_start", "start_thread", "clone3"}) ==
        "app::serve");
  // Any thread of Go runs any goroutine.
  CHECK(start_of({"read", "main.serve", "runtime.goexit.abi0"}) == "runtime");
  CHECK(start_of({"futex", "runtime.schedule", "runtime.mcall"}) == "runtime");
  CHECK(start_of({"start_thread", "clone3"}).empty());
  CHECK(start_of({"f"}).empty());
  CHECK(start_of({}).empty());
  TraceByHand t(100);
  Stack cut = t.trace.stacks[stack_of(t, {"read", "f"})];
  cut.cut = StackCut::deep;
  CHECK(start_function(t.trace, cut).empty());
}

TEST_CASE("threads with one name are of two kinds if they start in different functions") {
  TraceByHand t(1000);
  std::vector<ActorId> threads;
  for (int i = 0; i < 6; ++i) threads.push_back(t.thread("mariadbd"));
  const StackId connection = stack_of(t, {"read", "handle_one_connection", "start_thread"});
  const StackId cleaner = stack_of(t, {"cond_wait", "buf_flush_page_cleaner", "start_thread"});
  t.in(WaitClass::futex, connection);
  t.wait(threads[0], kNoActor, 10, 20);
  t.wait(threads[1], kNoActor, 10, 20);
  t.in(WaitClass::futex, cleaner);
  t.wait(threads[2], kNoActor, 10, 20);
  t.trace.cpu_samples.push_back({threads[3], cleaner, 30});
  // One that starts now here, now there runs what others give it, and one without a stack is like it.
  t.wait(threads[4], kNoActor, 10, 20);
  t.in(WaitClass::futex, connection);
  t.wait(threads[4], kNoActor, 30, 40);
  CHECK(thread_kinds(t.trace) == Kinds{0, 0, 1, 1, 2, 2});
}

TEST_CASE("a function without a name that goes on to another one in each thread begins all of them") {
  const auto kinds = [](const std::vector<std::string>& second, bool first_has_two) {
    TraceByHand t(1000);
    std::vector<ActorId> threads;
    for (int i = 0; i < 3; ++i) threads.push_back(t.thread("db"));
    t.in(WaitClass::futex, stack_of(t, {"read", "parse", "connection", "+16", "start_thread"}));
    t.wait(threads[0], kNoActor, 10, 20);
    t.wait(threads[1], kNoActor, 10, 20);
    t.in(WaitClass::futex, stack_of(t, second));
    t.wait(threads[2], kNoActor, 10, 20);
    if (first_has_two) t.wait(threads[0], kNoActor, 30, 40);
    return thread_kinds(t.trace);
  };
  CHECK(kinds({"wait", "sleep", "cleaner", "+16", "start_thread"}, false) == Kinds{0, 0, 1});
  CHECK(kinds({"wait", "sleep", "cleaner", "+32", "+16", "start_thread"}, false) == Kinds{0, 0, 1});
  // All go on to the same function, or one to several: that is what they were started for.
  CHECK(kinds({"wait", "sleep", "connection", "+16", "start_thread"}, false) == Kinds{0, 0, 0});
  CHECK(kinds({"wait", "sleep", "cleaner", "+16", "start_thread"}, true) == Kinds{0, 0, 0});
  // The innermost frame is where it waits, not where it began.
  CHECK(kinds({"wait", "+16", "start_thread"}, false) == Kinds{0, 0, 0});
}

TEST_CASE("a thread that is not known to start elsewhere is like the others of its name") {
  TraceByHand t(1000);
  const ActorId one = t.thread("io-1");
  t.thread("io-2");
  t.thread("cpu");
  t.in(WaitClass::pipe, stack_of(t, {"read", "io_main", "start_thread"}));
  t.wait(one, kNoActor, 10, 20);
  CHECK(thread_kinds(t.trace) == Kinds{0, 0, 1});
}

TEST_CASE("main threads and others do not take their start function from each other") {
  TraceByHand t(1000);
  const ActorId main = process(t, "app", "/bin/app");
  for (int i = 0; i < 2; ++i) {
    const ActorId worker = t.thread("app");
    t.trace.actors[worker].tgid = t.trace.actors[main].tid;
    t.trace.actors[worker].program = "/bin/app";
  }
  CHECK(thread_kinds(t.trace) == Kinds{0, 0, 0});
  t.in(WaitClass::poll, stack_of(t, {"poll", "main", "_start"}));
  t.wait(main, kNoActor, 10, 20);
  CHECK(thread_kinds(t.trace) == Kinds{0, 1, 1});
}

TEST_CASE("main threads begin where most of them do: some were only seen while they were loaded") {
  TraceByHand t(1000);
  for (const char* const start : {"main", "main", "_dl_start"}) {
    const ActorId main = process(t, "script", "/bin/script");
    t.in(WaitClass::poll, stack_of(t, {"poll", start, "_start"}));
    t.wait(main, kNoActor, 10, 20);
  }
  CHECK(thread_kinds(t.trace) == Kinds{0, 0, 0});
}

TEST_CASE("processes are of one kind by their program and by what they say of themselves") {
  TraceByHand t(1000);
  process(t, "postgres", "/bin/postgres", "postgres: app app 10.0.0.7(4711) idle");
  process(t, "postgres", "/bin/postgres", "postgres: app app 10.0.0.8(51) UPDATE");
  process(t, "postgres", "/bin/postgres", "postgres: app app [local] COMMIT");
  process(t, "postgres", "/bin/postgres", "postgres: walwriter");
  process(t, "worker", "/bin/one");
  process(t, "worker", "/bin/two");
  process(t, "job-1", "/bin/job");
  process(t, "job-2", "");  // exited before it was asked
  CHECK(thread_kinds(t.trace) == Kinds{0, 0, 0, 1, 2, 3, 4, 4});
}

/// `waits` times each of `from` waits for `to`.
void hand_over(TraceByHand& t, ActorId to, const std::vector<ActorId>& from, int waits, Nanos& at) {
  for (int i = 0; i < waits; ++i) {
    for (const ActorId thread : from) {
      t.wait(thread, to, at, at + 5);
      at += 10;
    }
  }
}

TEST_CASE("a thread that alone does what the others of its name wait for is a kind of its own") {
  Nanos at = 0;
  TraceByHand t(100'000);
  const ActorId one = t.thread("thread1"), two = t.thread("thread2"), three = t.thread("thread3");
  SECTION("two wait for the third one") {
    hand_over(t, two, {one, three}, 10, at);
    CHECK(thread_kinds(t.trace) == Kinds{0, 1, 0});
  }
  SECTION("too seldom to be told") {
    hand_over(t, two, {one, three}, 9, at);
    CHECK(thread_kinds(t.trace) == Kinds{0, 0, 0});
  }
  SECTION("they mostly wait for something else") {
    const ActorId other = t.thread("other");
    hand_over(t, other, {one, two, three}, 70, at);
    hand_over(t, two, {one, three}, 10, at);
    CHECK(thread_kinds(t.trace) == Kinds{0, 0, 0, 1});
  }
  SECTION("they mostly wait for something else, but shortly") {
    const ActorId disk = t.device(ActorKind::disk, "vda");
    hand_over(t, two, {one, three}, 10, at);
    for (int i = 0; i < 300; ++i, at += 2) t.wait(one, disk, at, at + 1);
    CHECK(thread_kinds(t.trace) == Kinds{0, 1, 0, kNoThreadKind});
  }
  SECTION("each waits for each") {
    hand_over(t, one, {two, three}, 10, at);
    hand_over(t, two, {one, three}, 10, at);
    hand_over(t, three, {one, two}, 10, at);
    CHECK(thread_kinds(t.trace) == Kinds{0, 0, 0});
  }
  SECTION("one hands out work and takes the results of three or more") {
    const ActorId four = t.thread("thread4");
    hand_over(t, one, {two, three, four}, 10, at);
    for (const ActorId worker : {two, three, four}) hand_over(t, worker, {one}, 10, at);
    CHECK(thread_kinds(t.trace) == Kinds{0, 1, 1, 1});
  }
  SECTION("one waits for each of the others") {
    t.thread("thread4");
    for (const ActorId worker : {two, three}) hand_over(t, worker, {one}, 10, at);
    CHECK(thread_kinds(t.trace) == Kinds{0, 1, 1, 1});
  }
  SECTION("a pair among four hands over only to each other") {
    t.thread("thread4");
    hand_over(t, one, {two}, 10, at);
    hand_over(t, two, {one}, 10, at);
    CHECK(thread_kinds(t.trace) == Kinds{0, 0, 0, 0});
  }
}

/// A wait of `thread` for `object` in this place, which `waker` ends.
void wait_for(TraceByHand& t, ActorId thread, ActorId waker, ObjectId object, StackId place, Nanos& at) {
  t.in(WaitClass::futex, place);
  t.wait(thread, waker, at, at + 5);
  t.trace.waits.back().object = object;
  at += 10;
}

TEST_CASE("threads that do the same around one lock are of one kind, whatever they are called") {
  Nanos at = 0;
  TraceByHand t(100'000);
  const ActorId timer = t.device(ActorKind::timer, "");
  const ActorId one = t.thread("mutation"), two = t.thread("gossip"), three = t.thread("hints");
  const StackId lock = stack_of(t, {"lll_lock_wait", "hold_lock", "worker", "start_thread"});
  const StackId nap = stack_of(t, {"clock_nanosleep", "worker", "start_thread"});
  const StackId other = stack_of(t, {"poll", "serve", "worker", "start_thread"});
  t.trace.objects.resize(3);
  const auto in_turns = [&](ObjectId of_one, ObjectId of_two, ObjectId of_three) {
    for (int i = 0; i < 10; ++i) {
      wait_for(t, two, one, of_two, lock, at);
      wait_for(t, three, two, of_three, lock, at);
      wait_for(t, one, three, of_one, lock, at);
      for (const ActorId thread : {one, two, three}) wait_for(t, thread, timer, kNoObject, nap, at);
    }
  };
  SECTION("the lock is passed round") {
    in_turns(0, 0, 0);
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 0, 0});
  }
  SECTION("a stage of a pipeline waits for its own queue") {
    in_turns(0, 1, 2);
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 1, 2});
  }
  SECTION("two that let each other go may talk to each other") {
    for (int i = 0; i < 10; ++i) {
      wait_for(t, two, one, 0, lock, at);
      wait_for(t, one, two, 0, lock, at);
    }
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 1, 2});
  }
  SECTION("one of them has other work") {
    in_turns(0, 0, 0);
    for (int i = 0; i < 5; ++i) wait_for(t, three, timer, kNoObject, other, at);
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 0, 1});
  }
  SECTION("one of them is of another process") {
    in_turns(0, 0, 0);
    t.trace.actors[three].tgid = 2;
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 0, 1});
  }
}

TEST_CASE("the oldest process of a kind is its own if it waits where none of the others does") {
  TraceByHand t(10'000);
  const ActorId timer = t.device(ActorKind::timer, "");
  const ActorId made = process(t, "web", "/bin/web");
  const ActorId first = process(t, "web", "/bin/web");
  const ActorId second = process(t, "web", "/bin/web");
  t.trace.actors[first].start = 1;
  t.trace.actors[second].start = 2;
  const StackId serve = stack_of(t, {"nanosleep", "serve", "main"});
  const StackId look_after = stack_of(t, {"select", "look_after", "main"});
  const auto wait_in = [&](ActorId thread, StackId stack, Nanos at) {
    t.in(WaitClass::sleep, stack);
    t.wait(thread, timer, at, at + 50);
  };
  for (Nanos at = 100; at < 1000; at += 100) {
    wait_in(first, serve, at);
    wait_in(second, serve, at);
  }
  SECTION("it looks after the others") {
    for (Nanos at = 100; at < 1000; at += 300) wait_in(made, look_after, at);
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 1, 1});
  }
  SECTION("it serves as well") {
    for (Nanos at = 100; at < 1000; at += 300) wait_in(made, serve, at);
    for (Nanos at = 2000; at < 3000; at += 300) wait_in(made, look_after, at);
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 0, 0});
  }
  SECTION("too little is known of it") {
    wait_in(made, look_after, 100);
    CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 0, 0});
  }
}

TEST_CASE("devices have no kind; kernel threads and threads outside have their own") {
  TraceByHand t(100);
  t.device(ActorKind::disk, "vda");
  t.thread("x");
  t.trace.actors[t.thread("x")].outside = true;
  const ActorId kernel = t.thread("x");
  t.trace.actors[kernel].outside = t.trace.actors[kernel].kernel = true;
  CHECK(thread_kinds(t.trace) == Kinds{kNoThreadKind, 0, 1, 2});
}

}  // namespace
}  // namespace offwait
