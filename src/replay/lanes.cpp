// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/lanes.h"

#include <algorithm>
#include <utility>

#include "base/side_by_side.h"
#include "progress/group_use.h"
#include "replay/in_one_place.h"
#include "replay/lane_factors.h"
#include "replay/lane_state.h"
#include "replay/origins.h"
#include "replay/shared_events.h"

namespace offwait {

namespace {

class Replay {
 public:
  Replay(const ReplayInput& input, SharedEvents& events, const std::vector<Scenario>& scenarios,
         std::size_t pieces)
      : input_(input),
        trace_(input.trace),
        events_(events),
        lanes_((scenarios.size() + kBlock - 1) / kBlock * kBlock),
        scenarios_(scenarios.size()),
        factors_(factors_of(scenarios, lanes_)),
        code_(trace_, input.code, scenarios, factors_, lanes_),
        threads_(trace_.actors.size()),
        now_(trace_.actors.size(), lanes_, 0.0),
        snapshots_(trace_.actors.size(), lanes_, 0.0),
        piece_begins_(trace_.actors.size(), lanes_, 0.0),
        pending_(trace_.actors.size()),
        woken_(trace_.actors.size()),
        origins_(origins_of(trace_)),
        ties_(input.ties),
        in_one_place_(trace_, input.groups, input.kinds, ties_),
        reached_(lanes_),
        waited_(lanes_),
        ones_(lanes_, 1.0) {
    set_factors(scenarios);
    out_ = nothing_replayed(scenarios_, pieces, input.groups.groups.size());
    done_.assign(out_.pieces.size(), std::vector<Nanos>(threads_.size()));
    took_.assign(out_.pieces.size(), Rows(threads_.size(), lanes_, 0.0));
  }

  Replayed run() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") != 0) return run_wide();
#endif
    return run_all();
  }

 private:
#if defined(__x86_64__)
  /// The same, with all that it calls compiled for registers twice as wide. Without instructions that round
  /// less often, so that the result is the same.
  [[gnu::target("avx2"), gnu::flatten]] Replayed run_wide() { return run_all(); }
#endif

  Replayed run_all() {
    std::size_t piece = 0;
    while (const std::optional<Event> event = events_.next()) {
      while (piece < out_.pieces.size() && event->at >= piece_end(piece)) {
        close_piece(piece++);
      }
      if (piece == out_.pieces.size()) break;
      take(*event);
    }
    while (piece < out_.pieces.size()) {
      close_piece(piece++);
    }
    add_up();
    return std::move(out_);
  }

  void set_factors(const std::vector<Scenario>& scenarios) {
    for (ActorId id = 0; id < threads_.size(); ++id) {
      LaneThread& thread = threads_[id];
      thread.group = input_.groups.group_of[id];
      if (thread.group != kNoGroup) {
        thread.cpu = code_.any() ? code_.work_of(thread.group) : factors_.of(Resource::cpu, thread.group);
        thread.sleep = factors_.of(Resource::sleep, thread.group);
        thread.remote = factors_.of(Resource::remote, thread.group);
        thread.holds = input_.holds.of(id);
      }
    }
    for (std::uint32_t id = 0; id < input_.kinds.collected.size(); ++id) {
      if (!input_.kinds.collected[id]) continue;
      std::vector<double>& woken = woken_[trace_.sites[trace_.waits[id].site].thread];
      if (woken.empty()) woken.assign(lanes_, 0.0);
    }
    for (ServiceId id = 0; id < input_.kinds.services.all.size(); ++id) {
      services_.push_back(factors_.of(Resource::remote, kNoGroup, id));
    }
    for (LockId id = 0; id < input_.holds.locks().size(); ++id) {
      held_.push_back(factors_.of(Resource::held, kNoGroup, id));
      lock_waits_.push_back(factors_.of(Resource::waited, kNoGroup, id));
    }
    // Threads queue behind all that runs, other programs included.
    const double used_ns = static_cast<double>(running_of_all(input_.uses)) +
                           input_.cpus.others * static_cast<double>(trace_.window.length()) + 1;
    runnable_ = input_.cpus.are_short() ? shorter_queues(scenarios, lanes_, input_.uses, input_.code, used_ns)
                                        : ones_;
  }

