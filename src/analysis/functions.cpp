// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/functions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/code_uses.h"
#include "analysis/stack_functions.h"
#include "model/called.h"

namespace offwait {

namespace {

constexpr std::size_t kMostCallers = 3;

/// The time that was spent in one stack.
struct FunctionTimes {
  CodeTime time;
  double critical_s = 0;
  std::uint64_t samples = 0;
  std::uint64_t waits = 0;
  bool empty() const { return samples == 0 && waits == 0 && time.total_s() <= 0; }
};

void add(FunctionTimes& sum, const FunctionTimes& more) {
  add(sum.time, more.time);
  sum.critical_s += more.critical_s;
  sum.samples += more.samples;
  sum.waits += more.waits;
}

/// The part of a group's time that has no stack of its own. It is divided among the stacks that the group's
/// samples show.
struct GroupTime {
  double running_s = 0;
  double preempted_s = 0;
  double critical_s = 0;
  double weights = 0;  ///< of all samples, by criticality
  std::uint64_t samples = 0;
};

class FunctionTable {
 public:
  FunctionTable(const Trace& trace, const ThreadGroups& groups, const CodeUses& uses,
                const Criticality& criticality)
      : trace_(trace),
        groups_(groups),
        uses_(uses),
        criticality_(criticality),
        functions_(trace),
        stacks_(trace.stacks.size()) {}

  FoundFunctions run() {
    name_threads();
    add_waits();
    add_running();
    return rows();
  }

 private:
  bool counts(ActorId thread) const {
    const GroupId group = groups_.group_of[thread];
    return group != kNoGroup && uses_.counts[group];
  }

  void name_threads() {
    std::map<std::string, std::size_t> names;
    for (GroupId id = 0; id < groups_.groups.size(); ++id) {
      if (!uses_.counts[id]) continue;
      names[groups_.groups[id].name] += groups_.groups[id].members.size();
      out_.threads += groups_.groups[id].members.size();
    }
    std::vector<std::pair<std::size_t, std::string>> sorted;
    for (const auto& [name, threads] : names) sorted.emplace_back(threads, name);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [threads, name] : sorted) out_.names.push_back(std::move(name));
  }

  void add_to(StackId stack, const FunctionTimes& amounts) {
    add(out_.counted, amounts.time);
    if (stack == kNoStack || trace_.stacks[stack].empty()) {
      add(out_.without_stack, amounts.time);
    } else {
      add(stacks_[stack], amounts);
    }
  }

  void add_waits() {
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      if (trace_.actors[site.thread].outside) continue;
      if (!counts(site.thread)) {
        out_.apart_s += to_seconds(uses_.waits[id].wait_ns + uses_.waits[id].runnable_ns);
        continue;
      }
      WaitSum sum = uses_.waits[id];
      if (uses_.requests[id]) {
        out_.requests_s += to_seconds(sum.wait_ns);
        sum.wait_ns = 0;
        sum.ended = 0;
      }
      FunctionTimes amounts;
      add_wait(amounts.time, site.wait_class, sum);
      amounts.waits = sum.ended;
      add_to(site.wait_stack, amounts);
    }
  }

