// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/roles.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "code/rows.h"

using namespace offwait;

namespace {

Roles roles(const std::string& function, const std::string& module = "app") {
  Frame frame;
  frame.function = function;
  frame.module = module;
  return roles_of(frame);
}

/// What a stack of these functions waits for, innermost first.
WaitsFor what(std::initializer_list<const char*> functions) {
  std::vector<Roles> stack;
  for (const char* const function : functions) stack.push_back(roles(function));
  return waits_for(stack.size(), [&](std::size_t i) -> const Roles& { return stack[i]; });
}

struct Known {
  const char* name;
  WaitsFor waits_for;
};

/// As they stand in recordings.
const std::vector<Known> kWaits = {
    {"__pthread_mutex_lock", WaitsFor::mutex},
    {"___pthread_mutex_lock", WaitsFor::mutex},
    {"__GI___pthread_mutex_lock", WaitsFor::mutex},
    {"__GI___lll_lock_wait", WaitsFor::mutex},
    {"__lll_lock_wait_private", WaitsFor::mutex},
    {"__pthread_mutex_cond_lock", WaitsFor::mutex},
    {"std::mutex::lock()", WaitsFor::mutex},
    {"std::shared_mutex::lock_shared()", WaitsFor::rwlock},
    {"std::shared_timed_mutex::lock()", WaitsFor::rwlock},
    {"___pthread_rwlock_wrlock", WaitsFor::rwlock},
    {"__pthread_rwlock_rdlock_full64", WaitsFor::rwlock},
    {"mtx_lock", WaitsFor::mutex},
    {"absl::Mutex::LockSlow", WaitsFor::mutex},
    {"absl::lts_20230802::Mutex::LockSlow(absl::lts_20230802::MuHowS const*, int)", WaitsFor::mutex},
    {"absl::lts_20230802::Mutex::Lock()", WaitsFor::mutex},
    {"absl::lts_20230802::Mutex::ReaderLock()", WaitsFor::rwlock},
    {"absl::lts_20230802::CondVar::WaitCommon(absl::Mutex*, absl::KernelTimeout)", WaitsFor::condition},
    {"absl::lts_20230802::base_internal::SpinLock::SlowLock()", WaitsFor::mutex},
    {"srw_mutex_impl<true>::wait_and_lock", WaitsFor::mutex},
    {"void srw_mutex_impl<false>::wait_and_lock()", WaitsFor::mutex},
    {"ssux_lock_impl<true>::wr_wait(unsigned int)", WaitsFor::rwlock},
    {"parking_lot::raw_mutex::RawMutex::lock_slow", WaitsFor::mutex},
    {"parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow", WaitsFor::rwlock},
    {"parking_lot::condvar::Condvar::wait_until_internal", WaitsFor::condition},
    {"parking_lot_core::parking_lot::park::{{closure}}", WaitsFor::anything},
    {"<RawMutex>::lock_slow", WaitsFor::mutex},
    {"std::sys::sync::mutex::futex::Mutex::lock_contended", WaitsFor::mutex},
    {"std::sys::sync::rwlock::futex::RwLock::write_contended", WaitsFor::rwlock},
    {"std::sys::sync::condvar::futex::Condvar::wait", WaitsFor::condition},
    {"std::sync::barrier::Barrier::wait", WaitsFor::barrier},
    {"std::thread::park", WaitsFor::anything},
    {"sync.(*Mutex).lockSlow", WaitsFor::mutex},
    {"runtime.futex.abi0", WaitsFor::anything},
    {"___pthread_cond_wait", WaitsFor::condition},
    {"__pthread_cond_wait_common", WaitsFor::condition},
    {"std::condition_variable::wait(std::unique_lock<std::mutex>&)", WaitsFor::condition},
    {"cnd_timedwait", WaitsFor::condition},
    {"__new_sem_wait_slow64.constprop.0", WaitsFor::semaphore},
    {"sem_timedwait", WaitsFor::semaphore},
    {"std::counting_semaphore<1l>::acquire()", WaitsFor::semaphore},
    {"__pthread_barrier_wait", WaitsFor::barrier},
    {"gomp_team_barrier_wait_end", WaitsFor::barrier},
    {"std::latch::wait() const", WaitsFor::barrier},
    {"std::latch::arrive_and_wait(long)", WaitsFor::barrier},
    {"std::barrier<std::__empty_completion>::arrive_and_wait()", WaitsFor::barrier},
    {"std::barrier<main::{lambda()#1}>::wait(unsigned char) const", WaitsFor::barrier},
    {"WaitBarrier::wait(int)", WaitsFor::barrier},
    {"__pthread_clockjoin_ex", WaitsFor::join},
    {"std::thread::join()", WaitsFor::join},
    {"thrd_join", WaitsFor::join},
    {"PlatformEvent::park()", WaitsFor::event},
    {"Parker::park(bool, long)", WaitsFor::event},
    {"java.util.concurrent.locks.LockSupport::park", WaitsFor::event},
    {"ethr_event_twait", WaitsFor::event},
    {"start_thread", WaitsFor::nothing},
    {"g_thread_proxy", WaitsFor::nothing},
    {"JavaThread::run()", WaitsFor::nothing},
    {"handler::ha_rnd_next(unsigned char*)", WaitsFor::nothing},
    {"lock_wait(que_thr_t*)", WaitsFor::nothing},
    {"take_gil", WaitsFor::nothing},
    {"ObjectMonitor::enter(JavaThread*)", WaitsFor::nothing},
    {"std::function<void ()>::operator()() const", WaitsFor::nothing},
    // Arguments and types are no part of what a function does.
    {"drain(std::condition_variable&)", WaitsFor::nothing},
    {"std::unique_lock<std::shared_mutex>::lock()", WaitsFor::nothing},
};

/// Whether what one row says of a name is left open, or said as well, by the other.
template <typename Value>
bool agree(const Value& general, const Value& special) {
  return general == Value{} || general == special;
}

/// A function that takes a monitor, or waits for a notification, is one of monitors.
bool agree(LockManager general, LockManager special) {
  return general == LockManager::none || general == special || general == LockManager::monitor;
}

/// Locks of a runtime are made of its way to wait for anything.
bool agree(WaitsFor general, WaitsFor special) {
  return general == WaitsFor::nothing || general == special || general == WaitsFor::anything;
}

/// All but `noise` and `way_to_wait`, which differ between functions of one library.
bool agree(const Roles& general, const Roles& special) {
  return agree(general.waits_for, special.waits_for) && agree(general.manager, special.manager) &&
         agree(general.runtime, special.runtime) && agree(general.work, special.work) &&
         agree(general.begins_thread, special.begins_thread) && agree(general.of_go, special.of_go) &&
         agree(general.of_java, special.of_java) && agree(general.has_no_task, special.has_no_task) &&
         agree(general.retakes_mutex, special.retakes_mutex) && agree(general.parks, special.parks);
}

}  // namespace