  Nanos piece_end(std::size_t piece) const {
    const auto pieces = static_cast<Nanos>(out_.pieces.size());
    if (static_cast<Nanos>(piece) + 1 >= pieces) return kNever;
    return trace_.window.begin + trace_.window.length() / pieces * (static_cast<Nanos>(piece) + 1);
  }

  void close_piece(std::size_t piece) {
    for (ActorId id = 0; id < threads_.size(); ++id) {
      LaneThread& thread = threads_[id];
      if (thread.state == LaneState::absent) {
        continue;
      }
      // A thread that ran to its end has no event there.
      const bool last = piece + 1 == out_.pieces.size();
      if (last && thread.state == LaneState::running) {
        advance(id, std::min(trace_.window.end, trace_.actors[id].exit));
      }
      done_[piece][id] = thread.last - thread.piece_from;
      const ConstRow now = now_[id];
      const Row from = piece_begins_[id];
      const Row took = took_[piece][id];
      for (std::size_t lane = 0; lane < scenarios_; ++lane) {
        const double reached = now[lane] + thread.timed_out_ns;
        took[lane] = reached - from[lane];
        from[lane] = reached;
      }
      thread.piece_from = thread.last;
    }
  }

  /// Sums of the groups. Each thread goes on at a pace of its own, and the group does what its threads do
  /// together: its speed is the mean of theirs. That is what its times are divided by if each thread's count
  /// in proportion to its speed.
  void add_up() {
    for (ActorId id = 0; id < threads_.size(); ++id) {
      Nanos done = 0;
      for (const std::vector<Nanos>& in_piece : done_) done += in_piece[id];
      if (done <= 0) continue;
      // The window cuts off the work after the thread's last wait. That is known to go on as it did.
      const double cut_off = static_cast<double>(done) / (1 + input_.uses.thread_weights[id]);
      for (std::size_t lane = 0; lane < scenarios_; ++lane) {
        double took = 0;
        for (Rows& in_piece : took_) took += in_piece[id][lane];
        took = std::max(took, 0.0);  // it may have got the times of a thread that was there before it
        const double speed = (static_cast<double>(done) + cut_off) / (took + cut_off);
        for (std::size_t piece = 0; piece < out_.pieces.size(); ++piece) {
          const auto done_in_piece = static_cast<double>(done_[piece][id]);
          GroupTime& time = out_.pieces[piece][threads_[id].group];
          time.done_ns[lane] += input_.uses.thread_weights[id] * speed * done_in_piece;
          time.took_ns[lane] += input_.uses.thread_weights[id] * speed * took_[piece][id][lane];
          if (id == input_.thread) {
            out_.thread.done_ns[lane] += done_in_piece;
            out_.thread.took_ns[lane] += took_[piece][id][lane];
          }
        }
      }
    }
  }

  void take(const Event& event) {
    switch (event.what) {
      case Event::What::born:
        return born(event);
      case Event::What::block:
        return block(event);
      case Event::What::wake:
        return wake(event);
      case Event::What::run:
        advance(event.thread, event.at);
        threads_[event.thread].state = LaneState::running;
        return;
      case Event::What::preempted:
        advance(event.thread, event.at);
        threads_[event.thread].state = LaneState::runnable;
        threads_[event.thread].runnable = runnable_.data();
        return;
    }
  }

