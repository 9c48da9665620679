// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "event/syscalls.h"
#include "recording_file/bytes.h"
#include "recording_file/module_names.h"
#include "recording_file/rows.h"
#include "recording_file/tables.h"

namespace offwait {
namespace {

bool is_rate(double rate) { return std::isfinite(rate) && rate > 0; }

/// Reads a row of two parts, a key and a value, into a map.
template <class Map, class Fields>
void read_into(ByteReader& in, Map& map, Fields fields) {
  typename Map::key_type key{};
  typename Map::mapped_type value{};
  fields(in, key, value);
  if (in.ok()) map.insert_or_assign(std::move(key), std::move(value));
}

/// Sorts rows that are in the order of the file. Of those of one thread the last one counts.
template <class Value>
void keep_last_rows(RowsOfThreads<Value>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto first = std::unique(rows.rbegin(), rows.rend(),
                                 [](const auto& a, const auto& b) { return a.first == b.first; });
  rows.erase(rows.begin(), first.base());
}

void read_stack(ByteReader& in, KernelRecording& kernel) {
  std::uint32_t id = 0;
  offwait_stack stack{};
  std::vector<std::uint64_t> pcs;
  stack_fields(in, id, stack, pcs);
  if (!in.ok() || pcs.size() > std::size(stack.pc) || !ByteReader::is_tid(stack.tgid) ||
      kernel.stacks.size() == kMostStacks)
    return in.fail();
  stack.frames = static_cast<std::uint16_t>(pcs.size());
  std::copy(pcs.begin(), pcs.end(), std::begin(stack.pc));
  kernel.stacks.insert_or_assign(id, stack);
}

void read_named_stack(ByteReader& in, NamedStacks& stacks) {
  std::uint32_t id = 0;
  std::uint8_t cut = 0;
  NamedStacks::Recorded stack;
  named_stack_fields(in, id, cut, stack.frames);
  if (!in.ok() || cut > kStackCuts) return in.fail();
  if (cut > 0) stack.cut = static_cast<StackCut>(cut - 1);
  stacks.recorded.insert_or_assign(id, std::move(stack));
}

}  // namespace

bool RowReader::add(std::string_view content) {
  ByteReader in(content);
  while (in.ok() && !in.left().empty()) {
    Table table{};
    std::uint32_t size = 0;
    in(table, size);
    const std::string_view fields = in.take(size);
    if (!in.ok() || !add_row(table, fields)) return false;
  }
  return in.ok();
}

bool RowReader::add_row(Table table, std::string_view bytes) {
  ByteReader in(bytes);
  KernelRecording& kernel = recording_.kernel;
  switch (table) {
    case Table::about: {
      AboutRecording about;
      about_fields(in, about);
      if (!in.ok() || about.command < 0) return false;
      kernel.counted_function = about.counted_function;
      recording_.about = std::move(about);
      knows_about_ = true;
      return true;
    }
    case Table::window: {
      Window window;
      window_fields(in, window);
      if (!in.ok() || window.begin > window.end || window.end == kNever) return false;
      kernel.window = window;
      has_window_ = true;
      return true;
    }
    case Table::mapping:
      add_mapping(in);
      return in.ok();
    case Table::thread_gone: {
      std::uint32_t tid = 0;
      in(tid);
      threads_.erase(tid);
      return in.ok();
    }
    default:
      return add_kernel_row(table, in) && add_device_row(table, in) && add_name_row(table, in);
  }
}

/// Rows of one process that come one after the other are one AddressSpace.
void RowReader::add_mapping(ByteReader& in) {
  std::int32_t tgid = 0;
  Mapping mapping;
  mapping_fields(in, tgid, mapping);
  if (!in.ok()) return;
  if (mappings_.empty() || mappings_.back().tgid != tgid) mappings_.push_back({tgid, {}});
  if (mapping.shared) mappings_.back().shared.push_back(mapping);
  if (mapping.executable) mappings_.back().mappings.push_back(std::move(mapping));
}

/// Tables that the kernel's records refer to.
bool RowReader::add_kernel_row(Table table, ByteReader& in) {
  KernelRecording& kernel = recording_.kernel;
  switch (table) {
    case Table::numbers:
      numbers_fields(in, kernel);
      break;
    case Table::recorder:
      recorder_fields(in, kernel);
      if (!ByteReader::is_tid(kernel.recorder)) in.fail();
      break;
    case Table::cost:
      cost_fields(in, kernel.cost);
      if (!(kernel.cost.most >= 0 && kernel.cost.most <= 1)) in.fail();
      break;
    case Table::thread: {
      std::uint32_t tid = 0;
      offwait_thread thread{};
      thread_fields(in, tid, thread);
      thread.syscall = native_syscall(recording_.about.architecture, thread.syscall);
      if (!ByteReader::is_tid(tid) || !ByteReader::is_tid(thread.tgid)) in.fail();
      if (in.ok()) threads_.insert_or_assign(tid, thread);
      break;
    }
    case Table::blocked:
      read_into(in, kernel.blocked,
                [](auto& c, auto& wait, auto& thread) { blocked_fields(c, wait, thread); });
      break;
    case Table::stack:
      read_stack(in, kernel);
      break;
    case Table::peer:
      read_into(in, kernel.peers, [](auto& c, auto& id, auto& peer) { peer_fields(c, id, peer); });
      break;
    case Table::unix_address:
      read_into(in, kernel.unix_addresses,
                [](auto& c, auto& id, auto& address) { unix_address_fields(c, id, address); });
      break;
    case Table::responses: {
      std::pair<offwait_responses_key, offwait_responses> one{};
      responses_fields(in, one.first, one.second);
      if (!ByteReader::is_tid(one.first.tid)) in.fail();
      responses_.insert_or_assign(
          {one.first.start_ns, std::uint64_t{one.first.tid} << 32 | one.first.address}, one);
      break;
    }
    case Table::calls: {
      std::pair<offwait_calls_key, offwait_calls> one{};
      calls_fields(in, one.first, one.second);
      if (!ByteReader::is_tid(one.first.tid)) in.fail();
      calls_.insert_or_assign({one.first.start_ns, one.first.tid}, one);
      break;
    }
    case Table::file:
      read_into(in, kernel.files, [](auto& c, auto& id, auto& file) { file_fields(c, id, file); });
      break;
    case Table::allowed_cpus:
      read_into(in, kernel.allowed_cpus,
                [](auto& c, auto& thread, auto& cpus) { allowed_cpus_fields(c, thread, cpus); });
      break;
    case Table::program:
      read_into(in, programs_,
                [](auto& c, auto& number, auto& program) { program_fields(c, number, program); });
      break;
    case Table::program_of: {
      std::pair<ThreadKey, std::uint32_t> one{};
      program_of_fields(in, one.first, one.second);
      if (in.ok()) kernel.program_of.push_back(one);
      break;
    }
    case Table::losses:
      in(kernel.loss);
      break;
    default:
      break;
  }
  return in.ok();
}

/// Tables about devices and CPUs.
bool RowReader::add_device_row(Table table, ByteReader& in) {
  KernelRecording& kernel = recording_.kernel;
  switch (table) {
    case Table::nics:
      in(kernel.nics);
      break;
    case Table::served_ports:
      in(kernel.served_ports);
      break;
    case Table::mounts:
      in(kernel.mounts);
      break;
    case Table::interrupts:
      in(kernel.interrupts);
      break;
    case Table::disks:
      in(kernel.disks);
      break;
    case Table::disks_below:
      in(kernel.disks_below);
      break;
    case Table::disk_counters: {
      KernelDiskCounters counters;
      disk_counters_fields(in, counters);
      if (in.ok()) kernel.disk_counters.push_back(counters);
      break;
    }
    case Table::nic_counters: {
      KernelNicCounters counters;
      nic_counters_fields(in, counters);
      if (in.ok()) kernel.nic_counters.push_back(std::move(counters));
      break;
    }
    case Table::cpus:
      cpus_fields(in, kernel);
      break;
    case Table::cpu_quotas:
      in(kernel.cpu_quotas);
      break;
    case Table::other_processes:
      in(kernel.other_processes);
      break;
    case Table::memory:
      in(kernel.memory);
      break;
    case Table::known_disk:
      read_into(in, recording_.devices.disks,
                [](auto& c, auto& name, auto& disk) { known_device_fields(c, name, disk); });
      break;
    case Table::known_nic:
      read_into(in, recording_.devices.nics,
                [](auto& c, auto& name, auto& nic) { known_device_fields(c, name, nic); });
      break;
    default:
      break;
  }
  return in.ok();
}

/// What places in code and data are called.
bool RowReader::add_name_row(Table table, ByteReader& in) {
  switch (table) {
    case Table::frame:
      read_into(in, frames_, [](auto& c, auto& number, auto& frame) { frame_fields(c, number, frame); });
      break;
    case Table::kernel_frame:
      read_into(in, kernel_frames_, [](auto& c, auto& address, auto& frames) {
        kernel_frame_fields(c, address, frames);
        if (frames.size() > kMostKernelFrames) c.fail();
      });
      break;
    case Table::named_stack:
      read_named_stack(in, recording_.stacks);
      break;
    case Table::named_spin:
      read_into(in, recording_.stacks.in_records,
                [](auto& c, auto& stack, auto& frames) { named_spin_fields(c, stack, frames); });
      break;
    case Table::build_id:
      read_into(in, recording_.build_ids,
                [](auto& c, auto& path, auto& id) { build_id_fields(c, path, id); });
      break;
    case Table::named_data:
      read_into(in, recording_.data,
                [](auto& c, auto& place, auto& name) { named_data_fields(c, place, name); });
      break;
    default:
      break;
  }
  return in.ok();
}

bool RowReader::finish_programs() {
  KernelRecording& kernel = recording_.kernel;
  for (auto& [number, program] : programs_) {
    if (number != kernel.programs.size()) return false;
    kernel.programs.push_back(std::move(program));
  }
  keep_last_rows(kernel.program_of);
  return std::all_of(kernel.program_of.begin(), kernel.program_of.end(),
                     [&kernel](const auto& one) { return one.second < kernel.programs.size(); });
}

bool RowReader::finish_names() {
  NamedStacks& stacks = recording_.stacks;
  for (auto& [number, frame] : frames_) {
    if (number != stacks.frames.size()) return false;
    stacks.frames.push_back(std::move(frame));
  }
  const auto known = [&stacks](const NamedStacks::Indices& indices) {
    return std::all_of(indices.begin(), indices.end(),
                       [&stacks](std::uint32_t index) { return index < stacks.frames.size(); });
  };
  return std::all_of(stacks.recorded.begin(), stacks.recorded.end(),
                     [&](const auto& one) { return known(one.second.frames); }) &&
         std::all_of(stacks.in_records.begin(), stacks.in_records.end(),
                     [&](const auto& one) { return known(one.second); });
}

bool RowReader::finish(NamedRecording& recording) {
  KernelRecording& kernel = recording_.kernel;
  kernel.threads.assign(threads_.begin(), threads_.end());
  for (const auto& one : responses_) kernel.responses.push_back(one.second);
  for (const auto& one : calls_) kernel.calls.push_back(one.second);
  const auto measured = [](const auto& one) {
    const std::optional<MeasuredDisk>& disk = one.second.measured;
    return !disk || (is_rate(disk->bytes_per_s) && is_rate(disk->ios_per_s) && is_day(disk->day));
  };
  const auto reported = [](const auto& one) { return is_rate(one.second.reported_bytes_per_s.value_or(1)); };
  const KnownDevices& devices = recording_.devices;
  if (!std::all_of(devices.disks.begin(), devices.disks.end(), measured) ||
      !std::all_of(devices.nics.begin(), devices.nics.end(), reported))
    return false;
  if (!finish_programs() || !finish_names()) return false;
  add_module_names(kernel, mappings_, kernel_frames_, recording_.stacks);
  add_shared_places(kernel, mappings_, recording_.data);
  recording = std::move(recording_);
  return true;
}

}  // namespace offwait
