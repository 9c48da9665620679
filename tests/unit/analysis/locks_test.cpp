// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/locks.h"

#include <catch2/catch.hpp>
#include <string>

#include "analysis/lock_names.h"
#include "trace/text.h"

using namespace offwait;

namespace {

constexpr const char* kHead = R"(offwait-waits 1
window 0 1000000000
disk vda
thread 1 tgid=1 comm=db start=0 exit=-
thread 2 tgid=1 comm=db start=0 exit=-
thread 3 tgid=1 comm=db start=0 exit=-
)";

FoundLocks locks_in(const std::string& lines) {
  const std::string text = kHead + lines;
  const Result<Trace> trace = parse_text(text, "test");
  INFO((trace ? "" : trace.error().message));
  REQUIRE(trace);
  Facts facts = facts_of(*trace, group_threads(*trace), {});
  facts.progress.clear();  // all groups of the target count
  return locks_of(*trace, facts, names_of_locks(*trace, facts.kinds.locks).names,
                  code_uses_of(*trace, facts));
}

const std::string kMutex = " class=futex stack=futex_wait;--;pthread_mutex_lock;";

/// The row of the only lock there is, where a thread waits for it in this stack of the program.
FoundLockRow row_of_wait_in(const std::string& stack) {
  const FoundLocks found = locks_in(
      "object 0 kind=futex tgid=1 address=4096\n"
      "wait 1 block=100 wake=1100 run=1100 waker=thread:2 object=0 class=futex stack=futex_wait;--;" +
      stack + "\n");
  REQUIRE(found.rows.size() == 1);
  return found.rows[0];
}

}  // namespace

TEST_CASE("a lock has its name, its holder, and what the holder did while others waited") {
  const FoundLocks found = locks_in(
      "object 0 kind=futex tgid=1 address=4096 symbol=LOCK_open offset=8 module=/usr/sbin/db\n"
      "wait 1 block=150000000 wake=350000000 run=350000000 waker=disk:vda class=disk stack=fdatasync\n"
      "wait 2 block=100000000 wake=400000000 run=400000000 waker=thread:1 object=0 holder=1" +
      kMutex + "Log::write;main\n" +
      "wait 3 block=200000000 wake=500000000 run=500000000 waker=thread:2 object=0 holder=1" + kMutex +
      "Log::flush;main\n");
  REQUIRE(found.rows.size() == 1);
  const FoundLockRow& row = found.rows[0];
  CHECK(row.name == "LOCK_open+0x8 (db)");
  CHECK(row.kind == LockKind::mutex);
  CHECK(row.waits == 2);
  CHECK(row.wait_s == Approx(0.6));
  CHECK(row.longest_s == Approx(0.3));
  CHECK(row.mean_line == Approx(0.6));
  CHECK(row.longest_line == 2);
  CHECK(row.owner_s == Approx(0.6));
  REQUIRE(row.holders.size() == 1);
  CHECK(row.holders[0].threads == 1);
  // Thread 1 waited for the disk for 200 ms of the first wait, and for 150 ms of the second one.
  CHECK(row.meanwhile.looked_s == Approx(0.6));
  CHECK(row.meanwhile.at_disks_s == Approx(0.35));
  CHECK(row.meanwhile.ran_s == Approx(0.25));
  CHECK(row.disk == "vda");
}

