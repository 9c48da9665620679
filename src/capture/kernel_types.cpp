// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/kernel_types.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <bpf/btf.h>
#include <unistd.h>

#include "base/read_file.h"

namespace offwait {
namespace {

struct FreeBtf {
  void operator()(btf* types) const { btf__free(types); }
};

/// How many arguments the tracepoint `name` has; -1 if the kernel does not have it. The tracepoint's type is
/// a pointer to a function whose first argument is the tracepoint's private data.
int tracepoint_arguments(const btf* types, const char* name) {
  const std::string type_name = std::string("btf_trace_") + name;
  const int id = btf__find_by_name_kind(types, type_name.c_str(), BTF_KIND_TYPEDEF);
  if (id < 0) return -1;
  const btf_type* type = btf__type_by_id(types, static_cast<__u32>(id));
  while (type != nullptr && (btf_is_typedef(type) || btf_is_ptr(type)))
    type = btf__type_by_id(types, type->type);
  return type != nullptr && btf_is_func_proto(type) ? btf_vlen(type) - 1 : -1;
}

bool has_enumerator(const btf* types, const char* enumeration, std::string_view name) {
  const int id = btf__find_by_name_kind(types, enumeration, BTF_KIND_ENUM);
  if (id < 0) return false;
  const btf_type* type = btf__type_by_id(types, static_cast<__u32>(id));
  const struct btf_enum* values = btf_enum(type);
  for (__u16 i = 0; i < btf_vlen(type); ++i) {
    if (btf__name_by_offset(types, values[i].name_off) == name) return true;
  }
  return false;
}

#if defined(__x86_64__)
/// The addresses of the kernel's per-CPU variables, relative to each other.
class PerCpuVariables {
 public:
  /// pahole before 1.18 (Debian's 5.10) left variables out of the BTF, so their addresses come from the
  /// symbols.
  explicit PerCpuVariables(const btf* types) : types_(types) {
    const int section = btf__find_by_name_kind(types, ".data..percpu", BTF_KIND_DATASEC);
    if (section >= 0) {
      section_ = btf__type_by_id(types, static_cast<__u32>(section));
      return;
    }
    symbols_ = read_file("/proc/kallsyms");
  }

  std::optional<std::int64_t> place(std::string_view variable) const {
    if (section_ == nullptr) {
      const auto address = symbol_address(symbols_, variable);
      return address ? std::optional(static_cast<std::int64_t>(*address)) : std::nullopt;
    }
    const btf_var_secinfo* entries = btf_var_secinfos(section_);
    for (__u16 i = 0; i < btf_vlen(section_); ++i) {
      const btf_type* entry = btf__type_by_id(types_, entries[i].type);
      if (btf__name_by_offset(types_, entry->name_off) == variable) return entries[i].offset;
    }
    return std::nullopt;
  }

