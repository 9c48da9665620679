// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold.h"

#include <catch2/catch.hpp>

#include "analysis/frame.h"

using namespace offwait;
using Frames = std::vector<std::string>;

TEST_CASE("A short frame has neither offset nor module nor argument types") {
  CHECK(short_frame("fdatasync+0x1b (libc.so.6)") == "fdatasync");
  CHECK(short_frame("ext4_sync_file+0x7f") == "ext4_sync_file");
  CHECK(short_frame("ns::do_commit(int)+0x1f (server) at src/db.cc:120") == "ns::do_commit (db.cc:120)");
  CHECK(short_frame("nap(int) (inlined) (server) at src/db.cc:7") == "nap (db.cc:7)");
  CHECK(short_frame("S::get(char const*) const+0x1 (a.out)") == "S::get");
  CHECK(short_frame("F::operator()(int)+0x1 (a.out)") == "F::operator()");
  CHECK(short_frame("operator+(X, X)+0x1 (a.out)") == "operator+");
  CHECK(short_frame("run(std::function<void (int)>)+0x1 (a.out)") == "run");
}

TEST_CASE("What has no function stays") {
  CHECK(short_frame("[libfoo.so+0x1234]") == "[libfoo.so+0x1234]");
  CHECK(short_frame("").empty());
  CHECK(short_frame("(x)") == "(x)");
  CHECK(short_frame("+0x10") == "+0x10");
  CHECK(short_frame("weird (name) here") == "weird (name) here");
}

TEST_CASE("A function is the same at all of its places") {
  CHECK(function_of("ns::work(int)+0x1f (server) at src/db.cc:120") == "ns::work(int) (server)");
  CHECK(function_of("ns::work(int)+0x2f (server)") == "ns::work(int) (server)");
  CHECK(function_of("do_futex+0x12") == "do_futex");
  CHECK(function_of("nap(int) (inlined) (server) at src/db.cc:7") == "nap(int) (server)");
  CHECK(function_of("[server+0x1200]+0x34") == "[server+0x1200]");
  CHECK(function_of("[server+0x1234]") == "[server+0x1234]");
  CHECK(function_of("--") == "--");
}

TEST_CASE("An outline is a name without template arguments, argument and return types") {
  CHECK(outline("void ns::run<void (*)(int)>(Task const&)") == "ns::run");
  CHECK(outline("std::function<void ()>::operator()(int) const") == "std::function::operator()");
  CHECK(outline("bool operator< <int>(Box<int> const&)") == "operator<");
  CHECK(outline("Box<int>::operator bool() const") == "Box::operator bool");
  CHECK(outline("f(Options&)::{lambda(int)#1}::operator()(int) const") == "f::{lambda(int)#1}::operator()");
  CHECK(outline("(anonymous namespace)::g(int)") == "(anonymous namespace)::g");
  CHECK(outline("Box<Pair<int, long> >::get()", "<…>") == "Box<…>::get");
  CHECK(outline("f((") == "f");
  CHECK(narrow_frame("void ns::Pool<Task, 8>::run (pool.h:12)") == "ns::Pool<…>::run (pool.h:12)");
  CHECK(narrow_frame("main") == "main");
}

TEST_CASE("Of libraries the line is not shown") {
  const FoldedStack folded =
      fold({"pthread_cond_wait+0x1 (libc.so.6) at nptl/pthread_cond_wait.c:618",
            "std::mutex::lock() (inlined) (app) at std_mutex.h:100", "f+0x1 (app) at f.c:7"},
           3, StackNoise::kept);
  CHECK(folded.user ==
        std::vector<std::string>{"pthread_cond_wait", "std::mutex::lock (std_mutex.h:100)", "f (f.c:7)"});
}

TEST_CASE("Kernel frames are reduced to two that say something") {
  const FoldedStack folded =
      fold({"__schedule+0x2f0", "schedule+0x5e", "io_schedule+0x46", "folio_wait_bit+0x1", "filemap_wait+0x1",
            "ext4_sync_file+0x1", "__x64_sys_fsync+0x1", "--", "fsync+0x1 (libc.so.6)", "main"},
           6);
  CHECK(folded.kernel == Frames{"folio_wait_bit", "filemap_wait"});
  CHECK(folded.user == Frames{"fsync", "main"});
  CHECK(folded.left_out == 0);
}

TEST_CASE("Frames beyond the limit are counted") {
  const FoldedStack folded = fold({"a", "b", "c", "d"}, 3);
  CHECK(folded.kernel.empty());
  CHECK(folded.user == Frames{"a", "b", "c"});
  CHECK(folded.left_out == 1);
}

TEST_CASE("A kernel thread's stack is shown without its plumbing, unless that is all") {
  CHECK(
      fold({"__schedule", "io_schedule", "jbd2_commit", "kjournald2", "kthread", "ret_from_fork"}, 6).user ==
      Frames{"jbd2_commit", "kjournald2"});
  CHECK(fold({"schedule", "kthread"}, 6).user == Frames{"schedule"});
  CHECK(fold({}, 6).user.empty());
}
