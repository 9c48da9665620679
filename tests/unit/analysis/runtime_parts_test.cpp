// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/runtime_parts.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace offwait;

namespace {

/// A trace with one stack of these functions.
Trace stack_of_functions(const std::vector<std::string>& functions) {
  Trace trace;
  trace.stacks.emplace_back();
  for (const std::string& function : functions) {
    trace.stacks[0].frames.push_back(static_cast<FrameId>(trace.frames.size()));
    Frame frame;
    frame.function = function;
    trace.frames.push_back(frame);
  }
  return trace;
}

RuntimeLock lock_in(const std::vector<std::string>& functions) {
  const Trace trace = stack_of_functions(functions);
  return runtime_lock(trace, trace.stacks[0]);
}

KnownWork work_in(const std::vector<std::string>& functions) {
  const Trace trace = stack_of_functions(functions);
  return known_work(trace, 0);
}

bool parked_in(const std::vector<std::string>& functions) {
  const Trace trace = stack_of_functions(functions);
  return is_parked_by_scheduler(trace, trace.stacks[0]);
}

}  // namespace

TEST_CASE("who waits to enter a monitor waits for a lock, who waits in it for a notice does not") {
  CHECK(lock_in({"pthread_cond_wait", "PlatformEvent::park()", "ObjectMonitor::EnterI(JavaThread*)"}) ==
        RuntimeLock::java_monitor);
  CHECK(lock_in({"PlatformEvent::park()", "ObjectMonitor::wait(long, bool, JavaThread*)"}) ==
        RuntimeLock::none);
  CHECK(lock_in({"Parker::park(bool, long)", "Unsafe_Park"}) == RuntimeLock::none);
}

TEST_CASE("CPython waits for its GIL where it goes on with Python code") {
  CHECK(lock_in({"pthread_cond_timedwait", "take_gil", "PyEval_RestoreThread"}) == RuntimeLock::cpython_gil);
  CHECK(lock_in({"pthread_cond_timedwait", "", "PyEval_RestoreThread"}) == RuntimeLock::cpython_gil);
  CHECK(lock_in({"sem_wait", "PyThread_acquire_lock_timed"}) == RuntimeLock::none);
}

TEST_CASE("Go parks a thread that has nothing to run; the locks of its runtime are locks") {
  CHECK(parked_in({"runtime.futex.abi0", "runtime.futexsleep", "runtime.notesleep", "runtime.stopm"}));
  CHECK(parked_in({"runtime.futex.abi0", "runtime.futexsleep", "runtime.notetsleep_internal"}));
  CHECK_FALSE(
      parked_in({"runtime.futex.abi0", "runtime.futexsleep", "runtime.lock2", "runtime.mheap.alloc"}));
  CHECK_FALSE(parked_in({"pthread_mutex_lock", "main"}));
}

TEST_CASE("the virtual machine's own thread collects garbage in some of its operations") {
  CHECK(work_in({"MarkSweep::follow_stack()", "VM_GenCollectForAllocation::doit()", "VMThread::run()"}) ==
        KnownWork::garbage);
  CHECK(work_in({"G1CollectedHeap::do_full_collection(bool)", "VM_G1CollectFull::doit()"}) ==
        KnownWork::garbage);
  CHECK(work_in({"ThreadDumper::dump()", "VM_ThreadDump::doit()", "VMThread::run()"}) == KnownWork::none);
}

TEST_CASE("MariaDB and PostgreSQL read whole tables in these functions, or check conditions of rows") {
  CHECK(work_in({"Item_func_like::val_bool()", "", "sub_select(JOIN*, st_join_table*, bool)"}) ==
        KnownWork::row_filter);
  CHECK(work_in({"Item_func_gt::val_bool()", "Item_cond_and::val_bool()", "FilterIterator::Read()"}) ==
        KnownWork::row_filter);
  // A routine checks conditions, too.
  CHECK(work_in({"Item_func_gt::val_bool()", "sp_instr_jump_if_not::exec_core(THD*, unsigned int*)"}) ==
        KnownWork::none);
  CHECK(work_in({"Item_func_md5::val_str(String*)", "sub_select"}) == KnownWork::none);
  CHECK(work_in({"handler::ha_rnd_next(unsigned char*)", "rr_sequential(READ_RECORD*)", "sub_select"}) ==
        KnownWork::table_scan);
  CHECK(work_in({"heap_getnextslot", "", "ExecScan"}) == KnownWork::table_scan);
  CHECK(work_in({"index_getnext_slot", "", "ExecScan"}) == KnownWork::none);
}

TEST_CASE("a sync takes CPU time, too") {
  Trace trace = stack_of_functions({"blk_mq_submit_bio", "__x64_sys_fsync", "do_syscall_64", "fsync", "log"});
  for (std::size_t i = 0; i < 3; ++i) trace.frames[i].kind = Frame::Kind::kernel;
  CHECK(known_work(trace, 0) == KnownWork::sync);
  CHECK(work_in({"__libc_fdatasync", "log"}) == KnownWork::sync);
  CHECK(work_in({"write", "log"}) == KnownWork::none);
}

TEST_CASE("transactions wait for rows with a condition, or for another transaction") {
  CHECK(lock_in({"pthread_cond_timedwait", "", "", "handler::ha_index_read_map(unsigned char*)"}) ==
        RuntimeLock::innodb_row);
  CHECK(lock_in({"pthread_cond_timedwait", "lock_wait(que_thr_t*)", "row_search_mvcc"}) ==
        RuntimeLock::innodb_row);
  CHECK(lock_in({"pthread_mutex_lock", "", "handler::ha_index_read_map(unsigned char*)"}) ==
        RuntimeLock::none);
  CHECK(lock_in({"WaitLatch", "ProcSleep", "LockAcquireExtended", "XactLockTableWait", "heap_update"}) ==
        RuntimeLock::postgres_row);
  CHECK(lock_in({"WaitLatch", "ProcSleep", "LockAcquireExtended", "LockRelationOid"}) == RuntimeLock::none);
}
