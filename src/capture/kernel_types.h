// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace offwait {

/// What the BPF programs have to be told about the running kernel because CO-RE cannot ask for it
/// (bpf/kernel_differences.h).
struct KernelTypes {
  bool has_ring_buffer = false;    ///< needed
  bool has_task_iterator = false;  ///< needed
  bool sched_switch_has_prev_state = false;
  bool block_rq_has_queue = false;
  bool has_block_rq_merge = false;
  bool has_rdonly_cast = false;
  bool has_symbol_iterator = false;
  bool has_vm_unmapped_area = false;
  bool has_bpf_mem_alloc = false;                 ///< every program may use hash maps that grow
  std::int64_t preempt_count_from_run_queue = 0;  ///< x86 only
};

/// Address of a symbol in a text of the form of /proc/kallsyms; none if it has no such line.
/// Hidden addresses are all 0.
std::optional<std::uint64_t> symbol_address(std::string_view kallsyms, std::string_view name);

/// Reads /sys/kernel/btf/vmlinux, and what it does not say from /proc/kallsyms.
Result<KernelTypes> read_kernel_types();

}  // namespace offwait