  void born(const Event& event) {
    LaneThread& thread = threads_[event.thread];
    thread.state = LaneState::running;
    thread.piece_from = event.at;
    leave(thread, event.at);
    double* const now = now_[event.thread];
    const ActorId origin = origins_[event.thread];
    if (origin != kNoActor && threads_[origin].state != LaneState::absent) {
      reach(origin, event.at, now);
    } else {
      std::fill_n(now, lanes_, static_cast<double>(event.at - trace_.window.begin));
    }
    std::copy_n(now, lanes_, piece_begins_[event.thread]);
  }

  /// Where the thread is at recorded time `at`, if it is not blocked then, with time-outs as they were.
  void reach(ActorId id, Nanos at, Row out) {
    go_on(id, at, out);
    const double timed_out = threads_[id].timed_out_ns;
    if (timed_out != 0) set_row(out, lanes_, [&](std::size_t i) { return out[i] + timed_out; });
  }

  /// The same, without the time in time-outs.
  void go_on(ActorId id, Nanos at, Row out) {
    const LaneThread& thread = threads_[id];
    const auto elapsed = static_cast<double>(at - thread.last);
    const ConstRow factor = thread.state == LaneState::running    ? thread.cpu
                            : thread.state == LaneState::runnable ? thread.runnable
                                                                  : nullptr;
    const ConstRow now = now_[id];
    if (factor == nullptr) {
      return set_row(out, lanes_, [&](std::size_t i) { return now[i] + elapsed; });
    }
    set_row(out, lanes_, [&](std::size_t i) { return now[i] + elapsed * factor[i]; });
    if (thread.state != LaneState::running) return;
    for (const Hold& hold : thread.holds) {
      if (hold.from >= at) break;
      const auto held = static_cast<double>(std::min(hold.to, at) - std::max(hold.from, thread.last));
      const ConstRow of_lock = held_[hold.lock];
      set_row(out, lanes_, [&](std::size_t i) { return out[i] - held * factor[i] * (1 - of_lock[i]); });
    }
  }

  void advance(ActorId id, Nanos at) {
    go_on(id, at, now_[id]);
    leave(threads_[id], at);
  }

  /// The thread is at recorded time `at`.
  static void leave(LaneThread& thread, Nanos at) {
    thread.last = at;
    while (!thread.holds.empty() && thread.holds.front().to <= at) {
      thread.holds = thread.holds.subspan(1);
    }
  }

  void block(const Event& event) {
    advance(event.thread, event.at);
    LaneThread& thread = threads_[event.thread];
    thread.state = LaneState::blocked;
    thread.snapshot_valid = false;
    const SiteId site_id = trace_.waits[event.wait].site;
    in_one_place_.come(event.thread, trace_.waits[event.wait]);
    const WaitSite& site = trace_.sites[site_id];
    if (input_.kinds.of_site[site_id] == WaitKind::disk) {
      thread.request = queue_of(site.waker, thread.group).issued++;
    } else if (ties_.of_site[site_id] == Tie::lasts && threads_[site.waker].state != LaneState::absent) {
      if (threads_[site.waker].state == LaneState::blocked) {
        pending_[site.waker].push_back({event.thread, event.at});
      } else {
        reach(site.waker, event.at, snapshots_[event.thread]);
        thread.snapshot_valid = true;
      }
    }
  }

  DiskQueue& queue_of(ActorId disk, GroupId group) {
    const auto [found, added] = queues_.try_emplace({disk, group});
    DiskQueue& queue = found->second;
    if (added) {
      queue.channels = input_.channels[disk].known;
      if (queue.channels != 0) {
        queue.recorded.assign(queue.slots(), 0);
        queue.replayed.emplace(queue.slots(), lanes_, 0.0);
      }
      queue.own = factors_.of(Resource::io, group, disk);
      queue.other = factors_.of(Resource::disk, kNoGroup, disk);
    }
    return queue;
  }

