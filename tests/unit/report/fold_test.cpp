// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold.h"

#include <catch2/catch.hpp>

#include "model/outline.h"
#include "report/canvas.h"
#include "report/frame.h"
#include "stacks.h"

using namespace offwait;
using Frames = std::vector<std::string>;

namespace {

Frames short_names(const std::vector<Frame>& frames) {
  Frames out;
  for (const Frame& frame : frames) out.push_back(short_frame(frame));
  return out;
}

}  // namespace

TEST_CASE("A short frame has neither offset nor module nor argument types") {
  CHECK(short_frame(frame("fdatasync+0x1b (libc.so.6)")) == "fdatasync");
  CHECK(short_frame(frame("ext4_sync_file+0x7f")) == "ext4_sync_file");
  CHECK(short_frame(frame("ns::do_commit(int)+0x1f (server) at src/db.cc:120")) ==
        "ns::do_commit (db.cc:120)");
  CHECK(short_frame(frame("nap(int) (inlined) (server) at src/db.cc:7")) == "nap (db.cc:7)");
  CHECK(short_frame(frame("S::get(char const*) const+0x1 (a.out)")) == "S::get");
  CHECK(short_frame(frame("F::operator()(int)+0x1 (a.out)")) == "F::operator()");
  CHECK(short_frame(frame("operator+(X, X)+0x1 (a.out)")) == "operator+");
  // DWARF's names of inlined functions have no arguments.
  CHECK(short_frame(frame("operator() (inlined) (a.out) at functor.cpp:8")) == "operator() (functor.cpp:8)");
  CHECK(narrow_frame(frame("Task::operator() (inlined) (a.out)")) == "Task::operator()");
  CHECK(short_frame(frame("run(std::function<void (int)>)+0x1 (a.out)")) == "run");
}

TEST_CASE("What has no function stays") {
  CHECK(short_frame(frame("[libfoo.so+0x1234]")) == "[libfoo.so+0x1234]");
  CHECK(short_frame(frame("")).empty());
  CHECK(short_frame(frame("(x)")) == "(x)");
  CHECK(short_frame(frame("+0x10")) == "+0x10");
  CHECK(short_frame(frame("weird (name) here")) == "weird (name) here");
}

TEST_CASE("A function is the same at all of its places") {
  CHECK(to_string(function_of(frame("ns::work(int)+0x1f (server) at src/db.cc:120"))) ==
        "ns::work(int) (server)");
  CHECK(to_string(function_of(frame("ns::work(int)+0x2f (server)"))) == "ns::work(int) (server)");
  CHECK(to_string(function_of(frame("do_futex+0x12"))) == "do_futex");
  CHECK(to_string(function_of(frame("nap(int) (inlined) (server) at src/db.cc:7"))) == "nap(int) (server)");
  CHECK(to_string(function_of(frame("[server+0x1200]+0x34"))) == "[server+0x1200]");
  CHECK(to_string(function_of(frame("[server+0x1234]"))) == "[server+0x1234]");
}

TEST_CASE("An outline of a method of Rust has the last words of its type and trait") {
  CHECK(outline("<std::sys::sync::mutex::futex::Mutex>::lock_contended", "<…>") == "<Mutex>::lock_contended");
  CHECK(outline("<r::Pool<alloc::vec::Vec<u8>> as r::Work>::work_item") == "<Pool as Work>::work_item");
  CHECK(outline("<<r::A as r::B>::Item as r::Work<u8>>::item") == "<Item as Work>::item");
  CHECK(outline("<&mut dyn r::Work + core::marker::Send>::item") == "<Work>::item");
  CHECK(outline("<[u8] as r::Work>::item") == "<… as Work>::item");
  CHECK(outline("<alloc::boxed::Box<dyn core::ops::FnOnce<()> + core::marker::Send> as "
                "core::ops::FnOnce<()>>::call_once") == "<Box as FnOnce>::call_once");
  CHECK(outline("<r::main::{closure#0} as r::Work>::item") == "<main::{closure#0} as Work>::item");
  CHECK(outline("r::run::<fn() -> u8>::{closure#1}", "<…>") == "r::run<…>::{closure#1}");
  CHECK(outline("r::run::<u8>") == "r::run");
  CHECK(outline("<r::Pool") == "");
}

TEST_CASE("An outline is a name without template arguments, argument and return types") {
  CHECK(outline("void ns::run<void (*)(int)>(Task const&)") == "ns::run");
  CHECK(outline("std::function<void ()>::operator()(int) const") == "std::function::operator()");
  CHECK(outline("bool operator< <int>(Box<int> const&)") == "operator<");
  CHECK(outline("Box<int>::operator bool() const") == "Box::operator bool");
  CHECK(outline("StubRoutines (1)") == "StubRoutines");
  CHECK(outline("net/http.(*conn).serve") == "net/http.(*conn).serve");
  CHECK(outline("f(Options&)::{lambda(int)#1}::operator()(int) const") == "f::{lambda(int)#1}::operator()");
  CHECK(outline("(anonymous namespace)::g(int)") == "(anonymous namespace)::g");
  CHECK(outline("Box<Pair<int, long> >::get()", "<…>") == "Box<…>::get");
  CHECK(outline("f((") == "f");
  CHECK(outline("Box<std::function<auto () -> int>, int>::get()") == "Box::get");
  CHECK(narrow_frame(frame("void ns::Pool<Task, 8>::run at src/pool.h:12")) ==
        "ns::Pool<…>::run (pool.h:12)");
  CHECK(narrow_frame(frame("main")) == "main");
}

