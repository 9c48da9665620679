// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/noise.h"

#include <catch2/catch.hpp>

#include "unit/report/stacks.h"

using namespace offwait;

namespace {

using Frames = std::vector<std::string>;

/// The texts of what is left of a stack of user frames, without its cut.
Frames left(const Frames& texts) {
  const Backtrace stack = stack_of(texts);
  Frames out;
  for (const Frame& frame : without_noise(stack.frames, stack.cut.has_value()))
    out.push_back(to_string(frame));
  return out;
}

}  // namespace

TEST_CASE("A C++ thread that waits for a condition: the wait and the program's own frames") {
  CHECK(
      left({"__futex_abstimed_wait_common64+0x1 (libc.so.6)", "__futex_abstimed_wait_common+0x1 (libc.so.6)",
            "__GI___futex_abstimed_wait_cancelable64+0x1 (libc.so.6)",
            "__pthread_cond_wait_common+0x1 (libc.so.6)", "___pthread_cond_wait+0x1 (libc.so.6)",
            "__gthread_cond_wait(pthread_cond_t*, pthread_mutex_t*)+0x1 (libstdc++.so.6)",
            "std::__condvar::wait(std::mutex&)+0x1 (libstdc++.so.6)",
            "std::condition_variable::wait(std::unique_lock<std::mutex>&)+0x1 (libstdc++.so.6)",
            "void std::condition_variable::wait<Queue<Task>::pop()::{lambda()#1}>("
            "std::unique_lock<std::mutex>&, Queue<Task>::pop()::{lambda()#1})+0x2 (app)",
            "Queue<Task>::pop()+0x12 (app) at src/queue.h:40", "worker(int)+0x2 (app)",
            "void std::__invoke_impl<void, void (*)(int), int>(std::__invoke_other, void (*&&)(int), "
            "int&&)+0x3 (app)",
            "std::__invoke_result<void (*)(int), int>::type std::__invoke<void (*)(int), int>(void "
            "(*&&)(int), int&&)+0x3 (app)",
            "void std::thread::_Invoker<std::tuple<void (*)(int), int> >::_M_invoke<0ul, 1ul>("
            "std::_Index_tuple<0ul, 1ul>)+0x1 (app)",
            "std::thread::_Invoker<std::tuple<void (*)(int), int> >::operator()()+0x1 (app)",
            "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int), int> > "
            ">::_M_run()+0x1 (app)",
            "execute_native_thread_routine+0x1 (libstdc++.so.6)", "start_thread+0x1 (libc.so.6)",
            "__clone3+0x1 (libc.so.6)"}) ==
      Frames{"void std::condition_variable::wait<Queue<Task>::pop()::{lambda()#1}>("
             "std::unique_lock<std::mutex>&, Queue<Task>::pop()::{lambda()#1})+0x2 (app)",
             "Queue<Task>::pop()+0x12 (app) at src/queue.h:40", "worker(int)+0x2 (app)"});
}

TEST_CASE("The outermost call that means something stays, shells around it do not") {
  CHECK(left({"__lll_lock_wait+0x1 (libc.so.6)", "___pthread_mutex_lock+0x2 (libc.so.6)",
              "__gthread_mutex_lock(pthread_mutex_t*)+0x1 (app)", "std::mutex::lock()+0x1 (app)",
              "std::lock_guard<std::mutex>::lock_guard(std::mutex&)+0x1 (app)", "Account::add(int)+0x9 (app)",
              "main+0x1 (app)"}) ==
        Frames{"std::mutex::lock()+0x1 (app)", "Account::add(int)+0x9 (app)", "main+0x1 (app)"});
  CHECK(left({"___pthread_mutex_lock+0x2 (libc.so.6)", "lock_it+0x9 (app)"}) ==
        Frames{"___pthread_mutex_lock+0x2 (libc.so.6)", "lock_it+0x9 (app)"});
  CHECK(left({"__lll_lock_wake+0x1 (libc.so.6)", "__GI___pthread_mutex_unlock_usercnt+0x2 (libc.so.6)",
              "pthread_mutex_unlock@@GLIBC_2.2.5+0x2 (libc.so.6)", "std::mutex::unlock()+0x1 (app)",
              "std::unique_lock<std::mutex>::unlock()+0x1 (app)",
              "std::unique_lock<std::mutex>::~unique_lock()+0x1 (app)", "f(int)+0x9 (app)"}) ==
        Frames{"std::mutex::unlock()+0x1 (app)", "f(int)+0x9 (app)"});
  // A lock inside of a library's other function: that function is what counts.
  CHECK(left({"__lll_lock_wait_private+0x1 (libc.so.6)", "malloc+0x2 (libc.so.6)", "f+0x1 (app)"}) ==
        Frames{"__lll_lock_wait_private+0x1 (libc.so.6)", "malloc+0x2 (libc.so.6)", "f+0x1 (app)"});
  // Other calls are what they are.
  CHECK(left({"read+0x1 (libc.so.6)", "f+0x1 (app)"}) == Frames{"read+0x1 (libc.so.6)", "f+0x1 (app)"});
}

TEST_CASE("What a program was given is called by it, not by the library") {
  CHECK(left({"fsync+0x1 (libc.so.6)", "Log::sync()+0x1 (app)",
              "std::_Function_handler<void (), Log::start()::{lambda()#1}>::_M_invoke("
              "std::_Any_data const&)+0x1 (app)",
              "std::function<void ()>::operator()() const+0x1 (app)", "Pool::run()+0x1 (app)",
              "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (Pool::*)(), Pool*> > "
              ">::_M_run()+0x1 (app)",
              "[libstdc++.so.6.0.30+0xd44a3]", "[libc.so.6+0x891f4]", "[libc.so.6+0x10989c]"}) ==
        Frames{"fsync+0x1 (libc.so.6)", "Log::sync()+0x1 (app)", "Pool::run()+0x1 (app)"});
}

