// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/waits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/side_by_side.h"
#include "event/classify.h"
#include "event/left_out_stacks.h"
#include "event/losses.h"
#include "event/peer.h"
#include "model/by_thread.h"
#include "model/partition_near.h"

namespace offwait {

void Waits::add(const offwait_wait& record) {
  Nanos block = 0;
  const Life* life = lives_.place(record.tid, record.block_ns, record.run_ns, block);
  if (life == nullptr) return;
  Wait wait;
  const Nanos woken = nanos(record.wake_ns);
  // The thread blocked before the recording and was woken before the window. It is not known when it blocked,
  // but it did so before it was woken.
  if (record.block_ns == 0 && woken < block) block = std::max({woken, life->start, lives_.last_end(*life)});
  wait.block = block;
  wait.wake = std::max(woken, block);
  wait.run = nanos(record.run_ns);
  wait.stands_for = static_cast<float>(stands_for(record));
  if (wait.run < wait.wake) {
    count_loss_at(wait.run, recording_, builder_.trace().loss, OFFWAIT_LOSS_record_invalid);
    return;
  }
  lives_.end_interval(*life, wait.run);
  WaitSite where;
  where.thread = life->actor;
  const WaitFacts facts{record.waker_kind, record.fd_kind, record.flags, record.syscall, record.task_state};
  where.wait_class = classify(facts);
  where.any_request = waits_for_any_request(facts);
  where.wait_stack = stacks_.joined(record.wait_kernel, record.wait_user);
  const bool sent = (record.flags & OFFWAIT_WAIT_SENT) != 0;
  add_object(record.flags >> OFFWAIT_OBJECT_SHIFT, record.object, sent ? 0 : record.owner, *life, where,
             wait);
  add_blocked({record.tid, record.block_ns}, *life, record.wait_kernel, record.wait_user, where, wait);
  if (wait.wake >= window_.end) {
    wait.wake = kNever;
    wait.run = kNever;
    lives_.leave_open(*life);
    push(wait, where);
  } else {
    add_woken(wait, where,
              {record.waker_kind, record.waker_id, record.waker_user, record.waker_kernel, record.waker_nic,
               sent ? record.in_flight_ns : 0});
  }
}

void Waits::add_left(const Life& life, const offwait_thread& thread, Wait wait) {
  WaitSite where;
  where.thread = life.actor;
  where.wait_stack = stacks_.joined(thread.wait_kernel, thread.wait_user);
  add_object(thread.object_kind, thread.object, thread.owner, life, where, wait);
  const auto tid = static_cast<std::uint32_t>(builder_.trace().actors[life.actor].tid);
  add_blocked({tid, thread.since_ns}, life, thread.wait_kernel, thread.wait_user, where, wait);
  WaitFacts facts{OFFWAIT_WAKER_UNKNOWN, thread.fd_kind, thread.flags, thread.syscall, thread.task_state};
  const bool woken = thread.wake_ns != 0 && nanos(thread.wake_ns) < window_.end;
  if (woken) facts.waker_kind = thread.waker_kind;
  where.wait_class = classify(facts);
  where.any_request = waits_for_any_request(facts);
  if (!woken) return push(wait, where);
  wait.wake = std::max(nanos(thread.wake_ns), wait.block);
  const bool sent = thread.waker_kind == OFFWAIT_WAKER_THREAD;
  add_woken(wait, where,
            {thread.waker_kind, thread.waker_id, thread.waker_user, thread.waker_kernel, thread.waker_nic,
             sent ? thread.in_flight_ns : 0});
}

ActorId Waits::waker(std::uint8_t kind, std::uint32_t id, Nanos wake) {
  switch (kind) {
    case OFFWAIT_WAKER_THREAD:
      if (const Life* life = lives_.life_at(id, wake)) return life->actor;
      break;
    case OFFWAIT_WAKER_DISK:
      return devices_.device(ActorKind::disk, id);
    case OFFWAIT_WAKER_NIC:
      return devices_.device(ActorKind::nic, id);
    case OFFWAIT_WAKER_TIMER:
      return devices_.device(ActorKind::timer, 0);
    case OFFWAIT_WAKER_IRQ:
      return devices_.device(ActorKind::irq, id);
    case OFFWAIT_WAKER_SOFTIRQ:
      return devices_.device(ActorKind::softirq, id);
    default:
      break;
  }
  count_loss_at(wake, recording_, builder_.trace().loss, OFFWAIT_LOSS_waker_unknown);
  return kNoActor;
}

/// Several peers in the kernel's table may be one peer of the trace, because the kernel also keeps ports of
/// this side apart.
PeerId Waits::peer(std::uint32_t id) {
  const auto [known, first] = peers_.try_emplace(id, kNoPeer);
  if (!first) return known;
  const auto noted = recording_.peers.find(id);
  if (noted == recording_.peers.end()) return kNoPeer;
  return known = builder_.peer(peer_of(noted->second, recording_.served_ports));
}

void Waits::add_object(std::uint8_t kind, std::uint64_t object, std::uint32_t owner, const Life& life,
                       WaitSite& where, Wait& wait) {
  if (kind == OFFWAIT_OBJECT_PEER) {
    where.peer = peer(static_cast<std::uint32_t>(object));
    return;
  }
  if (kind == OFFWAIT_OBJECT_FILE) {
    wait.object = files_.with_id(static_cast<std::uint32_t>(object));
    return;
  }
  if (kind == OFFWAIT_OBJECT_PIPE) {
    wait.object = files_.pipe(object);
    return;
  }
  wait.object = locks_.object(kind, object, builder_.trace().actors[life.actor].tgid, where.wait_stack);
  if (owner != 0) wait.holder = locks_.holder(kind, owner, life, wait.block);
}

/// Adds what user space found out about a wait while it lasted, and what the kernel's record of the wait
/// lacks.
void Waits::add_blocked(const WaitBegin& begin, const Life& life, std::uint32_t wait_kernel,
                        std::uint32_t wait_user, WaitSite& where, Wait& wait) {
  const bool before = begin.block_ns == 0;
  if (!before && wait_user != 0 && !stacks_.lacked_mapping(wait_user)) return;
  const auto found = recording_.blocked.find(begin);
  if (found == recording_.blocked.end()) return;
  if (before && nanos(found->second.start_ns) != life.start) return;  // the tid's owner before was blocked
  where.wait_stack = stacks_.joined(wait_kernel, found->second.wait_user);
  if (const Life* holder = lives_.life_at(found->second.mutex_owner, window_.begin))
    wait.holder = holder->actor;
}

void Waits::push(Wait wait, const WaitSite& where) {
  wait.site = builder_.site(where);
  builder_.trace().waits.push_back(wait);
}

void Waits::add_woken(const Wait& wait, WaitSite where, const Waking& waking) {
  if (waking.in_flight_ns != 0) return add_delivered(wait, where, waking);
  where.waker = waker(waking.kind, waking.id, wait.wake);
  if (waking.kind == OFFWAIT_WAKER_THREAD) where.waker_stack = stacks_.joined(waking.kernel, waking.user);
  push(wait, where);
}

/// The wait is cut at the send: up to it the sender was waited for, after it the interface. If the thread
/// began to wait after the send, the first of the two waits is empty.
void Waits::add_delivered(const Wait& wait, WaitSite where, const Waking& waking) {
  const ActorId nic = devices_.device(ActorKind::nic, waking.nic);
  const Nanos sent_at = wait.wake - Nanos{waking.in_flight_ns};
  const Nanos sent = std::max(sent_at, wait.block);
  const Life* sender = waking.in_flight_ns == UINT32_MAX ? nullptr : lives_.life_at(waking.id, sent_at);
  if (sender == nullptr || sender->exit < sent) {
    where.waker = nic;
    return push(wait, where);
  }
  where.waker = sender->actor;
  where.waker_stack = stacks_.joined(0, waking.user);
  if (wait.block == wait.wake) return push(wait, where);
  push({0, kNoObject, wait.block, sent, sent, kNoActor, wait.stands_for}, where);
  where.waker = nic;
  where.waker_stack = kNoStack;
  where.in_flight = true;
  push({0, kNoObject, sent, wait.wake, wait.run, kNoActor, wait.stands_for}, where);
}

void drop_impossible_wakers(TraceBuilder& builder) {
  Trace& trace = builder.trace();
  const ByThread waits(trace.actors.size(), trace.waits,
                       [&trace](const Wait& wait) { return trace.sites[wait.site].thread; });
  const auto find = [&trace, &waits](std::size_t from, std::size_t to) {
    std::vector<std::size_t> found;
    // By waker: how many of its waits had begun when it was last asked about. The waits are nearly in order
    // of time.
    std::vector<std::size_t> begun_by_last(trace.actors.size());
    for (std::size_t i = from; i < to; ++i) {
      const Wait& wait = trace.waits[i];
      const ActorId waker = trace.sites[wait.site].waker;
      if (waker == kNoActor || wait.wake == kNever || wait.block == wait.wake ||
          trace.actors[waker].kind != ActorKind::thread)
        continue;
      const std::span<const std::uint32_t> others = waits.of(waker);
      std::size_t& begun = begun_by_last[waker];
      begun = partition_near(others, begun,
                             [&](std::uint32_t other) { return trace.waits[other].block < wait.wake; });
      if (begun != 0 && trace.waits[others[begun - 1]].wake >= wait.wake) found.push_back(i);
    }
    return found;
  };
  const std::size_t half = trace.waits.size() / 2;
  std::array<std::vector<std::size_t>, 2> impossible;
  side_by_side([&] { impossible[0] = find(0, half); },
               [&] { impossible[1] = find(half, trace.waits.size()); });
  for (const std::vector<std::size_t>& found : impossible) {
    for (const std::size_t index : found) {
      count_loss(trace.loss, OFFWAIT_LOSS_waker_impossible);
      Wait& wait = trace.waits[index];
      WaitSite unknown = trace.sites[wait.site];
      unknown.waker = kNoActor;
      unknown.waker_stack = kNoStack;
      wait.site = builder.site(unknown);
    }
  }
}

}  // namespace offwait
