// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/assemble.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "event/classify.h"
#include "event/peer.h"
#include "event/spin.h"
#include "model/by_thread.h"
#include "model/stack_cut.h"
#include "model/trace_builder.h"
#include "offwait/loss_counters.h"
#include "offwait/unwind.h"

namespace offwait {
namespace {

Nanos nanos(std::uint64_t kernel_ns) { return static_cast<Nanos>(kernel_ns); }

std::string bounded_string(const char* text, std::size_t size) { return {text, ::strnlen(text, size)}; }

std::string_view softirq_name(std::uint32_t vector) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
  if (vector == OFFWAIT_SOFTIRQ_RAISED) return "raised";
  return vector < kNames.size() ? kNames[vector] : std::string_view("unknown");
}

std::optional<StackCut> cut_of_end(std::uint16_t end) {
  switch (end) {
    case OFFWAIT_STACK_DEEP:
      return StackCut::deep;
    case OFFWAIT_STACK_NO_MAPPING:
      return StackCut::no_mapping;
    case OFFWAIT_STACK_NO_RULE:
      return StackCut::no_rule;
    case OFFWAIT_STACK_NO_FP:
      return StackCut::no_frame_pointer;
    case OFFWAIT_STACK_UNREADABLE:
      return StackCut::unreadable;
    default:
      return std::nullopt;
  }
}

/// How far the records of a thread have come.
struct Progress {
  Nanos last = 0;     ///< end of its last interval so far
  bool open = false;  ///< a wait or preemption of it has no end: nothing may follow
};

/// A spin comes with its frames, not with an id.
offwait_stack stack_of(const offwait_spin& record) {
  offwait_stack stack{};
  stack.tgid = record.tgid;
  stack.frames = static_cast<__u16>(std::min<std::uint32_t>(record.frames, OFFWAIT_SPIN_FRAMES));
  std::copy_n(std::begin(record.pc), stack.frames, std::begin(stack.pc));
  stack.end = OFFWAIT_STACK_BY_KERNEL;
  return stack;
}

class Assembler {
 public:
  Assembler(const KernelRecording& recording, const StackNamer& name_stack)
      : recording_(recording),
        name_stack_(name_stack),
        begin_(recording.window.begin),
        end_(recording.window.end) {
    for (const auto& [id, stack] : recording.stacks) {
      if (stack.end == OFFWAIT_STACK_NO_MAPPING) lacked_mapping_.insert(id);
    }
    trace_.window = recording.window;
    trace_.recording.cpu_busy_ns = recording.cpu_busy_ns;
    trace_.recording.cpu_idle_ns = recording.cpu_idle_ns;
    trace_.recording.sample_hz = recording.sample_hz;
    const offwait_stack_reuse& reuse = recording.stack_reuse;
    trace_.recording.stack_reuse = {reuse.walked, reuse.recalled, reuse.verified, reuse.wrong};
#define X(name, text) trace_.loss.emplace(#name, 0);
    OFFWAIT_LOSS_COUNTERS(X)
#undef X
    for (const auto& [name, count] : recording.loss) trace_.loss[name] += count;
  }

  Trace take() {
    collect_lives();
    trace_.waits.reserve(recording_.records.count(OFFWAIT_RECORD_WAIT) + recording_.threads.size());
    recording_.records.for_each([this](const auto& record) { add(record); });
    for (const auto& [tid, thread] : recording_.threads) add_open(tid, thread);
    add_lost_exits();
    if (!spins_.empty()) {
      lay_spins(trace_, std::move(spins_), [this](const WaitSite& wanted) { return builder_.site(wanted); });
    }
    drop_impossible_wakers();
    for_each<offwait_io>([this](const offwait_io& record) { add_io(record); });
    add_disk_counters();
    add_nic_counters();
    return builder_.take();
  }

 private:
  void lose(offwait_loss loss) {
    static constexpr std::array<const char*, OFFWAIT_LOSS_COUNT> kNames = {
#define X(name, text) #name,
        OFFWAIT_LOSS_COUNTERS(X)
#undef X
    };
    ++trace_.loss[kNames[loss]];
  }

