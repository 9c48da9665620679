// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/final_maps.h"

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "capture/device_counters.h"
#include "capture/libbpf_calls.h"
#include "offwait/loss_counters.h"

namespace offwait {
namespace {

std::uint64_t loss(const offwait_bpf& skeleton, std::uint32_t index) {
  std::uint64_t sum = 0;
  for (const auto count : values_by_cpu<std::uint64_t>(skeleton.maps.losses, index)) sum += count;
  return sum;
}

/// How often the kernel skipped a program because it was already running on that CPU. Those of locks do not
/// count: an interrupt that skips them sleeps for no lock.
std::uint64_t skipped(const offwait_bpf& skeleton) {
  std::uint64_t sum = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton.obj) {
    if (program == skeleton.progs.on_contention_begin || program == skeleton.progs.on_contention_end)
      continue;
    bpf_prog_info info{};
    __u32 size = sizeof(info);
    const int fd = bpf_program__fd(program);
    if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0) sum += info.recursion_misses;
  }
  return sum;
}

void add_in_flight(const offwait_request& request, KernelRecording& recording) {
  if (request.issue_ns == 0) return;
  const offwait_io io = {OFFWAIT_RECORD_IO,
                         {},
                         request.tid,
                         request.dev,
                         request.bytes,
                         request.issue_ns,
                         static_cast<std::uint64_t>(kNever),
                         request.file,
                         request.operation,
                         {}};
  recording.records.append(std::as_bytes(std::span(&io, 1)));
}

}  // namespace

Status read_counted(const offwait_bpf& skeleton, KernelRecording& recording) {
  const auto& maps = skeleton.maps;
  std::map<std::uint32_t, offwait_thread> threads;
  OFFWAIT_TRY_STATUS(for_each_entry<std::uint32_t, offwait_thread>(
      maps.threads,
      [&](std::uint32_t tid, const offwait_thread& thread) { threads.insert_or_assign(tid, thread); }));
  recording.threads.assign(threads.begin(), threads.end());
  OFFWAIT_TRY_STATUS((for_each_entry<offwait_responses_key, offwait_responses>(
      maps.responses, [&](const offwait_responses_key& key, const offwait_responses& responses) {
        recording.responses.emplace_back(key, responses);
      })));
  return for_each_entry<offwait_calls_key, offwait_calls>(
      maps.calls, [&](const offwait_calls_key& key, const offwait_calls& calls) {
        recording.calls.emplace_back(key, calls);
      });
}

void forget_counted(const offwait_bpf& skeleton, const KernelRecording& recording) {
  std::map<std::uint32_t, std::uint64_t> living;  // start times
  for (const auto& [tid, thread] : recording.threads) living.emplace(tid, thread.start_ns);
  const auto delete_old = [&](const bpf_map* map, const auto& entries) {
    for (const auto& [key, counted] : entries) {
      const auto thread = living.find(key.tid);
      const bool lives = thread != living.end() && thread->second == key.start_ns;
      if (!lives && nanos(counted.last_ns) < recording.window.begin)
        bpf_map_delete_elem(bpf_map__fd(map), &key);
    }
  };
  delete_old(skeleton.maps.responses, recording.responses);
  delete_old(skeleton.maps.calls, recording.calls);
}

Status read_named(const offwait_bpf& skeleton, KernelRecording& recording) {
  const auto& maps = skeleton.maps;
  const std::uint32_t own = network_namespace();
  OFFWAIT_TRY_STATUS(
      for_each_entry<std::uint32_t, offwait_nic>(maps.nics, [&](std::uint32_t id, const offwait_nic& nic) {
        std::string name(nic.name, ::strnlen(nic.name, sizeof(nic.name)));
        recording.nics.emplace(id, interface_name(std::move(name), nic.namespace_inode, own));
      }));
  for (const bpf_map* map : {maps.peers, maps.peer_hosts}) {
    OFFWAIT_TRY_STATUS(for_each_entry<offwait_peer, std::uint32_t>(
        map, [&](const offwait_peer& peer, std::uint32_t id) { recording.peers.emplace(id, peer); }));
  }
  OFFWAIT_TRY_STATUS(for_each_entry<std::uint32_t, std::uint8_t>(
      maps.listening_ports, [&](std::uint32_t port, std::uint8_t) {
        recording.served_ports.insert(static_cast<std::uint16_t>(port));
      }));
  return for_each_entry<offwait_unix_address, std::uint32_t>(
      maps.unix_addresses, [&](const offwait_unix_address& address, std::uint32_t id) {
        recording.unix_addresses.emplace(id, address);
      });
}

Status read_requests(const offwait_bpf& skeleton, KernelRecording& recording) {
  return for_each_entry<std::uint64_t, offwait_request>(
      skeleton.maps.requests,
      [&](std::uint64_t, const offwait_request& request) { add_in_flight(request, recording); });
}

LossCounts read_losses(const offwait_bpf& skeleton) {
  LossCounts losses;
#define X(name, text) losses[#name] = loss(skeleton, OFFWAIT_LOSS_##name);
  OFFWAIT_LOSS_COUNTERS(X)
#undef X
  losses["program_skipped"] += skipped(skeleton);
  return losses;
}

offwait_stack_reuse read_stack_reuse(const offwait_bpf& skeleton) {
  offwait_stack_reuse sum{};
  for (const auto& count : values_by_cpu<offwait_stack_reuse>(skeleton.maps.stack_reuse, 0)) {
    sum.walked += count.walked;
    sum.recalled += count.recalled;
    sum.verified += count.verified;
    sum.wrong += count.wrong;
  }
  return sum;
}

}  // namespace offwait
