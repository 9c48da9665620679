// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of every row and record of a recording file (format.h), in their order. Each list is used to
// write and to read: `c` is a ByteWriter or a ByteReader. What stands before key() identifies a row; a row
// without a key is the only one of its table. A field that a later version adds stands behind the others.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "recording_file/bytes.h"
#include "recording_file/named_recording.h"

namespace offwait {

template <class T, class Value>
concept FieldsOf = std::same_as<std::remove_const_t<T>, Value>;

// ---- parts of rows

void fields(auto& c, FieldsOf<Label> auto& label) { c(label.name, label.value); }
void fields(auto& c, FieldsOf<KernelMount> auto& mount) { c(mount.dev, mount.root, mount.path); }
void fields(auto& c, FieldsOf<CpuRange> auto& range) { c(range.first, range.last); }
void fields(auto& c, FieldsOf<CpuTime> auto& cpu) {
  c(cpu.cpu);
  c.time(cpu.busy_ns);
  c.time(cpu.idle_ns);
}
void fields(auto& c, FieldsOf<CpuQuota> auto& quota) {
  c(quota.cgroup);
  c.time(quota.quota_ns);
  c.time(quota.period_ns);
  c(quota.periods, quota.throttled_periods);
  c.time(quota.throttled_ns);
}
void fields(auto& c, FieldsOf<MemoryUse> auto& use) {
  c(use.cgroup, use.has_target, use.limit_bytes, use.used_bytes, use.reached, use.refault_bytes,
    use.swap_bytes);
}
void fields(auto& c, FieldsOf<ProcessCpuTime> auto& process) {
  c(process.tgid, process.name);
  c.time(process.own_ns);
  c.time(process.children_ns);
}
void fields(auto& c, FieldsOf<Mapping> auto& mapping) {
  c(mapping.begin, mapping.end, mapping.offset, mapping.dev_major, mapping.dev_minor, mapping.inode,
    mapping.executable, mapping.path, mapping.shared);
}
void fields(auto& c, FieldsOf<MeasuredDisk> auto& disk) { c(disk.bytes_per_s, disk.ios_per_s, disk.day); }
void fields(auto& c, FieldsOf<KnownDisk> auto& disk) {
  c.choice(disk.type, kDiskTypes);
  c(disk.measured);
}
void fields(auto& c, FieldsOf<KnownNic> auto& nic) { c(nic.hardware, nic.reported_bytes_per_s); }
void fields(auto& c, FieldsOf<Frame> auto& frame) {
  c(frame.function, frame.begin, frame.offset, frame.module, frame.file, frame.line, frame.inlined);
  c.choice(frame.kind, kFrameKinds);
}
void fields(auto& c, FieldsOf<ThreadKey> auto& thread) { c(thread.tid, thread.start_ns); }

// ---- rows that are alone in their table

/// Table::about
void about_fields(auto& c, auto& about) {
  c(about.target, about.start_time, about.kernel, about.cpus, about.offwait, about.command, about.host,
    about.architecture, about.command_line, about.labels, about.counted_function);
}

/// Table::window
void window_fields(auto& c, auto& window) {
  c.time(window.begin);
  c.time(window.end);
}

/// Table::numbers
void numbers_fields(auto& c, auto& kernel) {
  c(kernel.sample_hz, kernel.counts_responses, kernel.stack_reuse.walked, kernel.stack_reuse.recalled,
    kernel.stack_reuse.verified, kernel.stack_reuse.wrong);
}

/// Table::recorder
void recorder_fields(auto& c, auto& kernel) { c(kernel.recorder); }

/// Table::cost
void cost_fields(auto& c, auto& cost) {
  c.time(cost.programs_ns);
  c.time(cost.recorder_ns);
  c(cost.most);
}

/// Table::cpus
void cpus_fields(auto& c, auto& kernel) {
  c.time(kernel.cpu_busy_ns);
  c.time(kernel.cpu_idle_ns);
  c.time(kernel.cpu_steal_ns);
  c(kernel.cpu_times);
}

// ---- rows with a key

/// Table::thread
void thread_fields(auto& c, auto& tid, auto& thread) {
  c(tid);
  c.key();
  c.time(thread.start_ns);
  c.time(thread.since_ns);
  c(thread.state, thread.seeded, thread.target, thread.fd_kind, thread.flags, thread.waker_kind,
    thread.syscall, thread.task_state, thread.kernel, thread.object_kind, thread.tgid, thread.owner,
    thread.wait_user, thread.wait_kernel, thread.waker_id, thread.waker_user, thread.waker_kernel,
    thread.in_flight_ns, thread.waker_peer);
  c.time(thread.wake_ns);
  c.time(thread.lost_since_ns);
  c(thread.object, thread.lock, thread.lock_owner, thread.lock_kind, thread.ns_tid);
  c.time(thread.ran_ns);
}

/// Table::blocked
void blocked_fields(auto& c, auto& wait, auto& thread) {
  c(wait.tid);
  c.time(wait.block_ns);
  c.key();
  c.time(thread.start_ns);
  c(thread.wait_user, thread.mutex_owner);
}

/// Table::stack. `pcs` has the addresses of the frames, leaf first.
void stack_fields(auto& c, auto& id, auto& stack, auto& pcs) {
  c(id);
  c.key();
  c(stack.tgid, stack.end, pcs);
}

/// Table::mapping: what a process has mapped from now on, in place of what it had there.
void mapping_fields(auto& c, auto& tgid, auto& mapping) { c(tgid, mapping); }

/// Table::peer
void peer_fields(auto& c, auto& id, auto& peer) {
  c(id);
  c.key();
  c(peer.address[0], peer.address[1], peer.address[2], peer.address[3], peer.port, peer.local_port,
    peer.accepted);
}

/// Table::unix_address
void unix_address_fields(auto& c, auto& id, auto& address) {
  c(id);
  c.key();
  c(address.length);
  c.array(address.path);
}

/// Table::responses
void responses_fields(auto& c, auto& key, auto& responses) {
  c.time(key.start_ns);
  c(key.tid, key.address);
  c.key();
  c(responses.count, responses.connections);
  c.time(responses.first_ns);
  c.time(responses.last_ns);
  c.added(responses.first_jiffies, responses.last_jiffies, responses.under_way_ns, responses.unread_jiffies);
}

/// Table::calls
void calls_fields(auto& c, auto& key, auto& calls) {
  c.time(key.start_ns);
  c(key.tid);
  c.key();
  c(calls.count);
  c.time(calls.first_ns);
  c.time(calls.last_ns);
}

/// Table::file
void file_fields(auto& c, auto& id, auto& file) {
  c(id);
  c.key();
  c(file.kind, file.flags, file.dev, file.inode, file.generation, file.path);
}

/// Table::disk_counters
void disk_counters_fields(auto& c, auto& counters) {
  c(counters.dev);
  c.time(counters.at);
  c.key();
  c(counters.bytes, counters.ios, counters.in_flight);
}

/// Table::nic_counters
void nic_counters_fields(auto& c, auto& counters) {
  c(counters.name);
  c.time(counters.at);
  c.key();
  c(counters.received, counters.sent);
}

/// Table::allowed_cpus
void allowed_cpus_fields(auto& c, auto& thread, auto& cpus) {
  c(thread);
  c.key();
  c(cpus);
}

/// Table::program: `number` is what Table::program_of refers to.
void program_fields(auto& c, auto& number, auto& program) {
  c(number);
  c.key();
  c(program.path, program.title);
}

/// Table::program_of
void program_of_fields(auto& c, auto& thread, auto& number) {
  c(thread);
  c.key();
  c(number);
}

/// Table::frame: `number` is what named_stack and named_spin refer to.
void frame_fields(auto& c, auto& number, auto& frame) {
  c(number);
  c.key();
  c(frame);
}

/// Table::kernel_frame: the frames at an address of the kernel, for stacks without a named_stack. If the list
/// is empty, the address has no frame, and the frames of the addresses before it in the stack are left out as
/// well.
void kernel_frame_fields(auto& c, auto& address, auto& frames) {
  c(address.pc, address.return_address);
  c.key();
  c(frames);
}

/// Table::named_stack. `cut` is 0, or a StackCut plus 1.
void named_stack_fields(auto& c, auto& id, auto& cut, auto& frames) {
  c(id);
  c.key();
  c(cut, frames);
}

/// Table::named_spin
void named_spin_fields(auto& c, auto& stack, auto& frames) {
  c(stack.tgid, stack.pcs);
  c.key();
  c(frames);
}

/// Table::named_data
void named_data_fields(auto& c, auto& place, auto& name) {
  c(place.tgid, place.address);
  c.key();
  c(name.symbol, name.module, name.offset, name.shared);
}

/// Table::known_disk, Table::known_nic
void known_device_fields(auto& c, auto& name, auto& known) {
  c(name);
  c.key();
  c(known);
}

/// Table::build_id: of a file by its path in Table::mapping, in hexadecimal digits. Frames without names are
/// a module and an offset in the file: with its id whoever has the file finds the names.
void build_id_fields(auto& c, auto& path, auto& id) {
  c(path);
  c.key();
  c(id);
}

// ---- records that are no intervals

void fields(auto& c, FieldsOf<offwait_gap> auto& gap) {
  c(gap.tid);
  c.time(gap.from_ns);
  c.time(gap.to_ns);
}
void fields(auto& c, FieldsOf<offwait_thread_record> auto& thread) {
  c(thread.event, thread.outside, thread.exec, thread.tid, thread.tgid, thread.parent);
  c.time(thread.at_ns);
  c.time(thread.start_ns);
  c.array(thread.comm);
  c(thread.ns_tid);
}
void fields(auto& c, FieldsOf<offwait_spin> auto& spin) {
  c(spin.tid, spin.tgid, spin.waker);
  c.time(spin.begin_ns);
  c.time(spin.end_ns);
  c(spin.frames);
  for (auto& pc : spin.pc) c(pc);
}
void fields(auto& c, FieldsOf<offwait_false_mark> auto& mark) {
  c(mark.tid);
  c.time(mark.at_ns);
}

}  // namespace offwait