  void wake(const Event& event) {
    LaneThread& thread = threads_[event.thread];
    const SiteId site_id = trace_.waits[event.wait].site;
    const WaitSite& site = trace_.sites[site_id];
    in_one_place_.go(event.thread, trace_.waits[event.wait]);
    came_at_ = now_[event.thread];
    if (input_.kinds.time_outs.came_to_nothing(event.wait)) return time_out(event);
    const double length =
        static_cast<double>(event.at - thread.last) + std::exchange(thread.timed_out_ns, 0.0);
    DiskQueue* queue = nullptr;
    switch (input_.kinds.of_site[site_id]) {
      case WaitKind::handover:
      case WaitKind::lock:
        wait_for_thread(event, site.waker, ties_.of_site[site_id], length);
        break;
      case WaitKind::disk:
        queue = &wait_for_disk(event, site_id, length);
        break;
      case WaitKind::timer:
        if (is_at_fixed_rate(input_.kinds.sleeps.of_site[site_id])) {
          wait_for_moment(event, site_id, length);
        } else {
          wait_scaled(thread.sleep, code_.wait(Resource::sleep, site_id), length);
        }
        break;
      case WaitKind::throttled:
        wait_for_pace(event, length);
        break;
      case WaitKind::remote:
        wait_remote(thread.remote, site_id, length);
        break;
      case WaitKind::below:
      case WaitKind::paused:
        wait_below(event, length);
        break;
      case WaitKind::transit:
      case WaitKind::looked:
        wait_for_thread(event, input_.kinds.let_go_by(event.wait), Tie::follows, length);
        break;
      case WaitKind::stopped:
      case WaitKind::unknown:
        std::fill(waited_.begin(), waited_.end(), length);
        break;
    }
    if (!thread.holds.empty()) shorten_what_is_held(thread, event, length);
    if (queue != nullptr) complete_request(event, *queue);
    settle_pending(event, length);
    double* const now = now_[event.thread];
    const LockId lock = input_.holds.lock_of(input_.kinds, trace_.waits[event.wait]);
    if (lock != kNoLock) {
      const ConstRow factor = lock_waits_[lock];
      set_row(waited_.data(), lanes_, [&](std::size_t i) { return waited_[i] * factor[i]; });
    }
    set_row(now, lanes_, [&](std::size_t i) { return now[i] + waited_[i]; });
    leave(thread, event.at);
    thread.woke = event.at;
    if (std::vector<double>& woken = woken_[event.thread]; !woken.empty()) {
      std::copy_n(now, lanes_, woken.begin());
    }
    thread.state = LaneState::runnable;
    thread.runnable = runnable_.data();
    if (code_.any()) {
      thread.cpu = code_.work_after(site_id);
      thread.runnable = runnable_after(site_id);
    }
  }

  /// The thread timed out before what it waits for came. The time belongs to the wait that this will end.
  void time_out(const Event& event) {
    LaneThread& thread = threads_[event.thread];
    thread.timed_out_ns += static_cast<double>(event.at - thread.last);
    std::fill(waited_.begin(), waited_.end(), 0.0);
    settle_pending(event, 0);
    leave(thread, event.at);
    thread.state = LaneState::runnable;
    thread.runnable = runnable_.data();
  }

  /// Scales the part of a wait in which the thread holds a lock by that lock's factor. Waits for threads, and
  /// until a moment, stay as they are.
  void shorten_what_is_held(const LaneThread& thread, const Event& event, double length) {
    const SiteId site = trace_.waits[event.wait].site;
    const WaitKind kind = input_.kinds.of_site[site];
    const bool by_others =
        kind == WaitKind::handover || kind == WaitKind::lock || kind == WaitKind::throttled;
    if (by_others || is_at_fixed_rate(input_.kinds.sleeps.of_site[site]) || length <= 0) return;
    for (const Hold& hold : thread.holds) {
      if (hold.from >= event.at) break;
      const auto held = static_cast<double>(std::min(hold.to, event.at) - std::max(hold.from, thread.last));
      const ConstRow of_lock = held_[hold.lock];
      if (held <= 0) continue;
      const double part = held / length;
      set_row(waited_.data(), lanes_,
              [&](std::size_t i) { return waited_[i] * (1 - part * (1 - of_lock[i])); });
    }
  }