TEST_CASE("locks without names are called by the functions that take them, and counted") {
  const FoundLocks found = locks_in(
      "object 0 kind=futex tgid=1 address=4096\nobject 1 kind=futex tgid=1 address=8192\n"
      "object 2 kind=kernel_lock address=99 tgid=1 lock=rwsem\n"
      "wait 1 block=100 wake=1100 run=1100 waker=thread:2 object=0" +
      kMutex + "port::Mutex::Lock();Cache::Lookup(int);main\n" +
      "wait 2 block=2000 wake=5000 run=5000 waker=thread:1 object=1" + kMutex +
      "port::Mutex::Lock();Cache::Lookup(int);main\n" +
      "wait 3 block=7000 wake=7500 run=7500 waker=thread:1 object=2 class=lock "
      "stack=rwsem_down_read_slowpath;"
      "down_read;do_user_addr_fault;--;main\n");
  REQUIRE(found.rows.size() == 3);
  CHECK(found.rows[0].name == "lock #1 of Cache::Lookup");
  CHECK(found.rows[0].wait_s == Approx(3e-6));
  CHECK(found.rows[1].name == "lock #2 of Cache::Lookup");
  CHECK(found.rows[2].name == "mmap_lock of process 1");
  CHECK(found.rows[2].kind == LockKind::kernel_lock);
  CHECK(found.rows[2].holders[0].wait_s == Approx(5e-7));
  CHECK(found.rows[2].owner_s == 0);
}

TEST_CASE("the lock of all Python code is called that where its variable alone tells") {
  const FoundLocks found = locks_in(
      "object 0 kind=futex tgid=1 address=4096 symbol=_PyRuntime module=python3.11 offset=528\n"
      "object 1 kind=futex tgid=1 address=8192 symbol=_PyRuntime module=python3.11 offset=432\n"
      "wait 1 block=100 wake=1100 run=1100 waker=thread:2 object=1" +
      kMutex + "_PyEval_EvalFrameDefault;main\n" +
      "wait 2 block=100 wake=200 run=200 waker=thread:1 object=0" + kMutex +
      "_PyEval_EvalFrameDefault;main\n");
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].name == "lock of all Python code (GIL)");
  CHECK(found.rows[1].name == "_PyRuntime+0x210 (python3.11)");
}

TEST_CASE("waits that no thread ended are set aside, and conditions come after locks") {
  const FoundLocks found = locks_in(
      "object 0 kind=futex tgid=1 address=4096\nobject 1 kind=futex tgid=1 address=8192\n"
      "wait 1 block=0 wake=600000000 run=600000000 waker=timer object=0 class=futex "
      "stack=futex_wait;--;pthread_cond_timedwait;idle;main\n"
      "wait 2 block=0 wake=500000000 run=500000000 waker=thread:1 object=0 class=futex "
      "stack=futex_wait;--;pthread_cond_wait;take;main\n"
      "wait 3 block=0 wake=1000 run=1000 waker=thread:2 object=1" +
      kMutex + "put;main\n");
  CHECK(found.not_let_go_s == Approx(0.6));
  CHECK(found.locks == 1);
  CHECK(found.wait_s == Approx(found.rows[0].wait_s));
  CHECK(found.queues == 1);
  CHECK(found.queues_s == Approx(0.5));
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].name == "lock of put");
  CHECK(found.rows[1].kind == LockKind::condition);
  CHECK(found.rows[1].wait_s == Approx(0.5));
}

TEST_CASE("locks of Rust are mutexes, and Java's threads park") {
  const auto kind = [](const std::string& stack) { return row_of_wait_in(stack + ";main").kind; };
  CHECK(kind("syscall;<std::sys::sync::mutex::futex::Mutex>::lock_contended") == LockKind::mutex);
  CHECK(kind("syscall;<std::sys::sync::rwlock::futex::RwLock>::write_contended") == LockKind::rwlock);
  CHECK(kind("pthread_cond_wait;os::PlatformEvent::park;ObjectMonitor::EnterI") == LockKind::parker);
  CHECK(kind("pthread_cond_wait;Parker::park;Unsafe_Park") == LockKind::parker);
  CHECK(kind("pthread_cond_wait;Monitor::wait") == LockKind::condition);
}