TEST_CASE("main() and threads of C, Rust and Go begin with the program") {
  CHECK(left({"nanosleep+0x1 (libc.so.6)", "main+0x1 (app)", "__libc_start_call_main+0x1 (libc.so.6)",
              "__libc_start_main_impl+0x1 (libc.so.6)", "_start+0x1 (app)"}) ==
        Frames{"nanosleep+0x1 (libc.so.6)", "main+0x1 (app)"});
  CHECK(left({"app::work+0x1 (app)", "std::sys_common::backtrace::__rust_begin_short_backtrace+0x1 (app)",
              "std::thread::Builder::spawn_unchecked_::{{closure}}+0x1 (app)",
              "core::ops::function::FnOnce::call_once{{vtable.shim}}+0x1 (app)",
              "std::sys::unix::thread::Thread::new::thread_start+0x1 (app)", "start_thread+0x1 (libc.so.6)",
              "clone3+0x1 (libc.so.6)"}) == Frames{"app::work+0x1 (app)"});
  CHECK(left({"main.worker+0x1 (app)", "runtime.goexit.abi0+0x1 (app)"}) == Frames{"main.worker+0x1 (app)"});
}

TEST_CASE("What starts a thread stays where the program's function was inlined into it") {
  const std::string run =
      "std::thread::_State_impl<std::thread::_Invoker<std::tuple<app::serve()::{lambda()#1}> > "
      ">::_M_run()+0x61 "
      "(app)";
  CHECK(left({"[libc.so.6+0x85f16]", "[libc.so.6+0x90d90]", run, "[libstdc++.so.6.0.30+0xd44a3]",
              "[libc.so.6+0x891f5]", "[libc.so.6+0x1098ec]"}) == Frames{"[libc.so.6+0x90d90]", run});
  CHECK(left({"sem_wait+0x1 (libc.so.6)",
              "std::thread::_Invoker<std::tuple<app::serve()::{lambda()#1}> >::operator()()+0x1 (app)", run,
              "[libc.so.6+0x891f5]"}) ==
        Frames{"sem_wait+0x1 (libc.so.6)",
               "std::thread::_Invoker<std::tuple<app::serve()::{lambda()#1}> >::operator()()+0x1 (app)"});
  CHECK(left({"read+0x1 (libc.so.6)", run}) == Frames{"read+0x1 (libc.so.6)", run});
  CHECK(left({"read+0x1 (libc.so.6)", "f+0x1 (app)", run}) == Frames{"read+0x1 (libc.so.6)", "f+0x1 (app)"});
}

TEST_CASE("Functions in which every thread of a library or a runtime begins are left out") {
  const Frames own = {"pthread_mutex_lock+0x1 (libc.so.6)", "work+0x1 (app)"};
  for (const Frames& begins :
       {Frames{"pfs_spawn_thread+0x1 (mariadbd)"}, Frames{"g_thread_proxy+0x1 (libglib-2.0.so.0)"},
        Frames{"JavaThread::run()+0x1 (libjvm.so)", "Thread::call_run()+0x1 (libjvm.so)",
               "thread_native_entry(Thread*)+0x1 (libjvm.so)"},
        Frames{"std::sys::thread::unix::Thread::new::thread_start+0x1 (app)"}}) {
    Frames frames = own;
    frames.insert(frames.end(), begins.begin(), begins.end());
    frames.insert(frames.end(), {"start_thread+0x1 (libc.so.6)", "clone3+0x1 (libc.so.6)"});
    CHECK(left(frames) == own);
  }
}

TEST_CASE("Names that only look alike are the program's") {
  const Frames own = {"start+0x1 (app)",
                      "my::thread::_M_run()+0x1 (app)",
                      "app::std::mutex::lock()+0x1 (app)",
                      "void apply<std::function<void ()> >(std::mutex&)+0x1 (app)",
                      "operator<<(std::ostream&, std::mutex const&)+0x1 (app)",
                      "(anonymous namespace)::std_invoke()+0x1 (app)",
                      "bool operator< <int>(Box<int> const&, Box<int> const&)+0x1 (app)",
                      "Box<int>::operator bool() const+0x1 (app)",
                      "restart_thread+0x1 (app)"};
  CHECK(left(own) == own);
}

TEST_CASE("Something always stays, and a cut is not the start of a thread") {
  CHECK(left({}).empty());
  CHECK(left({"[libc.so.6+0x85f16]"}) == Frames{"[libc.so.6+0x85f16]"});
  CHECK(left({"[libc.so.6+0x85f16]", "pthread_cond_wait+0x1 (libc.so.6)"}) ==
        Frames{"pthread_cond_wait+0x1 (libc.so.6)"});
  CHECK(left({"std::function<void ()>::operator()() const+0x1 (app)"}) ==
        Frames{"std::function<void ()>::operator()() const+0x1 (app)"});
  CHECK(left({"start_thread+0x1 (libc.so.6)", "clone3+0x1 (libc.so.6)"}) ==
        Frames{"start_thread+0x1 (libc.so.6)"});
  CHECK(left({"f+0x1 (app)", "[libc.so.6+0x1]", "[cut: no mapping]"}) ==
        Frames{"f+0x1 (app)", "[libc.so.6+0x1]"});
  CHECK(left({"std::function<void ()>::operator()() const+0x1 (app)", "[cut: no mapping]"}).empty());
  // Names come from the program: unbalanced ones are nobody's.
  CHECK(left({"<<<<((}}>>", "f<", "}"}) == Frames{"<<<<((}}>>", "f<", "}"});
}