  template <class Record, class Visitor>
  void for_each(Visitor&& visit) const {
    recording_.records.for_each([&visit](const auto& record) {
      if constexpr (std::is_same_v<std::decay_t<decltype(record)>, Record>) visit(record);
    });
  }

  // --- threads -----------------------------------------------------------------------------------

  /// Threads born after the window are no actors, but their lives keep their tids' records apart.
  ActorId add_thread(std::uint32_t tid, std::uint32_t ns_tid, std::uint32_t tgid, std::string name,
                     std::uint8_t outside, const Life& life, Nanos seen) {
    if (life.start >= end_) return kNoActor;
    Actor actor;
    actor.kind = ActorKind::thread;
    actor.name = std::move(name);
    actor.tid = static_cast<std::int32_t>(tid);
    actor.tgid = static_cast<std::int32_t>(tgid);
    actor.ns_tid = ns_tid == tid ? 0 : static_cast<std::int32_t>(ns_tid);
    actor.start = life.start;
    actor.seen = std::max(seen, std::max(life.start, begin_));
    actor.outside = outside != OFFWAIT_TARGET;
    actor.kernel = outside == OFFWAIT_OUTSIDE_KERNEL;
    return builder_.add_actor(std::move(actor));
  }

  void collect_lives() {
    for_each<offwait_thread_record>([this](const offwait_thread_record& record) { collect(record); });
    // A thread whose record was lost is still in the kernel's table at the end, if it has not exited.
    for (const auto& [tid, thread] : recording_.threads) {
      TidLives& lives = lives_of(tid);
      if (!lives.empty() && lives.last().exit == kNever) continue;
      Life life;
      life.start = std::max(nanos(thread.start_ns), lives.empty() ? 0 : lives.last().exit);
      const Nanos seen = thread.since_ns != 0 ? nanos(thread.since_ns) : begin_;
      life.actor = add_thread(tid, thread.ns_tid, thread.tgid, "", thread.target == 0, life,
                              std::max(seen, life.start));
      lives.append(life);
    }
    progress_.resize(trace_.actors.size());
  }

  TidLives& lives_of(std::uint32_t tid) { return builder_.lives_of(static_cast<std::int32_t>(tid)); }
  const TidLives* find_lives(std::uint32_t tid) const {
    return builder_.find_lives(static_cast<std::int32_t>(tid));
  }

  void collect(const offwait_thread_record& record) {
    TidLives& lives = lives_of(record.tid);
    const bool alive = !lives.empty() && lives.last().exit == kNever;
    const Nanos at = nanos(record.at_ns);
    switch (record.event) {
      case OFFWAIT_THREAD_SEEN:
      case OFFWAIT_THREAD_BORN:
      case OFFWAIT_THREAD_ENTERED: {
        const Nanos start = record.event == OFFWAIT_THREAD_ENTERED ? at : nanos(record.start_ns);
        // An exit record that was lost: the tid has a new owner, so the old one is gone.
        if (alive) {
          if (lives.last().actor != kNoActor) exits_lost_.insert(lives.last().actor);
          end_life(lives.last(), std::max(start, lives.last().start));
        }
        Life life;
        life.start = std::max(start, lives.empty() ? 0 : lives.last().exit);
        const Nanos seen = record.event == OFFWAIT_THREAD_BORN ? life.start : at;
        life.actor = add_thread(record.tid, record.ns_tid, record.tgid,
                                bounded_string(record.comm, sizeof(record.comm)), record.outside, life, seen);
        lives.append(life);
        if (life.actor != kNoActor) trace_.actors[life.actor].parent = parent_of(record, life);
        break;
      }
      case OFFWAIT_THREAD_NAMED:
        if (alive && lives.last().actor != kNoActor && at < end_) {
          trace_.actors[lives.last().actor].name = bounded_string(record.comm, sizeof(record.comm));
          trace_.actors[lives.last().actor].outside = record.outside != OFFWAIT_TARGET;
          trace_.actors[lives.last().actor].kernel = record.outside == OFFWAIT_OUTSIDE_KERNEL;
        }
        break;
      case OFFWAIT_THREAD_EXITED:
        if (alive) end_life(lives.last(), std::max(at, lives.last().start));
        break;
      default:
        lose(OFFWAIT_LOSS_record_invalid);
    }
  }

