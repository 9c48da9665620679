// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/kernel.h"

#include <algorithm>
#include <array>

#include "code/one_of.h"

namespace offwait {

namespace {

/// `finish_task_switch.isra.0` → `finish_task_switch`
std::string_view without_suffix(std::string_view function) { return function.substr(0, function.find('.')); }

constexpr std::string_view kSwitch = "__schedule";

}  // namespace

bool is_kernel_entry(std::string_view function) {
  constexpr std::array<std::string_view, 9> kNames = {"do_syscall_64", "x64_sys_call",      "invoke_syscall",
                                                      "el0_svc",       "el0_svc_common",    "do_el0_svc",
                                                      "ret_from_fork", "ret_from_fork_asm", "kthread"};
  return is_one_of(function, kNames) || function.starts_with("entry_SYSCALL") ||
         function.starts_with("el0t_64_sync");
}

bool is_plumbing(std::string_view function) {
  constexpr std::array<std::string_view, 12> kFunctions = {"try_to_wake_up",
                                                           "wake_up_q",
                                                           "default_wake_function",
                                                           kSwitch,
                                                           "schedule",
                                                           "schedule_timeout",
                                                           "schedule_hrtimeout_range",
                                                           "io_schedule",
                                                           "io_schedule_timeout",
                                                           "preempt_schedule_irq",
                                                           "schedule_hrtimeout_range_clock",
                                                           "schedule_preempt_disabled"};
  constexpr std::array<std::string_view, 4> kPrefixes = {"__wake_up", "__x64_sys_", "__arm64_sys_",
                                                         "__do_sys_"};
  return is_kernel_entry(function) || is_one_of(function, kFunctions) ||
         starts_with_one_of(function, kPrefixes);
}

bool is_thread_switch(std::string_view function) { return function == kSwitch; }

bool leads_to_switch(std::string_view function) {
  return function.starts_with(kSwitch) || function.starts_with("schedule") ||
         function.find("_slowpath") != std::string_view::npos;
}

bool ends_switch(std::string_view function) { return function.starts_with("finish_task_switch"); }

bool is_recorder(std::string_view function) {
  constexpr std::array<std::string_view, 6> kOurs = {"__traceiter_",  "__bpf_trace_",
                                                     "bpf_trace_run", "bpf_prog_",
                                                     "bpf_get_stack", "__perf_event_task_sched_in"};
  return starts_with_one_of(function, kOurs);
}

bool waits_to_write(std::string_view function) {
  constexpr std::array<std::string_view, 7> kWrites = {
      "pipe_write",  "sk_stream_wait_memory", "sock_alloc_send_pskb", "unix_wait_for_peer",
      "n_tty_write", "unix_stream_sendmsg",   "unix_dgram_sendmsg"};
  return is_one_of(function, kWrites);
}

bool waits_for_any_request(std::string_view function) {
  return function == "read_events" || function == "io_cqring_wait";
}

bool turns_interrupts_on(std::string_view function) {
  constexpr std::array<std::string_view, 21> kNames = {
      // Locks that are held with interrupts off.
      "_raw_spin_unlock_irqrestore", "__raw_spin_unlock_irqrestore", "_raw_spin_unlock_irq",
      "_raw_read_unlock_irqrestore", "_raw_read_unlock_irq", "_raw_write_unlock_irqrestore",
      "_raw_write_unlock_irq", "raw_spin_rq_unlock_irq", "raw_spin_rq_unlock_irqrestore",
      // A switch of threads.
      "finish_task_switch", "schedule_tail",
      // Work that interrupts left.
      "do_softirq", "__local_bh_enable_ip", "_raw_spin_unlock_bh", "handle_softirqs", "__do_softirq",
      // The ends of interrupts, faults and system calls.
      "irqentry_exit", "irqentry_exit_to_user_mode", "syscall_exit_to_user_mode", "do_notify_resume",
      "arch_local_irq_restore"};
  const std::string_view name = without_suffix(function);
  return is_one_of(name, kNames) || name.starts_with("exit_to_user_mode") ||
         name.starts_with("__exit_to_user_mode");
}

std::string entered_by(const std::vector<Frame>& frames) {
  constexpr std::array<std::string_view, 9> kCalls = {"__x64_sys_",   "__ia32_sys_", "__arm64_sys_",
                                                      "__se_sys_",    "__do_sys_",   "__riscv_sys_",
                                                      "__s390x_sys_", "ksys_",       "do_sys_"};
  constexpr std::array<std::string_view, 6> kFaults = {
      "asm_exc_page_fault", "exc_page_fault", "do_page_fault", "do_user_addr_fault", "el0_da", "el0_ia"};
  const auto end = std::find_if(frames.begin(), frames.end(),
                                [](const Frame& frame) { return frame.kind != Frame::Kind::kernel; });
  for (auto frame = end; frame != frames.begin();) {
    --frame;
    if (is_kernel_entry(frame->function)) continue;
    const std::string_view name = without_suffix(frame->function);
    if (is_one_of(name, kFaults)) return "page faults";
    if (!starts_with_one_of(name, kCalls)) return "";
    return std::string(name.substr(name.find("sys_") + 4));
  }
  return "";
}

std::string_view to_string(KernelPause pause) {
  switch (pause) {
    case KernelPause::unknown:
      break;
    case KernelPause::dirty_pages:
      return "dirty-pages";
    case KernelPause::memory:
      return "memory";
    case KernelPause::io_limit:
      return "io-limit";
    case KernelPause::disk_queue:
      return "disk-queue";
  }
  return "unknown";
}

KernelPause pauses_in(std::string_view function) {
  constexpr std::array<std::string_view, 7> kMemory = {"mem_cgroup_handle_over_high",
                                                       "__mem_cgroup_handle_over_high",
                                                       "reclaim_throttle",
                                                       "try_to_free_mem_cgroup_pages",
                                                       "try_to_free_pages",
                                                       "congestion_wait",
                                                       "wait_iff_congested"};
  constexpr std::array<std::string_view, 4> kLimits = {"blkcg_maybe_throttle_current",
                                                       "__blkcg_maybe_throttle_current", "ioc_rqos_throttle",
                                                       "blkcg_iolatency_throttle"};
  constexpr std::array<std::string_view, 4> kQueues = {"wbt_wait", "rq_qos_wait", "blk_mq_get_tag",
                                                       "__blk_mq_get_tag"};
  const std::string_view name = without_suffix(function);
  if (name == "balance_dirty_pages") return KernelPause::dirty_pages;
  if (is_one_of(name, kMemory)) return KernelPause::memory;
  if (is_one_of(name, kLimits)) return KernelPause::io_limit;
  return is_one_of(name, kQueues) ? KernelPause::disk_queue : KernelPause::unknown;
}

bool is_page_fault(std::string_view function) {
  constexpr std::array<std::string_view, 7> kNames = {"asm_exc_page_fault", "exc_page_fault", "do_page_fault",
                                                      "async_page_fault",   "page_fault",     "do_mem_abort",
                                                      "filemap_fault"};
  return is_one_of(function, kNames);
}

bool syncs_file(std::string_view function) {
  const std::string_view name = without_suffix(function);
  return name == "vfs_fsync_range" || name.ends_with("_sync_file") || name.ends_with("_fsync");
}

std::string_view system_call(std::string_view function) {
  constexpr std::array<std::string_view, 8> kPrefixes = {
      "__x64_sys_", "__arm64_sys_", "__ia32_sys_", "__se_sys_", "__do_sys_", "ksys_", "SyS_", "sys_"};
  for (const std::string_view prefix : kPrefixes) {
    if (function.starts_with(prefix)) return function.substr(prefix.size());
  }
  return "";
}

}  // namespace offwait