TEST_CASE("every function is classified by what it waits for, however it is spelt") {
  for (const Known& known : kWaits) {
    INFO(known.name);
    CHECK(static_cast<int>(roles(known.name).waits_for) == static_cast<int>(known.waits_for));
  }
}

TEST_CASE("no pattern is in the table twice, and all rows that match a name agree") {
  const std::vector<Row> rows = all_rows();
  std::set<std::string_view> patterns;
  for (const Row& row : rows) {
    INFO(row.pattern);
    CHECK(patterns.insert(row.pattern).second);
    CHECK_FALSE(row.roles == Roles{});
  }
  std::vector<std::string> names;
  for (const Known& known : kWaits) names.emplace_back(known.name);
  // What each row is for.
  for (const Row& row : rows) {
    std::string name(row.pattern);
    name.erase(std::remove(name.begin(), name.end(), '*'), name.end());
    names.push_back(name);
  }
  for (const std::string& name : names) {
    const Roles chosen = roles(name);
    for (const Row& row : rows) {
      if (!matches(row, name, simple_name(name))) continue;
      INFO(name << " is " << row.pattern);
      CHECK(agree(row.roles, chosen));
    }
  }
}

TEST_CASE("what begins every thread is left out of stacks") {
  for (const Row& row : all_rows()) {
    INFO(row.pattern);
    const Noise noise = row.roles.noise;
    if (row.roles.begins_thread)
      CHECK((noise == Noise::start || noise == Noise::body || noise == Noise::glue));
  }
  for (const char* const name :
       {"pfs_spawn_thread", "g_thread_proxy", "thread_native_entry(Thread*)", "Thread::call_run()",
        "JavaThread::run()", "__clone3", "__clone_internal", "__libc_start_main_impl", "start_thread",
        "std::sys::pal::unix::thread::Thread::new::thread_start",
        "std::sys::thread::unix::Thread::new::thread_start", "std::panicking::catch_unwind",
        "<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once",
        "std::execute_native_thread_routine(void*)"}) {
    INFO(name);
    CHECK(roles(name).begins_thread);
  }
  // Their template arguments tell what the thread does.
  const Roles invoker =
      roles("std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)()> > >::_M_run()");
  CHECK_FALSE(invoker.begins_thread);
  CHECK(invoker.noise == Noise::body);
}