  ActorId parent_of(const offwait_thread_record& record, const Life& child) const {
    const TidLives* lives = find_lives(record.parent);
    if (record.event != OFFWAIT_THREAD_BORN || record.parent == 0 || record.parent == record.tid ||
        lives == nullptr || lives->empty() || lives->last().start > child.start)
      return kNoActor;
    return lives->last().actor;
  }

  void end_life(Life& life, Nanos at) {
    life.exit = at;
    if (life.actor != kNoActor && at < end_) trace_.actors[life.actor].exit = at;
  }

  /// The life of `tid` at `at`, of a thread that is an actor; at the instant of an exit it still counts.
  const Life* life_at(std::uint32_t tid, Nanos at) const {
    const TidLives* lives = find_lives(tid);
    const Life* life = lives == nullptr ? nullptr : lives->alive_through(at);
    return life == nullptr || life->actor == kNoActor ? nullptr : life;
  }

  Progress& progress_of(const Life& life) { return progress_[life.actor]; }

  // --- wakers ------------------------------------------------------------------------------------

  ActorId device(ActorKind kind, std::uint32_t id) {
    const auto [found, added] = devices_.try_emplace({kind, id}, kNoActor);
    if (added) {
      Actor actor;
      actor.kind = kind;
      actor.name = device_name(kind, id);
      if (const auto below = recording_.disks_below.find(id);
          kind == ActorKind::disk && below != recording_.disks_below.end()) {
        actor.on = below->second;
      }
      found->second = builder_.add_actor(std::move(actor));
    }
    return found->second;
  }

