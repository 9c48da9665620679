// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/spin.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "model/histories.h"

namespace offwait {

namespace {

using Indices = std::span<const std::uint32_t>;

class SpinLayer {
 public:
  SpinLayer(Trace& trace, std::vector<Spin> spins)
      : trace_(trace),
        spins_(std::move(spins)),
        histories_(trace),
        wakings_(trace.actors.size()),
        wait_gone_(trace.waits.size(), false),
        preemption_gone_(trace.preemptions.size(), false) {
    std::sort(spins_.begin(), spins_.end(), [](const Spin& a, const Spin& b) {
      return std::tie(a.thread, a.begin) < std::tie(b.thread, b.begin);
    });
    for (const Wait& wait : trace.waits) {
      const ActorId waker = trace.sites[wait.site].waker;
      if (waker != kNoActor && has_spins(waker)) wakings_[waker].push_back(wait.wake);
    }
    for (std::vector<Nanos>& wakings : wakings_) std::sort(wakings.begin(), wakings.end());
  }

  void lay(const std::function<SiteId(const WaitSite&)>& site) {
    for (Spin spin : spins_) {
      cut(spin);
      if (spin.begin < spin.end && !lost(spin)) {
        if (const std::optional<Wait> wait = take(spin)) {
          added_.push_back(*wait);
          added_.back().site = site({spin.thread, spin.waker, WaitClass::spin, spin.stack, kNoStack});
        }
      }
    }
    finish();
  }

 private:
  std::span<const Spin> spins_of(ActorId thread) const {
    const auto begin = std::partition_point(spins_.begin(), spins_.end(),
                                            [&](const Spin& spin) { return spin.thread < thread; });
    const auto end =
        std::partition_point(begin, spins_.end(), [&](const Spin& spin) { return spin.thread == thread; });
    return {begin, end};
  }
  bool has_spins(ActorId thread) const { return !spins_of(thread).empty(); }

  void cut(Spin& spin) const {
    if (spin.waker != kNoActor) {
      // If the waker was blocked at the end, the spin ends where that wait began; if it was busy waiting
      // then, where that began. Each of the two can only move the end back.
      const Indices waits = histories_.of(spin.waker).waits;
      const auto after = std::partition_point(waits.begin(), waits.end(), [&](std::uint32_t wait) {
        return trace_.waits[wait].block < spin.end;
      });
      if (after != waits.begin() && trace_.waits[*(after - 1)].wake >= spin.end)
        spin.end = trace_.waits[*(after - 1)].block;
      const std::span<const Spin> spins = spins_of(spin.waker);
      const auto next = std::partition_point(spins.begin(), spins.end(),
                                             [&](const Spin& other) { return other.begin < spin.end; });
      if (next != spins.begin() && (next - 1)->end >= spin.end) spin.end = (next - 1)->begin;
    }
    const std::vector<Nanos>& wakings = wakings_[spin.thread];
    const auto last = std::upper_bound(wakings.begin(), wakings.end(), spin.end);
    if (last != wakings.begin()) spin.begin = std::max(spin.begin, *(last - 1));
  }

  bool lost(const Spin& spin) const {
    const Indices all = histories_.of(spin.thread).gaps;
    const auto at = std::partition_point(
        all.begin(), all.end(), [&](std::uint32_t gap) { return trace_.gaps[gap].to <= spin.begin; });
    return at != all.end() && trace_.gaps[*at].from < spin.end;
  }

  /// Takes what lies in the spin out of the thread's history. Returns the wait to put in its place, or
  /// nothing if a wait that goes on takes its place.
  std::optional<Wait> take(const Spin& spin) {
    Wait wait{0, kNoObject, spin.begin, spin.end, spin.end};
    const Indices preemptions = histories_.of(spin.thread).preemptions;
    for (auto at =
             std::partition_point(preemptions.begin(), preemptions.end(),
                                  [&](std::uint32_t i) { return trace_.preemptions[i].out < spin.begin; });
         at != preemptions.end() && trace_.preemptions[*at].out < spin.end; ++at) {
      preemption_gone_[*at] = true;
      wait.run = std::max(wait.run, trace_.preemptions[*at].run);
    }
    const Indices waits = histories_.of(spin.thread).waits;
    for (auto at = std::partition_point(waits.begin(), waits.end(),
                                        [&](std::uint32_t i) { return trace_.waits[i].block < spin.begin; });
         at != waits.end() && trace_.waits[*at].block < spin.end; ++at) {
      Wait& inside = trace_.waits[*at];
      if (inside.wake >= spin.end) {
        inside.block = spin.begin;
        return std::nullopt;
      }
      wait_gone_[*at] = true;
      wait.run = std::max(wait.run, inside.run);
    }
    return wait;
  }

  void finish() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < trace_.waits.size(); ++i) {
      if (!wait_gone_[i]) trace_.waits[kept++] = trace_.waits[i];
    }
    trace_.waits.resize(kept);
    trace_.waits.insert(trace_.waits.end(), added_.begin(), added_.end());
    std::stable_sort(trace_.waits.begin(), trace_.waits.end(), [](const Wait& a, const Wait& b) {
      return std::tie(a.block, a.run) < std::tie(b.block, b.run);
    });
    kept = 0;
    for (std::size_t i = 0; i < trace_.preemptions.size(); ++i) {
      if (!preemption_gone_[i]) trace_.preemptions[kept++] = trace_.preemptions[i];
    }
    trace_.preemptions.resize(kept);
  }

  Trace& trace_;
  std::vector<Spin> spins_;
  Histories histories_;
  std::vector<std::vector<Nanos>> wakings_;
  std::vector<bool> wait_gone_;
  std::vector<bool> preemption_gone_;
  std::vector<Wait> added_;
};

}  // namespace

void overlay_spins(Trace& trace, std::vector<Spin> spins,
                   const std::function<SiteId(const WaitSite&)>& site) {
  SpinLayer(trace, std::move(spins)).lay(site);
}

}  // namespace offwait
