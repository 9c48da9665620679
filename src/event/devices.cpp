// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/devices.h"

#include <array>
#include <string_view>

namespace offwait {

namespace {

std::string_view softirq_name(std::uint32_t vector) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
  if (vector == OFFWAIT_SOFTIRQ_RAISED) return "raised";
  return vector < kNames.size() ? kNames.at(vector) : std::string_view("unknown");
}

DiskOperation operation_of(std::uint8_t operation) {
  switch (operation) {
    case OFFWAIT_IO_READ:
      return DiskOperation::read;
    case OFFWAIT_IO_WRITE:
      return DiskOperation::write;
    case OFFWAIT_IO_OTHER:
      return DiskOperation::other;
    default:
      return DiskOperation::unknown;
  }
}

}  // namespace

ActorId Devices::device(ActorKind kind, std::uint32_t id) {
  const auto [found, added] = devices_.try_emplace({kind, id}, kNoActor);
  if (added) {
    Actor actor;
    actor.kind = kind;
    actor.name = name_of(kind, id);
    if (const auto below = recording_.disks_below.find(id);
        kind == ActorKind::disk && below != recording_.disks_below.end()) {
      actor.on = below->second;
    }
    found->second = builder_.add_actor(std::move(actor));
  }
  return found->second;
}

std::string Devices::name_of(ActorKind kind, std::uint32_t id) const {
  const auto look_up = [id](const std::map<std::uint32_t, std::string>& names) -> std::string {
    const auto found = names.find(id);
    return found == names.end() ? std::to_string(id) : found->second;
  };
  switch (kind) {
    case ActorKind::disk:
      return look_up(recording_.disks);
    case ActorKind::nic:
      return look_up(recording_.nics);
    case ActorKind::irq:
      if (id == OFFWAIT_IRQ_OTHER) return "other";
      if (id == OFFWAIT_IRQ_IDLE) return "idle";
      return look_up(recording_.interrupts);
    case ActorKind::softirq:
      return std::string(softirq_name(id));
    default:
      return "";
  }
}

ActorId Devices::known_disk(std::uint32_t dev) const {
  const auto found = devices_.find({ActorKind::disk, dev});
  return found == devices_.end() ? kNoActor : found->second;
}

void Devices::add_io(const offwait_io& record, const ThreadLives& lives, Files& files) {
  const Window& window = recording_.window;
  DiskIo io;
  io.disk = known_disk(record.dev);
  if (io.disk == kNoActor || record.complete_ns < record.issue_ns ||
      nanos(record.complete_ns) <= window.begin || nanos(record.issue_ns) >= window.end) {
    return;
  }
  io.issue = nanos(record.issue_ns);
  io.complete = nanos(record.complete_ns);
  io.bytes = record.bytes;
  if (record.tid != 0) {
    if (const Life* life = lives.life_at(record.tid, io.issue)) io.thread = life->actor;
  }
  io.file = files.with_id(record.file);
  io.operation = operation_of(record.operation);
  builder_.trace().disk_ios.push_back(io);
}

void Devices::add_counters() {
  Trace& trace = builder_.trace();
  for (const KernelDiskCounters& counters : recording_.disk_counters) {
    const ActorId disk = known_disk(counters.dev);
    if (disk == kNoActor) continue;
    trace.disk_counters.push_back({disk, counters.at, counters.bytes, counters.ios, counters.in_flight});
  }
  std::map<std::string_view, ActorId> nics;
  for (const auto& [kind_and_id, actor] : devices_) {
    if (kind_and_id.first == ActorKind::nic) nics.emplace(trace.actors[actor].name, actor);
  }
  for (const KernelNicCounters& counters : recording_.nic_counters) {
    const auto nic = nics.find(counters.name);
    if (nic == nics.end()) continue;
    trace.nic_counters.push_back({nic->second, counters.at, counters.received, counters.sent});
  }
}

}  // namespace offwait