  void add_running() {
    std::vector<GroupTime> groups(groups_.groups.size());
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      const Criticality::Thread& thread = criticality_.threads[id];
      if (trace_.actors[id].kind != ActorKind::thread || trace_.actors[id].outside) continue;
      if (!counts(id)) {
        out_.apart_s += to_seconds(thread.running_ns);
        continue;
      }
      GroupTime& group = groups[groups_.group_of[id]];
      group.running_s += to_seconds(thread.running_ns);
      group.critical_s += thread.critical_ns / 1e9;
    }
    for (const Preemption& preemption : trace_.preemptions) {
      if (!counts(preemption.thread)) continue;
      groups[groups_.group_of[preemption.thread]].preempted_s +=
          to_seconds(clipped(preemption.out, preemption.run, trace_.window));
    }
    for (std::size_t i = 0; i < trace_.cpu_samples.size(); ++i) {
      const CpuSample& sample = trace_.cpu_samples[i];
      if (criticality_.samples[i] <= 0 || !counts(sample.thread)) continue;
      GroupTime& group = groups[groups_.group_of[sample.thread]];
      ++group.samples;
      group.weights += static_cast<double>(criticality_.samples[i]);
      ++out_.samples;
    }
    share_out(groups);
  }

  void share_out(const std::vector<GroupTime>& groups) {
    for (const GroupTime& group : groups) {
      if (group.samples > 0) continue;
      FunctionTimes amounts;
      amounts.time.cpu_s = group.running_s;
      amounts.time.runnable_s = group.preempted_s;
      add_to(kNoStack, amounts);
    }
    for (std::size_t i = 0; i < trace_.cpu_samples.size(); ++i) {
      const CpuSample& sample = trace_.cpu_samples[i];
      if (criticality_.samples[i] <= 0 || !counts(sample.thread)) continue;
      const GroupTime& group = groups[groups_.group_of[sample.thread]];
      FunctionTimes amounts;
      amounts.time.cpu_s = group.running_s / static_cast<double>(group.samples);
      amounts.time.runnable_s = group.preempted_s / static_cast<double>(group.samples);
      amounts.critical_s = group.critical_s * static_cast<double>(criticality_.samples[i]) / group.weights;
      amounts.samples = 1;
      add_to(sample.stack, amounts);
    }
  }

  /// The sums of one function.
  struct Row {
    struct Caller {
      double time_s = 0;
      double longest_s = 0;          ///< in one stack
      std::vector<FunctionId> path;  ///< of that stack
    };
    FunctionTimes self;
    FunctionTimes all;
    std::map<FunctionId, Caller> callers;
  };

  void add_caller(Row& row, const std::vector<FrameId>& frames, double time_s) const {
    std::vector<FunctionId> path;
    for (std::size_t i = 1; i < frames.size() && path.size() < kMostCallers; ++i) {
      if (functions_.is_own(frames[i])) path.push_back(functions_.of(frames[i]));
    }
    if (path.empty()) return;
    Row::Caller& caller = row.callers[path.front()];
    caller.time_s += time_s;
    if (time_s > caller.longest_s) {
      caller.longest_s = time_s;
      caller.path = std::move(path);
    }
  }

  void add_stack(const std::vector<FrameId>& frames, const FunctionTimes& amounts, std::vector<Row>& rows) {
    const double time_s = amounts.time.total_s();
    Row& self = rows[functions_.of(frames.front())];
    add(self.self, amounts);
    add_caller(self, frames, time_s);
    std::vector<FunctionId> seen;
    for (const FrameId frame : frames) {
      const FunctionId function = functions_.of(frame);
      if (std::find(seen.begin(), seen.end(), function) != seen.end()) continue;
      seen.push_back(function);
      add(rows[function].all, amounts);
      const Frame& place = trace_.frames[frame];
      if (!place.file.empty()) lines_[{function, place.file, place.line}] += time_s;
    }
  }

  FoundFunction found(FunctionId id, const Row& row) const {
    FoundFunction out;
    out.function = functions_.all[id];
    out.self = row.self.time;
    out.all = row.all.time;
    out.critical_s = row.self.critical_s;
    out.critical_all_s = row.all.critical_s;
    out.samples = row.all.samples;
    out.waits = row.all.waits;
    const auto most =
        std::max_element(row.callers.begin(), row.callers.end(),
                         [](const auto& a, const auto& b) { return a.second.time_s < b.second.time_s; });
    if (most != row.callers.end() && row.self.time.total_s() > 0) {
      for (const FunctionId caller : most->second.path) out.callers.push_back(functions_.all[caller]);
      out.caller_share = most->second.time_s / row.self.time.total_s();
    }
    double longest_s = 0;
    for (auto line = lines_.lower_bound({id, "", 0}); line != lines_.end() && std::get<0>(line->first) == id;
         ++line) {
      if (line->second <= longest_s) continue;
      longest_s = line->second;
      out.file = std::get<1>(line->first);
      out.line = std::get<2>(line->first);
    }
    return out;
  }

  FoundFunctions rows() {
    std::vector<Row> rows(functions_.all.size());
    for (StackId id = 0; id < stacks_.size(); ++id) {
      if (stacks_[id].empty()) continue;
      if (const std::vector<FrameId> frames = functions_.frames_of(id); !frames.empty()) {
        add_stack(frames, stacks_[id], rows);
      } else {
        add(out_.without_stack, stacks_[id].time);
      }
    }
    for (FunctionId id = 0; id < rows.size(); ++id) {
      if (!rows[id].all.empty()) out_.rows.push_back(found(id, rows[id]));
    }
    std::stable_sort(out_.rows.begin(), out_.rows.end(), [](const FoundFunction& a, const FoundFunction& b) {
      return std::pair(a.self.total_s(), a.all.total_s()) > std::pair(b.self.total_s(), b.all.total_s());
    });
    return std::move(out_);
  }

  const Trace& trace_;
  const ThreadGroups& groups_;
  const CodeUses& uses_;
  const Criticality& criticality_;
  StackFunctions functions_;
  std::map<std::tuple<FunctionId, std::string_view, std::uint32_t>, double> lines_;
  std::vector<FunctionTimes> stacks_;  ///< by StackId
  FoundFunctions out_;
};

}  // namespace

FoundFunctions functions_of(const Trace& trace, const ThreadGroups& groups, const CodeUses& uses,
                            const Criticality& criticality) {
  return FunctionTable(trace, groups, uses, criticality).run();
}

}  // namespace offwait