  ConstRow runnable_after(SiteId site) {
    const auto [found, added] = runnable_after_.try_emplace(site);
    if (added) {
      const ConstRow code = code_.wait(Resource::runnable, site);
      for (std::size_t i = 0; i < lanes_; ++i) found->second.push_back(runnable_[i] * code[i]);
    }
    return found->second.data();
  }

  void wait_scaled(ConstRow own, ConstRow code, double length) {
    set_row(waited_.data(), lanes_, [&](std::size_t i) { return length * own[i] * code[i]; });
  }

  void wait_remote(ConstRow own, SiteId site, double length) {
    const ServiceId service = input_.kinds.services.of_site[site];
    const bool is_recorded = input_.kinds.services.is_recorded(service);
    wait_scaled(is_recorded ? ones_.data() : own, code_.wait(Resource::remote, site), length);
    if (service == kNoService) return;
    const ConstRow factor = services_[service];
    set_row(waited_.data(), lanes_, [&](std::size_t i) { return waited_[i] * factor[i]; });
  }

  /// Until the end of the period that the thread is in.
  void wait_for_moment(const Event& event, SiteId site, double length) {
    Moments& moments = moments_[event.thread];
    FixedRate rate{1, 0, length};
    if (moments.recorded != kNever) {
      const auto since = static_cast<double>(event.at - moments.recorded);
      rate = at_fixed_rate(since, since - length, input_.kinds.sleeps.period_ns[site]);
    }
    wait_scaled(threads_[event.thread].sleep, code_.wait(Resource::sleep, site), rate.period_ns);
    moments.wait(event.at, now_[event.thread], waited_.data(), rate.worked, rate.slept, lanes_);
  }

  /// Until the thread that is behind gets to where it was then.
  void wait_for_pace(const Event& event, double length) {
    const auto found = input_.kinds.sleeps.at_work.find(event.wait);
    if (found == input_.kinds.sleeps.at_work.end() || threads_[found->second].state == LaneState::absent) {
      std::fill(waited_.begin(), waited_.end(), length);
      return;
    }
    reach(found->second, event.at, reached_.data());
    const ConstRow now = now_[event.thread];
    const ConstRow reached = reached_.data();
    set_row(waited_.data(), lanes_, [&](std::size_t i) { return std::max(0.0, reached[i] - now[i]); });
  }

  void wait_below(const Event& event, double length) {
    const GroupId group = threads_[event.thread].group;
    const SiteId site = trace_.waits[event.wait].site;
    const ConstRow code = code_.wait(Resource::io, site);
    std::fill(waited_.begin(), waited_.end(), length);
    for (const DiskPart& part : parts_of(input_.kinds.disk_parts, event.wait)) {
      const ConstRow own = factors_.of(Resource::io, group, part.disk);
      const ConstRow other = factors_.of(Resource::disk, kNoGroup, part.disk);
      const auto served = static_cast<double>(part.part_ns);
      set_row(waited_.data(), lanes_,
              [&](std::size_t i) { return waited_[i] - served * (1 - own[i] * other[i] * code[i]); });
    }
    if (input_.kinds.of_site[site] == WaitKind::paused) {
      const ConstRow pause = factors_.of(Resource::pause, kNoGroup, paused_above(trace_, trace_.sites[site]));
      set_row(waited_.data(), lanes_, [&](std::size_t i) { return waited_[i] * pause[i]; });
    }
    // A disk that is made of another one is under way together with it.
    set_row(waited_.data(), lanes_, [&](std::size_t i) { return std::max(waited_[i], 0.0); });
  }

