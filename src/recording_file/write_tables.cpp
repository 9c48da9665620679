// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstring>
#include <functional>
#include <span>

#include "recording_file/bytes.h"
#include "recording_file/rows.h"
#include "recording_file/tables.h"

namespace offwait {
namespace {

/// A section is ended when it has this many bytes.
constexpr std::size_t kSectionBytes = std::size_t{4} << 20;
constexpr std::size_t kRowHeaderBytes = sizeof(Table) + sizeof(std::uint32_t);

/// Calls add(entry) for the entries of `now` that `before` lacks or has with another value. Both are in
/// order. Afterwards `before` equals `now`.
template <class Entries, class Add>
void add_changed(const Entries& now, Entries& before, Add add) {
  auto known = before.begin();
  for (const auto& one : now) {
    while (known != before.end() && known->first < one.first) ++known;
    if (known == before.end() || known->first != one.first || known->second != one.second) add(one);
  }
  before = now;
}

}  // namespace

/// Appends the row in the buffer, and fills in its size, which was not known when the row was begun. A row
/// that is longer than a section is left out, because no reader would take it. Only the list of mounts can
/// be: a hundred thousand, with long names.
void RowWriter::append_buffer() {
  if (buffer_.size() > kMostSectionBytes) return;
  const auto size = static_cast<std::uint32_t>(buffer_.size() - kRowHeaderBytes);
  std::memcpy(buffer_.data() + sizeof(Table), &size, sizeof(size));
  if (sections_.empty() || sections_.back().size() + buffer_.size() > kSectionBytes) sections_.emplace_back();
  sections_.back() += buffer_;
}

template <class Fill>
void RowWriter::new_row(Table table, Fill fill) {
  buffer_.clear();
  ByteWriter out(buffer_);
  out(table, std::uint32_t{0});
  fill(out);
  append_buffer();
}

template <class Fill>
void RowWriter::row(Table table, Fill fill) {
  buffer_.clear();
  ByteWriter out(buffer_);
  out(table, std::uint32_t{0});
  fill(out);
  // A row without a key is the only one of its table.
  std::string key = buffer_.substr(0, out.key_end());
  if (key.empty()) key = buffer_.substr(0, sizeof(Table));
  const std::size_t hash = std::hash<std::string_view>()(buffer_);
  const auto [known, added] = known_.try_emplace(std::move(key), hash);
  if (!added && known->second == hash) return;
  known->second = hash;
  append_buffer();
}

void RowWriter::add(const AboutRecording& about) {
  row(Table::about, [&](ByteWriter& out) { about_fields(out, about); });
}

void RowWriter::add(std::uint32_t id, const offwait_stack& stack) {
  const std::span<const __u64> frames = pcs_of(stack);
  const std::vector<std::uint64_t> pcs(frames.begin(), frames.end());
  row(Table::stack, [&](ByteWriter& out) { stack_fields(out, id, stack, pcs); });
}

void RowWriter::add(const std::vector<std::pair<std::uint32_t, offwait_stack>>& stacks) {
  for (const auto& [id, stack] : stacks) add(id, stack);
}

void RowWriter::add_new(const KernelRecording& kernel) {
  for (const auto& [id, stack] : kernel.stacks) add(id, stack);
  for (const auto& one : kernel.files)
    row(Table::file, [&](ByteWriter& out) { file_fields(out, one.first, one.second); });
  for (const KernelDiskCounters& counters : kernel.disk_counters)
    new_row(Table::disk_counters, [&](ByteWriter& out) { disk_counters_fields(out, counters); });
  for (const KernelNicCounters& counters : kernel.nic_counters)
    new_row(Table::nic_counters, [&](ByteWriter& out) { nic_counters_fields(out, counters); });
}

void RowWriter::add_tables(const KernelRecording& kernel) {
  add_threads(kernel);
  add_processes(kernel);
  add_network(kernel);
  add_host(kernel);
  row(Table::losses, [&](ByteWriter& out) { out(kernel.loss); });
  row(Table::numbers, [&](ByteWriter& out) { numbers_fields(out, kernel); });
  row(Table::recorder, [&](ByteWriter& out) { recorder_fields(out, kernel); });
  row(Table::cost, [&](ByteWriter& out) { cost_fields(out, kernel.cost); });
  row(Table::window, [&](ByteWriter& out) { window_fields(out, kernel.window); });
}

void RowWriter::add_threads(const KernelRecording& kernel) {
  std::set<std::uint32_t> threads;
  for (const auto& one : kernel.threads) {
    threads.insert(one.first);
    row(Table::thread, [&](ByteWriter& out) { thread_fields(out, one.first, one.second); });
  }
  for (const std::uint32_t tid : threads_) {
    if (threads.contains(tid)) continue;
    new_row(Table::thread_gone, [tid](ByteWriter& out) { out(tid); });
    std::string key;
    ByteWriter out(key);
    out(Table::thread, std::uint32_t{0}, tid);
    known_.erase(key);
  }
  threads_ = std::move(threads);
  for (const auto& one : kernel.blocked)
    row(Table::blocked, [&](ByteWriter& out) { blocked_fields(out, one.first, one.second); });
}

void RowWriter::add_processes(const KernelRecording& kernel) {
  add_changed(kernel.allowed_cpus, allowed_cpus_, [this](const auto& one) {
    new_row(Table::allowed_cpus, [&](ByteWriter& out) { allowed_cpus_fields(out, one.first, one.second); });
  });
  for (std::uint32_t number = 0; number < kernel.programs.size(); ++number)
    row(Table::program, [&](ByteWriter& out) { program_fields(out, number, kernel.programs[number]); });
  add_changed(kernel.program_of, program_of_, [this](const auto& one) {
    new_row(Table::program_of, [&](ByteWriter& out) { program_of_fields(out, one.first, one.second); });
  });
}

void RowWriter::add_network(const KernelRecording& kernel) {
  row(Table::nics, [&](ByteWriter& out) { out(kernel.nics); });
  row(Table::served_ports, [&](ByteWriter& out) { out(kernel.served_ports); });
  for (const auto& one : kernel.peers)
    row(Table::peer, [&](ByteWriter& out) { peer_fields(out, one.first, one.second); });
  for (const auto& one : kernel.unix_addresses)
    row(Table::unix_address, [&](ByteWriter& out) { unix_address_fields(out, one.first, one.second); });
  for (const auto& one : kernel.responses)
    row(Table::responses, [&](ByteWriter& out) { responses_fields(out, one.first, one.second); });
  for (const auto& one : kernel.calls)
    row(Table::calls, [&](ByteWriter& out) { calls_fields(out, one.first, one.second); });
}

void RowWriter::add_host(const KernelRecording& kernel) {
  row(Table::mounts, [&](ByteWriter& out) { out(kernel.mounts); });
  row(Table::interrupts, [&](ByteWriter& out) { out(kernel.interrupts); });
  row(Table::disks, [&](ByteWriter& out) { out(kernel.disks); });
  row(Table::disks_below, [&](ByteWriter& out) { out(kernel.disks_below); });
  row(Table::cpus, [&](ByteWriter& out) { cpus_fields(out, kernel); });
  row(Table::cpu_quotas, [&](ByteWriter& out) { out(kernel.cpu_quotas); });
  row(Table::other_processes, [&](ByteWriter& out) { out(kernel.other_processes); });
  row(Table::memory, [&](ByteWriter& out) { out(kernel.memory); });
}

void RowWriter::add(const AddressSpace& space) {
  const auto add_mapping = [&](const Mapping& mapping) {
    new_row(Table::mapping, [&](ByteWriter& out) { mapping_fields(out, space.tgid, mapping); });
  };
  for (const Mapping& mapping : space.mappings) add_mapping(mapping);
  for (const Mapping& mapping : space.shared) {
    if (!mapping.executable) add_mapping(mapping);  // else it is one of space.mappings, too
  }
}

void RowWriter::add(const std::vector<FrameAddress>& addresses,
                    const std::vector<std::vector<Frame>>& frames) {
  for (std::size_t i = 0; i < addresses.size(); ++i)
    new_row(Table::kernel_frame, [&](ByteWriter& out) { kernel_frame_fields(out, addresses[i], frames[i]); });
}

void RowWriter::add(const NamedStacks& stacks) {
  for (std::uint32_t number = 0; number < stacks.frames.size(); ++number)
    new_row(Table::frame, [&](ByteWriter& out) { frame_fields(out, number, stacks.frames[number]); });
  for (const auto& one : stacks.recorded) {
    const NamedStacks::Recorded& stack = one.second;
    const auto cut = static_cast<std::uint8_t>(stack.cut ? static_cast<unsigned>(*stack.cut) + 1 : 0);
    new_row(Table::named_stack,
            [&](ByteWriter& out) { named_stack_fields(out, one.first, cut, stack.frames); });
  }
  for (const auto& one : stacks.in_records)
    new_row(Table::named_spin, [&](ByteWriter& out) { named_spin_fields(out, one.first, one.second); });
}

void RowWriter::add(const std::map<DataAddress, DataName>& data) {
  for (const auto& one : data)
    new_row(Table::named_data, [&](ByteWriter& out) { named_data_fields(out, one.first, one.second); });
}

void RowWriter::add(const KnownDevices& devices) {
  for (const auto& one : devices.disks)
    row(Table::known_disk, [&](ByteWriter& out) { known_device_fields(out, one.first, one.second); });
  for (const auto& one : devices.nics)
    row(Table::known_nic, [&](ByteWriter& out) { known_device_fields(out, one.first, one.second); });
}

void RowWriter::add(const std::map<std::string, std::string>& build_ids) {
  for (const auto& one : build_ids)
    row(Table::build_id, [&](ByteWriter& out) { build_id_fields(out, one.first, one.second); });
}

std::vector<std::string> RowWriter::take_sections() { return std::exchange(sections_, {}); }

}  // namespace offwait