  std::string device_name(ActorKind kind, std::uint32_t id) const {
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

  /// kNoActor, counted, when the waker was not seen or is not recorded.
  ActorId waker_actor(std::uint8_t kind, std::uint32_t id, Nanos wake) {
    switch (kind) {
      case OFFWAIT_WAKER_THREAD:
        if (const Life* life = life_at(id, wake)) return life->actor;
        break;
      case OFFWAIT_WAKER_DISK:
        return device(ActorKind::disk, id);
      case OFFWAIT_WAKER_NIC:
        return device(ActorKind::nic, id);
      case OFFWAIT_WAKER_TIMER:
        return device(ActorKind::timer, 0);
      case OFFWAIT_WAKER_IRQ:
        return device(ActorKind::irq, id);
      case OFFWAIT_WAKER_SOFTIRQ:
        return device(ActorKind::softirq, id);
      default:
        break;
    }
    lose(OFFWAIT_LOSS_waker_unknown);
    return kNoActor;
  }

  // --- peers -------------------------------------------------------------------------------------

  /// Several of the kernel's may be one here: it keeps ports of both sides apart.
  PeerId peer(std::uint32_t id) {
    const auto [known, first] = peers_.try_emplace(id, kNoPeer);
    const auto noted = recording_.peers.find(id);
    if (!first || noted == recording_.peers.end()) return known->second;
    return known->second = builder_.peer(peer_of(noted->second, recording_.served_ports));
  }

  // --- stacks ------------------------------------------------------------------------------------

  void append_frames(std::uint32_t id, std::vector<FrameId>& frames) {
    const auto found = recording_.stacks.find(id);
    if (id == 0 || found == recording_.stacks.end()) return;
    append_frames(found->second, frames);
    if (found->second.tgid == 0) return;
    if (const std::optional<StackCut> cut = cut_of_end(found->second.end))
      frames.push_back(builder_.frame(cut_frame(*cut)));
  }

  void append_frames(const offwait_stack& stack, std::vector<FrameId>& frames) {
    for (const std::string& name : name_stack_(stack)) frames.push_back(builder_.frame(name));
  }

  /// Kernel and user stack as one, leaf first.
  StackId stack(std::uint32_t kernel, std::uint32_t user) {
    if (kernel == 0 && user == 0) return kNoStack;
    const std::uint64_t key = std::uint64_t{kernel} << 32 | user;
    if (const auto found = stack_ids_.find(key); found != stack_ids_.end()) return found->second;
    std::vector<FrameId> joined;
    append_frames(kernel, joined);
    const std::size_t kernel_frames = joined.size();
    append_frames(user, joined);
    if (kernel_frames > 0 && joined.size() > kernel_frames) {
      joined.insert(joined.begin() + static_cast<std::ptrdiff_t>(kernel_frames), builder_.frame("--"));
    }
    const StackId id = builder_.stack(joined);
    stack_ids_.emplace(key, id);
    return id;
  }

  // --- intervals ---------------------------------------------------------------------------------

  /// Where an interval of `tid` that begins at `from` (0: before it was recorded) and was over or is still
  /// open at `known` belongs. Null, counted, when it contradicts what is known of the thread; null, not
  /// counted, outside the window.
  const Life* place(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t known_ns, Nanos& from) {
    const Nanos known = nanos(known_ns);
    if (from_ns != 0 && nanos(from_ns) >= end_) return nullptr;
    if (known <= begin_) return nullptr;
    const Life* life = life_at(tid, known);
    if (life == nullptr) {
      // Threads born after the window's end are no actors and their records are none of its business.
      if (known < end_) lose(OFFWAIT_LOSS_record_invalid);
      return nullptr;
    }
    from = from_ns != 0 ? nanos(from_ns) : std::max(begin_, life->start);
    const Progress& progress = progress_of(*life);
    if (progress.open || from < std::max(life->start, progress.last) || known < from) {
      lose(OFFWAIT_LOSS_record_invalid);
      return nullptr;
    }
    return life;
  }

  void add(const offwait_wait& record) {
    Nanos block = 0;
    const Life* life = place(record.tid, record.block_ns, record.run_ns, block);
    if (life == nullptr) return;
    Wait wait;
    const Nanos woken = nanos(record.wake_ns);
    // Woken before the window, and blocked since before the recording: when is not known, but not after.
    if (record.block_ns == 0 && woken < block)
      block = std::max({woken, life->start, progress_of(*life).last});
    wait.block = block;
    wait.wake = std::max(woken, block);
    wait.run = nanos(record.run_ns);
    if (wait.run < wait.wake) {
      lose(OFFWAIT_LOSS_record_invalid);
      return;
    }
    progress_of(*life).last = wait.run;
    WaitSite where;
    where.thread = life->actor;
    if ((record.flags & OFFWAIT_WAIT_PEER) != 0) {
      where.peer = peer(record.peer);
    } else {
      wait.futex = record.futex;
    }
    const WaitFacts facts{record.waker_kind, record.fd_kind, record.flags, record.syscall, record.task_state};
    where.wait_class = classify(facts);
    where.any_request = waits_for_any_request(facts);
    where.wait_stack = stack(record.wait_kernel, record.wait_user);
    add_blocked({record.tid, record.block_ns}, *life, record.wait_kernel, record.wait_user, where);
    if (wait.wake >= end_) {
      wait.wake = kNever;
      wait.run = kNever;
      progress_of(*life).open = true;
      push(wait, where);
    } else {
      add_woken(wait, where,
                {record.waker_kind, record.waker_id, record.waker_user, record.waker_kernel, record.waker_nic,
                 record.in_flight_ns});
    }
  }

  /// What user space has found out about a wait while it lasted, and the kernel's record of it cannot know.
  void add_blocked(const WaitBegin& wait, const Life& life, std::uint32_t wait_kernel,
                   std::uint32_t wait_user, WaitSite& where) {
    const bool before = wait.block_ns == 0;
    if (!before && !lacked_mapping_.contains(wait_user)) return;
    const auto found = recording_.blocked.find(wait);
    if (found == recording_.blocked.end()) return;
    if (before && nanos(found->second.start_ns) != life.start) return;  // of the tid's owner before
    where.wait_stack = stack(wait_kernel, found->second.wait_user);
    if (const Life* holder = life_at(found->second.mutex_owner, begin_)) where.holder = holder->actor;
  }

  struct Waking {
    std::uint8_t kind;
    std::uint32_t id;
    std::uint32_t user;
    std::uint32_t kernel;  ///< if in_flight_ns is 0
    std::uint32_t nic;     ///< else
    std::uint32_t in_flight_ns;
  };

  void push(Wait wait, const WaitSite& where) {
    wait.site = builder_.site(where);
    trace_.waits.push_back(wait);
  }

  void add_woken(const Wait& wait, WaitSite where, const Waking& waking) {
    if (waking.in_flight_ns != 0) return add_delivered(wait, where, waking);
    where.waker = waker_actor(waking.kind, waking.id, wait.wake);
    if (waking.kind == OFFWAIT_WAKER_THREAD) where.waker_stack = stack(waking.kernel, waking.user);
    push(wait, where);
  }

  /// Cut at the send: up to it for the sender, after it for the interface. One who began to wait after the
  /// send waited for the sender for no time, but for nobody else's packet.
  void add_delivered(const Wait& wait, WaitSite where, const Waking& waking) {
    const ActorId nic = device(ActorKind::nic, waking.nic);
    const Nanos sent_at = wait.wake - Nanos{waking.in_flight_ns};
    const Nanos sent = std::max(sent_at, wait.block);
    const Life* sender = waking.in_flight_ns == UINT32_MAX ? nullptr : life_at(waking.id, sent_at);
    if (sender == nullptr || sender->exit < sent) {
      where.waker = nic;
      return push(wait, where);
    }
    where.waker = sender->actor;
    where.waker_stack = stack(0, waking.user);
    if (wait.block == wait.wake) return push(wait, where);
    push({0, 0, wait.block, sent, sent}, where);
    where.waker = nic;
    where.waker_stack = kNoStack;
    where.in_flight = true;
    push({0, 0, sent, wait.wake, wait.run}, where);
  }

  void add(const offwait_preemption& record) {
    Preemption preemption;
    const Life* life = place(record.tid, record.out_ns, record.run_ns, preemption.out);
    if (life == nullptr) return;
    preemption.thread = life->actor;
    preemption.run = nanos(record.run_ns);
    progress_of(*life).last = preemption.run;
    trace_.preemptions.push_back(preemption);
  }

  void add(const offwait_gap& record) {
    Gap gap;
    const Life* life = place(record.tid, record.from_ns, record.to_ns, gap.from);
    if (life == nullptr) return;
    gap.thread = life->actor;
    gap.to = nanos(record.to_ns);
    progress_of(*life).last = gap.to;
    trace_.gaps.push_back(gap);
  }

  void add(const offwait_thread_record&) {}
  void add(const offwait_io&) {}

  void add(const offwait_false_mark& record) {
    const Nanos at = nanos(record.at_ns);
    if (at < begin_ || at >= end_) return;
    if (const Life* life = life_at(record.tid, at)) trace_.false_marks.push_back({life->actor, at});
  }

  void add(const offwait_sample& record) {
    const Nanos at = nanos(record.at_ns);
    if (at < begin_ || at >= end_) return;
    const Life* life = life_at(record.tid, at);
    if (life == nullptr) {
      lose(OFFWAIT_LOSS_record_invalid);
      return;
    }
    trace_.cpu_samples.push_back({life->actor, stack(record.kernel, record.user), at});
  }

  void add(const offwait_spin& record) {
    const Nanos end = nanos(record.end_ns);
    // One that reaches past the window's end would have to be open, and the thread runs.
    if (end <= begin_ || end >= end_ || record.begin_ns > record.end_ns) return;
    const Life* life = life_at(record.tid, end);
    if (life == nullptr) {
      lose(OFFWAIT_LOSS_record_invalid);
      return;
    }
    Spin spin;
    spin.thread = life->actor;
    spin.waker = waker_actor(OFFWAIT_WAKER_THREAD, record.waker, end);
    spin.begin = std::max(nanos(record.begin_ns), life->start);
    spin.end = end;
    if (record.frames > 0) {
      spin.stack = spin_stack(stack_of(record));
    }
    spins_.push_back(spin);
  }

  StackId spin_stack(const offwait_stack& stack) {
    std::vector<std::uint64_t> key{stack.tgid};
    key.insert(key.end(), std::begin(stack.pc), std::begin(stack.pc) + stack.frames);
    const auto [found, added] = spin_stacks_.try_emplace(std::move(key), kNoStack);
    if (added) {
      std::vector<FrameId> frames;
      append_frames(stack, frames);
      found->second = builder_.stack(frames);
    }
    return found->second;
  }

  /// What a thread is doing at the end, from the kernel's table.
  void add_open(std::uint32_t tid, const offwait_thread& thread) {
    if (thread.lost_since_ns != 0 && nanos(thread.lost_since_ns) < end_) {
      offwait_gap gap{};
      gap.tid = tid;
      gap.from_ns = thread.lost_since_ns == OFFWAIT_LOST_SINCE_BEGIN ? 0 : thread.lost_since_ns;
      gap.to_ns = std::max(thread.since_ns, thread.lost_since_ns);
      add(gap);
    }
    const std::uint8_t state = thread.state == OFFWAIT_STATE_UNKNOWN ? thread.seeded : thread.state;
    if (state == OFFWAIT_STATE_RUNNING) return;
    Nanos since = 0;
    const Life* life = place(tid, thread.since_ns, static_cast<std::uint64_t>(end_), since);
    if (life == nullptr) return;
    const Nanos left = state == OFFWAIT_STATE_BLOCKED ? std::max(nanos(thread.wake_ns), since) : since;
    if (nanos(thread.ran_ns) > left && nanos(thread.ran_ns) < end_)
      return add_found_running(*life, thread, since, left);
    progress_of(*life).open = true;
    switch (state) {
      case OFFWAIT_STATE_BLOCKED:
        add_left_wait(*life, thread, {0, 0, since, kNever, kNever});
        break;
      case OFFWAIT_STATE_RUNNABLE:
        trace_.preemptions.push_back({life->actor, since, kNever});
        break;
      default:
        trace_.gaps.push_back({life->actor, since, end_});
        break;
    }
  }

  /// The wait in the kernel's table, woken or not.
  void add_left_wait(const Life& life, const offwait_thread& thread, Wait wait) {
    WaitSite where;
    where.thread = life.actor;
    if (thread.peer != 0) where.peer = peer(thread.peer);
    wait.futex = thread.futex;
    where.wait_stack = stack(thread.wait_kernel, thread.wait_user);
    const auto tid = static_cast<std::uint32_t>(trace_.actors[life.actor].tid);
    add_blocked({tid, thread.since_ns}, life, thread.wait_kernel, thread.wait_user, where);
    WaitFacts facts{OFFWAIT_WAKER_UNKNOWN, thread.fd_kind, thread.flags, thread.syscall, thread.task_state};
    const bool woken = thread.wake_ns != 0 && nanos(thread.wake_ns) < end_;
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

  /// The table says that it left its CPU, but a probe found it running since: it was switched in unseen,
  /// after `left`.
  void add_found_running(const Life& life, const offwait_thread& thread, Nanos since, Nanos left) {
    if (thread.state == OFFWAIT_STATE_BLOCKED && thread.wake_ns != 0) {
      add_left_wait(life, thread, {0, 0, since, left, left});
    }
    Nanos& last = progress_of(life).last;
    last = nanos(thread.ran_ns);
    trace_.gaps.push_back({life.actor, left, last});
  }

  /// A thread that is neither in the kernel's table at the end nor known to have exited: its exit was lost,
  /// at a time unknown.
  void add_lost_exits() {
    std::unordered_set<std::uint32_t> left;
    for (const auto& [tid, thread] : recording_.threads) left.insert(tid);
    builder_.for_each_tid([&](std::int32_t tid, const TidLives& lives) {
      lives.for_each([&](const Life& life, const Life*) {
        const bool lost = exits_lost_.contains(life.actor) ||
                          (life.exit == kNever && !left.contains(static_cast<std::uint32_t>(tid)));
        if (!lost || life.actor == kNoActor || progress_of(life).open) return;
        const Nanos from = std::max({progress_of(life).last, life.start, begin_});
        const Nanos to = std::min(life.exit, end_);
        if (from < to) trace_.gaps.push_back({life.actor, from, to});
      });
    });
  }

  // --- consistency -------------------------------------------------------------------------------

  /// A thread cannot wake anybody while it is blocked itself. It takes clocks that disagree between CPUs to
  /// get here. An empty wait ended before it began: by then its waker may well sleep.
  void drop_impossible_wakers() {
    const ByThread waits(trace_.actors.size(), trace_.waits,
                         [this](const Wait& wait) { return trace_.sites[wait.site].thread; });
    for (Wait& wait : trace_.waits) {
      const WaitSite& where = trace_.sites[wait.site];
      if (where.waker == kNoActor || wait.wake == kNever || wait.block == wait.wake ||
          trace_.actors[where.waker].kind != ActorKind::thread)
        continue;
      const std::span<const std::uint32_t> others = waits.of(where.waker);
      const auto after = std::partition_point(
          others.begin(), others.end(),
          [this, &wait](std::uint32_t other) { return trace_.waits[other].block < wait.wake; });
      if (after == others.begin() || trace_.waits[*(after - 1)].wake < wait.wake) continue;
      lose(OFFWAIT_LOSS_waker_impossible);
      WaitSite unknown = where;
      unknown.waker = kNoActor;
      unknown.waker_stack = kNoStack;
      wait.site = builder_.site(unknown);
    }
  }

  // --- disks -------------------------------------------------------------------------------------

  /// Only disks that somebody waited for are actors.
  ActorId known_disk(std::uint32_t dev) const {
    const auto found = devices_.find({ActorKind::disk, dev});
    return found == devices_.end() ? kNoActor : found->second;
  }

  void add_io(const offwait_io& record) {
    DiskIo io;
    io.disk = known_disk(record.dev);
    if (io.disk == kNoActor || record.complete_ns < record.issue_ns || nanos(record.complete_ns) <= begin_ ||
        nanos(record.issue_ns) >= end_) {
      return;
    }
    io.issue = nanos(record.issue_ns);
    io.complete = nanos(record.complete_ns);
    io.bytes = record.bytes;
    if (record.tid != 0) {
      if (const Life* life = life_at(record.tid, io.issue)) io.thread = life->actor;
    }
    trace_.disk_ios.push_back(io);
  }

  void add_disk_counters() {
    for (const DiskCounters& counters : recording_.disk_counters) {
      const ActorId disk = known_disk(counters.dev);
      if (disk == kNoActor) continue;
      trace_.disk_samples.push_back({disk, counters.at, counters.bytes, counters.ios, counters.in_flight});
    }
  }

  /// Only interfaces that somebody waited for are actors.
  void add_nic_counters() {
    std::map<std::string_view, ActorId> known;
    for (const auto& [ends, actor] : devices_) {
      if (ends.first == ActorKind::nic) known.emplace(trace_.actors[actor].name, actor);
    }
    for (const NicCounters& counters : recording_.nic_counters) {
      const auto nic = known.find(counters.name);
      if (nic != known.end())
        trace_.nic_samples.push_back({nic->second, counters.at, counters.received, counters.sent});
    }
  }

  const KernelRecording& recording_;
  const StackNamer& name_stack_;
  const Nanos begin_;
  const Nanos end_;
  TraceBuilder builder_;
  Trace& trace_ = builder_.trace();
  std::vector<Progress> progress_;          ///< by ActorId, of threads
  std::unordered_set<ActorId> exits_lost_;  ///< their exit is when their tid had a new owner
  std::map<std::pair<ActorKind, std::uint32_t>, ActorId> devices_;
  std::unordered_map<std::uint32_t, PeerId> peers_;  ///< by the kernel's id
  std::unordered_map<std::uint64_t, StackId> stack_ids_;
  std::unordered_set<std::uint32_t> lacked_mapping_;  ///< the kernel's ids of user stacks that end so
  std::vector<Spin> spins_;
  std::map<std::vector<std::uint64_t>, StackId> spin_stacks_;
};

}  // namespace

void for_each_stack(const KernelRecording& recording,
                    const std::function<void(const offwait_stack&)>& visit) {
  for (const auto& [id, stack] : recording.stacks) visit(stack);
  if (recording.records.count(OFFWAIT_RECORD_SPIN) == 0) return;
  recording.records.for_each([&visit](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_spin>) visit(stack_of(record));
  });
}

Trace assemble(const KernelRecording& recording, const StackNamer& name_stack) {
  return Assembler(recording, name_stack).take();
}

}  // namespace offwait
