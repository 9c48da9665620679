// SPDX-License-Identifier: GPL-2.0-or-later
// The runtimes of languages.
#include <array>

#include "code/rows.h"

namespace offwait {

namespace {

using enum Noise;
using W = WaitsFor;
using M = LockManager;

constexpr Roles kGo{.runtime = Runtime::go, .of_go = true};
constexpr Roles kGoBottom{.runtime = Runtime::go, .outermost = true, .of_go = true};
constexpr Roles kGoStart{.noise = start, .runtime = Runtime::go, .outermost = true, .of_go = true};
constexpr Roles kNoGoroutine{.has_no_task = true, .of_go = true};
constexpr Roles kPark{.waits_for = W::event, .way_to_wait = true, .parks = true};
constexpr Roles kMonitorPark{
    .waits_for = W::event, .manager = M::monitor_park, .way_to_wait = true, .parks = true};
constexpr Roles kGarbage{.work = Work::garbage};

constexpr std::array kRowsOfRuntimes = {
    // Rust.
    Row{"*::thread_start*", kThreadStart},
    Row{"*__rust_begin_short_backtrace*", {.noise = body, .begins_thread = true}},
    Row{"std::thread::Builder*", {.noise = body, .begins_thread = true}},
    Row{"std::rt::*", kThreadStart},
    Row{"std::panic*", kThreadStart},
    Row{"core::ops::function::FnOnce::call_once*", {.noise = glue, .begins_thread = true}},
    Row{"*FnOnce>::call_once*", {.noise = glue, .begins_thread = true}},
    Row{"*Mutex>::lock*", {none, W::mutex}},
    Row{"*RawMutex*", {none, W::mutex}},
    Row{"*RwLock*", {none, W::rwlock}},
    Row{"*Condvar*", {none, W::condition}},
    Row{"std::thread::park*", {none, W::anything}},
    Row{"*::thread::park*", {none, W::anything}},
    Row{"*::Parker::park*", {none, W::anything}},
    Row{"tokio::runtime::*", {.runtime = Runtime::tokio}},
    Row{"tokio::runtime::*Parker::park*", {.waits_for = W::anything, .runtime = Runtime::tokio}},

    // Go. `runtime.mcall.abi0` is the same function.
    Row{"runtime.mcall", kGoBottom},
    Row{"runtime.mcall.*", kGoBottom},
    Row{"runtime.goexit", kGoStart},
    Row{"runtime.goexit.*", kGoStart},
    Row{"runtime.goexit*", {.noise = start, .of_go = true}},
    Row{"runtime.mstart", kGoStart},
    Row{"runtime.mstart.*", kGoStart},
    Row{"runtime.mstart*", {.noise = start, .of_go = true}},
    Row{"runtime.rt0_go", {.outermost = true, .of_go = true}},
    Row{"runtime.rt0_go.*", {.outermost = true, .of_go = true}},
    Row{"runtime.netpoll", kGo},
    Row{"runtime.netpoll.*", kGo},
    Row{"runtime.systemstack", kGo},
    Row{"runtime.systemstack.*", kGo},
    Row{"runtime.futex",
        {.waits_for = W::anything, .runtime = Runtime::go, .way_to_wait = true, .of_go = true}},
    Row{"runtime.futex.*",
        {.waits_for = W::anything, .runtime = Runtime::go, .way_to_wait = true, .of_go = true}},
    Row{"runtime.futex*", {.waits_for = W::anything, .way_to_wait = true, .of_go = true}},
    Row{"runtime.notesleep*", kNoGoroutine},
    Row{"runtime.notetsleep*", kNoGoroutine},
    Row{"runtime.mPark*", kNoGoroutine},
    Row{"runtime.stopm*", kNoGoroutine},
    Row{"runtime.*", {.of_go = true}},
    Row{"threadentry", {.of_go = true}},
    Row{"crosscall1", {.of_go = true}},
    Row{"crosscall_amd64", {.of_go = true}},

    // Java.
    Row{"thread_native_entry", kThreadStart},
    Row{"Thread::call_run", kThreadStart},
    Row{"JavaThread::run", kThreadStart},
    Row{"*PlatformEvent::park*", kMonitorPark},
    Row{"Parker::park*", kPark},
    Row{"*Unsafe_Park*", kPark},
    Row{"*PlatformMonitor::wait*", {.way_to_wait = true}},
    Row{"*ObjectMonitor::enter*", {.manager = M::monitor_enter}},
    Row{"*ObjectMonitor::EnterI*", {.manager = M::monitor_enter}},
    Row{"*ObjectMonitor::wait*", {.manager = M::monitor_wait}},
    Row{"*ObjectMonitor::*", {.manager = M::monitor}},
    Row{"*LockSupport*", {none, W::event}},
    Row{"*java.util.concurrent.locks.LockSupport*", {.waits_for = W::event, .of_java = true}},
    Row{"*java.util.concurrent.locks.*", {.of_java = true}},
    Row{"*jdk.internal.misc.Unsafe*", {.of_java = true}},
    Row{"Interpreter", {.of_java = true}},
    Row{"*Runtime1 stub*", {.of_java = true}, NameForm::whole},
    Row{"*StubRoutines (*", {.of_java = true}, NameForm::whole},
    Row{"*java/lang/VirtualThread*", {.runtime = Runtime::java_virtual_threads}},
    Row{"*java.lang.VirtualThread*", {.runtime = Runtime::java_virtual_threads}},
    Row{"*VM_GenCollect*", kGarbage},
    Row{"*VM_SerialCollect*", kGarbage},
    Row{"*VM_CollectFor*", kGarbage},
    Row{"*VM_ParallelGC*", kGarbage},
    Row{"*VM_G1Collect*", kGarbage},
    Row{"*VM_G1Pause*", kGarbage},
    Row{"*VM_Shenandoah*", kGarbage},

    // Python.
    Row{"*take_gil*", {.manager = M::python}},
    Row{"*PyEval_RestoreThread*", {.manager = M::python}},
    Row{"*PyEval_AcquireThread*", {.manager = M::python}},

    // Erlang.
    Row{"*ethr_event_twait*", {none, W::event}},
};

}  // namespace

std::span<const Row> rows_of_runtimes() { return kRowsOfRuntimes; }

}  // namespace offwait