 private:
  const btf* types_;
  const btf_type* section_ = nullptr;
  std::string symbols_;
};

std::optional<std::int64_t> member_offset(const btf* types, const char* structure, const char* member) {
  const int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
  if (id < 0) return std::nullopt;
  // The members of pcpu_hot are wrapped in anonymous structs and unions.
  const auto find = [types, member](const auto& self, const btf_type* type) -> std::optional<std::int64_t> {
    const btf_member* members = btf_members(type);
    for (__u16 i = 0; i < btf_vlen(type); ++i) {
      const std::int64_t offset = btf_member_bit_offset(type, i) / 8;
      const std::string_view name = btf__name_by_offset(types, members[i].name_off);
      if (name == member) return offset;
      const btf_type* inner = btf__type_by_id(types, members[i].type);
      if (name.empty() && btf_is_composite(inner)) {
        if (const auto found = self(self, inner)) return offset + *found;
      }
    }
    return std::nullopt;
  };
  return find(find, btf__type_by_id(types, static_cast<__u32>(id)));
}

std::optional<std::int64_t> preempt_count_place(const btf* types, const PerCpuVariables& variables) {
  if (const auto place = variables.place("__preempt_count")) return place;
  const auto hot = variables.place("pcpu_hot");
  const auto member = member_offset(types, "pcpu_hot", "preempt_count");
  if (hot && member) return *hot + *member;
  return std::nullopt;
}
#endif

}  // namespace

std::optional<std::uint64_t> symbol_address(std::string_view kallsyms, std::string_view name) {
  // Lines are "0000000000033440 A runqueues"; for a module's symbol "\t[module]" follows.
  const std::string end = " " + std::string(name) + "\n";
  const std::size_t found = kallsyms.find(end);
  if (found == std::string_view::npos) return std::nullopt;
  const std::size_t newline = kallsyms.rfind('\n', found);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::uint64_t address = 0;
  const char* const line = kallsyms.data() + begin;
  const auto [rest, error] = std::from_chars(line, line + (found - begin), address, 16);
  if (error != std::errc() || *rest != ' ') return std::nullopt;
  return address;
}

Result<KernelTypes> read_kernel_types() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return Error{
        "this kernel has no BTF (/sys/kernel/btf/vmlinux): offwait needs Linux 5.8 or newer built with "
        "CONFIG_DEBUG_INFO_BTF=y"};
  }
  const std::unique_ptr<btf, FreeBtf> types(btf__load_vmlinux_btf());
  if (!types) {
    return Error{std::string("cannot read the kernel's BTF (/sys/kernel/btf/vmlinux): ") +
                 std::strerror(errno)};
  }

  KernelTypes result;
  result.has_ring_buffer = has_enumerator(types.get(), "bpf_map_type", "BPF_MAP_TYPE_RINGBUF");
  result.has_task_iterator = btf__find_by_name_kind(types.get(), "bpf_iter__task", BTF_KIND_STRUCT) > 0;
  result.has_symbol_iterator = btf__find_by_name_kind(types.get(), "bpf_iter__ksym", BTF_KIND_STRUCT) > 0;
  result.sched_switch_has_prev_state = tracepoint_arguments(types.get(), "sched_switch") >= 4;
  result.block_rq_has_queue = tracepoint_arguments(types.get(), "block_rq_issue") >= 2;
  result.has_block_rq_merge = tracepoint_arguments(types.get(), "block_rq_merge") >= 0;
  result.has_rdonly_cast = btf__find_by_name_kind(types.get(), "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
  result.has_vm_unmapped_area = tracepoint_arguments(types.get(), "vm_unmapped_area") >= 0;
  result.has_contention = tracepoint_arguments(types.get(), "contention_begin") >= 2 &&
                          tracepoint_arguments(types.get(), "contention_end") >= 1;
  result.has_bpf_mem_alloc = btf__find_by_name_kind(types.get(), "bpf_mem_alloc", BTF_KIND_STRUCT) > 0;
  const auto has_function = [&types](const char* name) {
    return btf__find_by_name_kind(types.get(), name, BTF_KIND_FUNC) > 0;
  };
  result.has_socket_lengths = tracepoint_arguments(types.get(), "sock_send_length") >= 3 &&
                              tracepoint_arguments(types.get(), "sock_recv_length") >= 3;
  result.has_tcp_functions =
      has_function("tcp_sendmsg") && tracepoint_arguments(types.get(), "tcp_rcv_space_adjust") >= 1;
  result.has_unix_functions = has_function("unix_stream_sendmsg") && has_function("unix_stream_read_actor");
  result.has_sched_exit =
      tracepoint_arguments(types.get(), "sched_exit_tp") >= 1 && has_function("bpf_local_irq_save");
  const int event_sched_in = btf__find_by_name_kind(types.get(), "__perf_event_task_sched_in", BTF_KIND_FUNC);
  result.event_sched_in = static_cast<std::uint32_t>(std::max(event_sched_in, 0));
#if defined(__x86_64__)
  const PerCpuVariables variables(types.get());
  const auto run_queue = variables.place("runqueues");
  const auto preempt_count = preempt_count_place(types.get(), variables);
  if (!run_queue || !preempt_count || *run_queue == *preempt_count) {
    return Error{
        "neither this kernel's BTF nor /proc/kallsyms says where its per-CPU variables are (runqueues, "
        "preempt_count), without which interrupts cannot be told from threads: it was built with pahole "
        "older "
        "than 1.18; run offwait with CAP_SYSLOG, too, and set kernel.kptr_restrict to 0 or 1 if it is 2"};
  }
  result.preempt_count_from_run_queue = *preempt_count - *run_queue;
#endif
  return result;
}

}  // namespace offwait