TEST_CASE("a wait is for what the innermost function says, unless that is only how others wait") {
  CHECK(what({}) == WaitsFor::nothing);
  CHECK(what({"__futex_abstimed_wait_common", "__pthread_cond_wait_common", "Queue::pop()"}) ==
        WaitsFor::condition);
  // The mutex of a condition.
  CHECK(what({"__GI___lll_lock_wait", "__pthread_mutex_cond_lock", "__pthread_cond_wait"}) ==
        WaitsFor::mutex);
  // Rust's barrier, and Java's parking, are made of conditions.
  CHECK(what({"std::sys::sync::condvar::futex::Condvar::wait", "std::sync::barrier::Barrier::wait"}) ==
        WaitsFor::barrier);
  CHECK(what({"___pthread_cond_wait", "Parker::park(bool, long)", "Unsafe_Park"}) == WaitsFor::event);
  // A lock that is taken in a barrier is one.
  CHECK(what({"___pthread_mutex_lock", "boost::barrier::wait()"}) == WaitsFor::mutex);
  CHECK(what({"parking_lot_core::parking_lot::park", "parking_lot::raw_mutex::RawMutex::lock_slow"}) ==
        WaitsFor::mutex);
  CHECK(what({"parking_lot_core::parking_lot::park", "worker"}) == WaitsFor::anything);
  CHECK(what({"runtime.futex.abi0", "runtime.notesleep"}) == WaitsFor::anything);
}

TEST_CASE("runtimes are known by their functions and by their modules") {
  CHECK(roles("runtime.mcall").runtime == Runtime::go);
  CHECK(roles("runtime.mcall.abi0").runtime == Runtime::go);
  CHECK(roles("runtime.lock2").runtime == Runtime::none);
  CHECK(roles("runtime.lock2").of_go);
  CHECK(roles("runtime.stopm").has_no_task);
  CHECK(roles("tokio::runtime::park::Inner::park").runtime == Runtime::tokio);
  CHECK(roles("java.lang.VirtualThread::run").runtime == Runtime::java_virtual_threads);
  CHECK(roles("os::start_thread(Thread*)", "libjvm.so").runtime == Runtime::java);
  CHECK(roles("", "libjvm.so").of_java);
  CHECK(roles("erts_schedule", "beam.smp").runtime == Runtime::erlang);
  CHECK(roles("_start").outermost);
  CHECK(roles("runtime.rt0_go.abi0").outermost);
  CHECK_FALSE(roles("main").outermost);
}

TEST_CASE("lock managers and the work of runtimes and databases") {
  CHECK(takes_its_locks(roles("LockAcquireExtended").manager));
  CHECK(takes_its_locks(roles("lock_wait(que_thr_t*)").manager));
  CHECK_FALSE(takes_its_locks(roles("lock_wait").manager));
  CHECK(takes_its_locks(roles("PyEval_RestoreThread").manager));
  CHECK(takes_its_locks(roles("ObjectMonitor::enter_internal(JavaThread*)").manager));
  CHECK(roles("ObjectMonitor::wait(long, bool, JavaThread*)").manager == LockManager::monitor_wait);
  CHECK(roles("handler::ha_rnd_next(unsigned char*)").work == Work::table_scan);
  CHECK(roles("handler::ha_rnd_next(unsigned char*)").manager == LockManager::storage_engine);
  CHECK(roles("VM_G1CollectForAllocation::doit()").work == Work::garbage);
}

TEST_CASE("the threads of each collector of the Java virtual machine") {
  for (const char* const name : {"GC Thread#*", "GC Thread#0", "G1 Conc#0", "G1 Refine#*", "G1 Main Marker",
                                 "ZWorkerYoung#*", "ZDriverMajor", "Shenandoah GC T"}) {
    CHECK(is_garbage_collector(name));
  }
  for (const char* const name : {"VM Thread", "C2 CompilerThre", "pool-1-thread-*", "java", "G1"}) {
    CHECK_FALSE(is_garbage_collector(name));
  }
}

TEST_CASE("functions of libraries say so, and frames of the kernel have no roles") {
  CHECK(roles("read", "libc.so.6").noise == Noise::library);
  CHECK(roles("", "libc.so.6").noise == Noise::unnamed);
  CHECK(roles("", "app").noise == Noise::none);
  CHECK(roles("poll_once", "libc.so.6").way_to_wait);
  CHECK_FALSE(roles("poll_once", "app").way_to_wait);
  Frame kernel;
  kernel.kind = Frame::Kind::kernel;
  kernel.function = "futex_wait";
  CHECK(roles_of(kernel) == Roles{});
}