TEST_CASE(
    "a monitor is called by the Java code that takes it, or is the lock of some; the GIL that of all "
    "Python") {
  const auto name = [](const std::string& stack) { return row_of_wait_in(stack).name; };
  const std::string enter =
      "pthread_cond_wait+0x1%20(libc.so.6);PlatformEvent::park()+0x1%20(libjvm.so);"
      "ObjectMonitor::EnterI(JavaThread*)+0x1%20(libjvm.so);ObjectMonitor::enter(JavaThread*)+0x1%20(libjvm."
      "so);";
  CHECK(name(enter + "[anon+0x10];[anon+0x20];JavaCalls::call_helper()+0x1%20(libjvm.so)") ==
        "lock of synchronized Java code");
  CHECK(name(enter + "Interpreter+0x1%20(perf-1.map);Interpreter+0x2%20(perf-1.map)") ==
        "lock of synchronized Java code");
  CHECK(name(enter + "void%20App.audit(int)+0x1%20(perf-1.map);Interpreter+0x2%20(perf-1.map)") ==
        "lock of App.audit");
  CHECK(name("pthread_cond_timedwait+0x1%20(libc.so.6);take_gil+0x1%20(python3);"
             "PyEval_RestoreThread+0x1%20(python3);main+0x1%20(python3)") == "lock of all Python code (GIL)");
}

TEST_CASE(
    "a lock that a function without a name takes is called by the first caller in its file that has one") {
  const auto name = [](const std::string& stack) {
    return row_of_wait_in("pthread_mutex_lock+0x1%20(libc.so.6);" + stack).name;
  };
  CHECK(name("[app+0x10];[app+0x20];lock_session+0x1%20(app);session_start+0x1%20(app);main+0x1%20(app)") ==
        "lock of session_start");
  CHECK(name("[libx.so+0x10];session_start+0x1%20(app);main+0x1%20(app)") == "lock of [libx.so+0x10]");
  CHECK(name("[anon+0x10];[anon+0x20];call_helper+0x1%20(anon)") == "lock of [anon+0x10]");
}

TEST_CASE("who let go of a lock had it only since its own wait for it ended") {
  // 2 waits for it until 3,000 and lets 1 go at 5,000; it ran all the time between.
  const FoundLocks found = locks_in(
      "object 0 kind=futex tgid=1 address=4096\n"
      "wait 2 block=100 wake=3000 run=3000 waker=thread:3 object=0 class=futex stack=f;--;take;main\n"
      "wait 1 block=1000 wake=5000 run=5000 waker=thread:2 object=0 class=futex stack=f;--;take;main\n");
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].meanwhile.looked_s == Approx(2900e-9 + 2000e-9));
  CHECK(found.rows[0].meanwhile.other_locks_s == 0);
  CHECK(found.rows[0].meanwhile.others_s == 0);
}

TEST_CASE("a function is about locks if a word of its name says so") {
  const auto taken = [](const std::string& functions) {
    const std::string text =
        std::string(kHead) + "object 0 kind=futex tgid=1 address=4096\n" +
        "wait 1 block=100 wake=1100 run=1100 waker=thread:2 object=0 class=futex stack=f;--;" + functions +
        "\n";
    const Result<Trace> trace = parse_text(text, "test");
    REQUIRE(trace);
    return taken_in(*trace, trace->stacks[trace->sites[0].wait_stack], trace->objects[0]);
  };
  CHECK(taken("pthread_mutex_lock;inline_mysql_mutex_lock;block_read;main") == "block_read");
  CHECK(taken("pthread_mutex_lock;std::lock_guard<std::mutex>::lock_guard;clock_tick;main") == "clock_tick");
  CHECK(taken("pthread_rwlock_wrlock;TryLockTable;Table::open;main") == "Table::open");
  CHECK(taken("pthread_mutex_lock") == "pthread_mutex_lock");
  CHECK(taken("pthread_mutex_lock;(anonymous%20namespace)::refill(Pool&);main") ==
        "(anonymous namespace)::refill");
  CHECK(taken("pthread_cond_wait%20(libc.so.6);Parker::park%20(libjvm.so);Unsafe_Park%20(libjvm.so);"
              "void%20jdk.internal.misc.Unsafe.park;void%20java.util.concurrent.locks.ReentrantLock.lock;"
              "void%20app.Cache.get;Interpreter;StubRoutines%20(1)") == "app.Cache.get");
  CHECK(taken("runtime.futex;sync.(*Mutex).Lock;net/http.(*conn).serve;main.main") ==
        "net/http.(*conn).serve");
}