  /// `waker`: kNoActor if it is not known who ended the wait.
  void wait_for_thread(const Event& event, ActorId waker, Tie tie, double length) {
    const LaneThread& thread = threads_[event.thread];
    const bool is_absent = waker != kNoActor && threads_[waker].state == LaneState::absent;
    const SiteId site = trace_.waits[event.wait].site;
    if (is_absent && input_.kinds.services.of_site[site] != kNoService) {
      return wait_remote(thread.remote, site, length);
    }
    if (tie == Tie::none || waker == kNoActor || is_absent || (tie == Tie::lasts && !thread.snapshot_valid)) {
      std::fill(waited_.begin(), waited_.end(), length);
      return;
    }
    reach(waker, event.at, reached_.data());
    const ConstRow now = now_[event.thread];
    const double most = ties_.longest(thread.group, length);
    if (tie == Tie::lasts) {
      const double timed_out = length - static_cast<double>(event.at - thread.last);
      const ConstRow from = snapshots_[event.thread];
      const ConstRow released = reached_.data();
      // The rates of both threads are recorded time ÷ replayed time since the window's start.
      const double began = static_cast<double>(thread.last - trace_.window.begin) + 1;
      const double ended = static_cast<double>(event.at - trace_.window.begin) + 1;
      return set_row(waited_.data(), lanes_, [&](std::size_t i) {
        const double meets = std::clamp(ended / (released[i] + 1) * ((now[i] + 1) / began), 0.5, 2.0);
        return std::min((released[i] - from[i]) * meets + timed_out, most);
      });
    }
    const ConstRow reached = reached_.data();
    came_at_ = in_one_place_.take_turn(event.thread, trace_.waits[event.wait], reached, now_, lanes_);
    set_row(waited_.data(), lanes_, [&](std::size_t i) {
      return std::min(std::max(0.0, reached[i] - now[i]), most + came_at_[i] - now[i]);
    });
  }

  /// The queue in which the request was.
  DiskQueue& wait_for_disk(const Event& event, SiteId site, double length) {
    const LaneThread& thread = threads_[event.thread];
    DiskQueue& queue = queue_of(trace_.sites[site].waker, thread.group);
    const ConstRow code = code_.wait(Resource::io, site);
    const ConstRow now = now_[event.thread];
    if (!input_.kinds.collected.empty() && input_.kinds.collected[event.wait] && thread.woke != kNever) {
      // The disk worked on the request from the end of the thread's last wait on, while the thread ran.
      const auto took = static_cast<double>(event.at - thread.woke);
      const std::vector<double>& woken = woken_[event.thread];
      set_row(waited_.data(), lanes_, [&](std::size_t i) {
        const double done = woken[i] + took * queue.own[i] * queue.other[i] * code[i];
        return std::max(0.0, done - now[i]);
      });
      return queue;
    }
    const std::uint64_t slots = queue.slots();
    const bool queued = queue.channels != 0 && thread.request >= queue.channels &&
                        queue.completed <= thread.request - queue.channels + slots &&
                        thread.request - queue.channels < queue.completed;
    if (!queued) {
      set_row(waited_.data(), lanes_,
              [&](std::size_t i) { return length * queue.own[i] * queue.other[i] * code[i]; });
    } else {
      const std::uint64_t before = (thread.request - queue.channels) % slots;
      const double timed_out = length - static_cast<double>(event.at - thread.last);
      const double service =
          static_cast<double>(event.at - std::max(thread.last, queue.recorded[before])) + timed_out;
      const ConstRow free = (*queue.replayed)[before];
      if (thread.last <= queue.recorded[before]) {
        came_at_ = in_one_place_.take_turn(event.thread, trace_.waits[event.wait], free, now_, lanes_);
      }
      const double most = ties_.longest(thread.group, length);
      set_row(waited_.data(), lanes_, [&](std::size_t i) {
        const double queues = std::max(0.0, free[i] - now[i]);
        return std::min(queues + service * queue.own[i] * queue.other[i] * code[i],
                        most + came_at_[i] - now[i]);
      });
    }
    return queue;
  }