TEST_CASE("What has no room loses template arguments first, then outer namespaces, and keeps what it is") {
  const auto fitting = [](const std::string& text, int columns) {
    return fitting_frame(frame(text), columns, [](std::string_view name) { return display_width(name); });
  };
  const std::string run = "void a::b::Pool<a::Task, 8>::run(int)+0x1 (x) at src/pool.h:12";
  CHECK(fitting(run, 80) == "void a::b::Pool<a::Task, 8>::run (pool.h:12)");
  CHECK(fitting(run, 40) == "a::b::Pool<…>::run (pool.h:12)");
  CHECK(fitting(run, 29) == "…b::Pool<…>::run (pool.h:12)");
  CHECK(fitting(run, 26) == "…Pool<…>::run (pool.h:12)");
  CHECK(fitting(run, 5) == "…run (pool.h:12)");
  CHECK(fitting("a::Box<int>::operator std::string() const+0x1 (x)", 32) ==
        "a::Box<…>::operator std::string");
  CHECK(fitting("a::Box<int>::operator std::string() const+0x1 (x)", 5) == "…Box<…>::operator std::string");
  CHECK(fitting("long_namespace::Map<int>::operator[](int)+0x1 (x)", 20) == "…Map<…>::operator[]");
  CHECK(fitting("a::f(a::Options&)::{lambda(a::T)#1}::operator()(int) const+0x1 (x)", 5) ==
        "…f::{lambda(a::T)#1}::operator()");
  CHECK(fitting("(anonymous namespace)::deep::function+0x1 (x)", 20) == "…deep::function");
  CHECK(fitting("[module_of_a_long_name+0x1234]", 5) == "[module_of_a_long_name+0x1234]");
}

TEST_CASE("Frames of libraries have no line") {
  const FoldedStack folded =
      fold(stack_of({"pthread_cond_wait+0x1 (libc.so.6) at nptl/pthread_cond_wait.c:618",
                     "std::mutex::lock() (inlined) (app) at std_mutex.h:100", "f+0x1 (app) at f.c:7"}),
           3, StackNoise::kept);
  CHECK(short_names(folded.user) ==
        std::vector<std::string>{"pthread_cond_wait", "std::mutex::lock (std_mutex.h:100)", "f (f.c:7)"});
}

TEST_CASE("Kernel frames are reduced to two that say something") {
  const FoldedStack folded = fold(stack_of({"__schedule+0x2f0", "schedule+0x5e", "io_schedule+0x46",
                                            "folio_wait_bit+0x1", "filemap_wait+0x1", "ext4_sync_file+0x1",
                                            "__x64_sys_fsync+0x1", "--", "fsync+0x1 (libc.so.6)", "main"}),
                                  6);
  CHECK(short_names(folded.kernel) == Frames{"folio_wait_bit", "filemap_wait"});
  CHECK(short_names(folded.user) == Frames{"fsync", "main"});
  CHECK(folded.left_out == 0);
}

TEST_CASE("Code without a name is told by the next function outward of its module that has one") {
  const std::vector<std::string> lines = {"read+0x1 (libc.so.6)", "[app+0x10]",         "[libx.so+0x20]",
                                          "[app+0x30]",           "app_main+0x1 (app)", "[app+0x40]"};
  CHECK(short_names(told_by_callers(stack_of(lines)).frames) ==
        Frames{"read", "[libx.so+0x20]", "app_main", "[app+0x40]"});
}

TEST_CASE("Frames beyond the limit are counted") {
  const FoldedStack folded = fold(stack_of({"a", "b", "c", "d"}), 3);
  CHECK(folded.kernel.empty());
  CHECK(short_names(folded.user) == Frames{"a", "b", "c"});
  CHECK(folded.left_out == 1);
}

TEST_CASE("A kernel thread's stack is shown without its plumbing, unless that is all") {
  CHECK(short_names(fold(stack_of({"__schedule", "io_schedule", "jbd2_commit", "kjournald2", "kthread",
                                   "ret_from_fork"}),
                         6)
                        .user) == Frames{"jbd2_commit", "kjournald2"});
  CHECK(short_names(fold(stack_of({"schedule", "kthread"}), 6).user) == Frames{"schedule"});
  CHECK(fold({}, 6).user.empty());
}

TEST_CASE("A cut is the last of the user frames, and counts as one") {
  const std::vector<std::string> lines = {"k+0x1", "--", "f", "start_thread+0x1 (libc.so.6)",
                                          "[cut: too deep]"};
  const FoldedStack all = fold(stack_of(lines), 3);
  CHECK(short_names(all.user) == Frames{"f", "start_thread"});
  CHECK(all.cut == StackCut::deep);
  CHECK(all.left_out == 0);
  const FoldedStack some = fold(stack_of(lines), 1);
  CHECK(short_names(some.user) == Frames{"f"});
  CHECK_FALSE(some.cut.has_value());
  CHECK(some.left_out == 2);
  const FoldedStack none = fold(stack_of({"schedule", "[cut: no mapping]"}), 3);
  CHECK(none.user.empty());
  CHECK(none.cut == StackCut::no_mapping);
}
