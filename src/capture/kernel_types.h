// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace offwait {

/// What user space tells the BPF programs about the running kernel, because CO-RE cannot ask for it
/// (bpf/kernel_differences.h).
struct KernelTypes {
  bool has_ring_buffer = false;    ///< offwait needs it
  bool has_task_iterator = false;  ///< offwait needs it
  bool sched_switch_has_prev_state = false;
  bool block_rq_has_queue = false;
  bool has_block_rq_merge = false;
  bool has_rdonly_cast = false;
  bool has_symbol_iterator = false;
  bool has_vm_unmapped_area = false;
  bool has_contention = false;                    ///< tracepoints contention_begin and contention_end
  bool has_bpf_mem_alloc = false;                 ///< all kinds of programs may use hash maps that grow
  bool has_socket_lengths = false;                ///< tracepoints sock_send_length and sock_recv_length
  bool has_tcp_functions = false;                 ///< what stands in for them on TCP connections
  bool has_unix_functions = false;                ///< and on those of unix sockets
  bool has_sched_exit = false;                    ///< threads may take their stacks after a wait
  std::uint32_t event_sched_in = 0;               ///< type of a function where they may, too; 0: none
  std::int64_t preempt_count_from_run_queue = 0;  ///< x86 only
};

/// The address of a symbol in text of the form of /proc/kallsyms; none if no line has it. Addresses that the
/// kernel hides are all 0.
std::optional<std::uint64_t> symbol_address(std::string_view kallsyms, std::string_view name);

/// Reads /sys/kernel/btf/vmlinux, and /proc/kallsyms for what the BTF lacks.
Result<KernelTypes> read_kernel_types();

}  // namespace offwait