  /// A request of the event's thread is done after waited_. Later ones of its group queue behind it.
  void complete_request(const Event& event, DiskQueue& queue) {
    if (queue.channels != 0) {
      const std::uint64_t slot = queue.completed % queue.slots();
      queue.recorded[slot] = event.at;
      const ConstRow now = now_[event.thread];
      double* const done = (*queue.replayed)[slot];
      set_row(done, lanes_, [&](std::size_t i) { return now[i] + waited_[i]; });
    }
    ++queue.completed;
  }

  /// Finds where this thread was when others began to wait for it during the wait that ends now.
  void settle_pending(const Event& event, double length) {
    const LaneThread& thread = threads_[event.thread];
    const ConstRow now = now_[event.thread];
    for (const Pending& pending : pending_[event.thread]) {
      const double part = length > 0 ? static_cast<double>(pending.at - thread.last) / length : 0;
      double* const snapshot = snapshots_[pending.waiter];
      set_row(snapshot, lanes_, [&](std::size_t i) { return now[i] + waited_[i] * part; });
      threads_[pending.waiter].snapshot_valid = true;
      // Where it goes on in another one's stead it was not there yet, and waits no longer.
      set_row(snapshot, lanes_, [&](std::size_t i) { return std::max(snapshot[i], came_at_[i]); });
    }
    pending_[event.thread].clear();
  }

  const ReplayInput& input_;
  const Trace& trace_;
  SharedEvents::Reader events_;
  std::size_t lanes_;
  std::size_t scenarios_;
  Factors factors_;
  CodeFactors code_;
  std::vector<LaneThread> threads_;
  Rows now_;
  Rows snapshots_;
  Rows piece_begins_;
  std::vector<std::vector<Nanos>> done_;  ///< by piece and ActorId
  std::vector<Rows> took_;                ///< by piece; its rows by ActorId
  std::vector<std::vector<Pending>> pending_;
  /// By ActorId: where a thread was at LaneThread::woke; empty for those that collect no requests.
  std::vector<std::vector<double>> woken_;
  std::map<std::pair<ActorId, GroupId>, DiskQueue> queues_;
  std::map<ActorId, Moments> moments_;
  std::vector<ActorId> origins_;
  const Ties& ties_;
  InOnePlace in_one_place_;
  std::vector<ConstRow> services_;    ///< factors of waits for each service, by ServiceId
  std::vector<ConstRow> held_;        ///< factors of work while each lock is held, by LockId
  std::vector<ConstRow> lock_waits_;  ///< factors of waits for each lock, by LockId
  std::vector<double> runnable_;
  std::map<SiteId, std::vector<double>> runnable_after_;  ///< with changes of functions
  std::vector<double> reached_;
  std::vector<double> waited_;
  ConstRow came_at_ = nullptr;  ///< when the thread that wakes up itself got there
  std::vector<double> ones_;
  Replayed out_;
};

}  // namespace

Replayed replay(const ReplayInput& input, const std::vector<Scenario>& scenarios, std::size_t pieces) {
  // No lane depends on another one. With fewer of them the events would take more time than the lanes.
  constexpr std::size_t kFewest = 16;
  const std::size_t parts = parts_of_work(scenarios.size(), kFewest);
  const auto begin = [&](std::size_t part) {
    return scenarios.begin() + static_cast<std::ptrdiff_t>(scenarios.size() * part / parts);
  };
  SharedEvents events(input.trace, input.histories);
  std::vector<Replayed> replayed(parts);
  each_side_by_side(parts, [&](std::size_t part) {
    const std::vector<Scenario> some(begin(part), begin(part + 1));
    replayed[part] = Replay(input, events, some, pieces).run();
  });
  Replayed out = std::move(replayed.front());
  for (std::size_t part = 1; part < parts; ++part) add_scenarios(out, replayed[part]);
  return out;
}

}  // namespace offwait
