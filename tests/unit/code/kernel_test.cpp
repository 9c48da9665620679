// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/kernel.h"

#include <catch2/catch.hpp>
#include <string>

#include "code/calls.h"
#include "code/lock_words.h"

using namespace offwait;

namespace {

Frame frame_of(Frame::Kind kind, const std::string& function) {
  Frame frame;
  frame.kind = kind;
  frame.function = function;
  return frame;
}

std::string kernel_call(const std::string& function) {
  return std::string(call_of(frame_of(Frame::Kind::kernel, function)));
}

std::string user_call(const std::string& function) {
  return std::string(call_of(frame_of(Frame::Kind::user, function)));
}

}  // namespace

TEST_CASE("functions of file systems that sync a file are known by how they are called") {
  for (const char* const name : {"ext4_sync_file", "ext4_sync_file.constprop.0", "xfs_file_fsync",
                                 "btrfs_sync_file", "blkdev_fsync", "fuse_fsync", "vfs_fsync_range"}) {
    CHECK(syncs_file(name));
  }
  for (const char* const name :
       {"ext4_file_write_iter", "io_schedule", "sync_filesystem", "fsync_buffers_list"}) {
    CHECK_FALSE(syncs_file(name));
  }
}

TEST_CASE("the kernel's plumbing says nothing about a wait") {
  CHECK(is_plumbing("schedule_timeout"));
  CHECK(is_plumbing("do_syscall_64"));
  CHECK(is_plumbing("__x64_sys_futex"));
  CHECK(is_plumbing("__wake_up_common"));
  CHECK_FALSE(is_plumbing("futex_wait_queue"));
  CHECK(is_kernel_entry("ret_from_fork_asm"));
  CHECK_FALSE(is_kernel_entry("schedule"));
  CHECK(is_thread_switch("__schedule"));
  CHECK(leads_to_switch("rwsem_down_read_slowpath"));
  CHECK(ends_switch("finish_task_switch.isra.0"));
  CHECK(is_recorder("bpf_prog_1a2b_on_switch"));
  CHECK(waits_to_write("pipe_write"));
  CHECK(waits_for_any_request("io_cqring_wait"));
}

TEST_CASE("a system call has one name, whatever libc and the kernel call it") {
  CHECK(kernel_call("__x64_sys_pwrite64") == "pwrite");
  CHECK(kernel_call("ksys_read") == "read");
  CHECK(kernel_call("asm_exc_page_fault") == "page fault");
  CHECK(kernel_call("vfs_read").empty());
  CHECK(user_call("__libc_pwrite64") == "pwrite");
  CHECK(user_call("__GI___fdatasync") == "fdatasync");
  CHECK(user_call("flush").empty());
  CHECK(action_of("fdatasync") == FileAction::sync);
  CHECK(action_of("page fault") == FileAction::read);
  CHECK(action_of("poll") == FileAction::other);
  CHECK(without_alias("__libc_sendmsg") == "sendmsg");
  CHECK(without_alias("__") == "");
}

TEST_CASE("functions that are called after locks, in any spelling") {
  for (const char* const name : {"wr_lock", "tryLock", "port::Mutex::Acquire()", "Sem_Down"}) {
    INFO(name);
    CHECK(is_about_locks(name));
  }
  for (const char* const name : {"block", "clock", "Cache<Lock>::Lookup(Mutex&)", "unlocked"}) {
    INFO(name);
    CHECK_FALSE(is_about_locks(name));
  }
  CHECK(takes_a_lock("LockAcquireExtended"));
  CHECK_FALSE(takes_a_lock("wait_for_item"));
  CHECK(is_nameless_body("main::{lambda()#1}::operator()() const"));
}

TEST_CASE("the kernel's functions say why it holds threads back") {
  CHECK(pauses_in("balance_dirty_pages") == KernelPause::dirty_pages);
  CHECK(pauses_in("balance_dirty_pages.isra.0") == KernelPause::dirty_pages);
  CHECK(pauses_in("reclaim_throttle") == KernelPause::memory);
  CHECK(pauses_in("ioc_rqos_throttle") == KernelPause::io_limit);
  CHECK(pauses_in("rq_qos_wait") == KernelPause::disk_queue);
  CHECK(pauses_in("generic_perform_write") == KernelPause::unknown);
}
