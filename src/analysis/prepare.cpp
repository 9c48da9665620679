// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/prepare.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/criticality.h"
#include "analysis/file_calls.h"
#include "analysis/files.h"
#include "analysis/functions.h"
#include "analysis/lock_names.h"
#include "analysis/locks.h"
#include "analysis/what_if_gains.h"
#include "base/side_by_side.h"
#include "graph/false_wakeups.h"
#include "model/cut.h"
#include "model/validate.h"
#include "progress/progress.h"
#include "progress/wait_kinds.h"

namespace offwait {

namespace {

FalseWakeupSums sums_of(const Trace& trace, const std::vector<FalseWakeup>& false_wakeups) {
  FalseWakeupSums sums;
  for (const FalseWakeup& one : false_wakeups) {
    const WaitSite& site = trace.sites[trace.waits[one.first].site];
    ++sums.counts[{site.thread, site.waker}];
    sums.ran_ns += one.ran;
  }
  return sums;
}

/// By ActorId.
std::vector<bool> threads_below_devices(const Trace& trace, const ThreadGroups& groups) {
  const std::vector<bool> of_group = below_devices(trace, groups);
  std::vector<bool> out;
  for (const GroupId group : groups.group_of) out.push_back(group != kNoGroup && of_group[group]);
  return out;
}

/// The part of the recording in which the target was asked for something, if that is much less than all.
std::optional<Trace> busy_part(const Trace& trace, const ProgressOptions& progress) {
  if (!progress.threads.empty() || command_end(trace)) return std::nullopt;
  const Window part = served_part(trace);
  return is_nearly_all(part, trace.window) ? std::nullopt : std::optional(narrowed_to(trace, part));
}

/// Calls in which a thread was sampled and waited for a disk are known well enough to be one part.
void add_syncs(const Trace& trace, AnswerOptions& options) {
  CodeStacks stacks = stacks_that_sync(trace);
  const auto is_inside = [&stacks](StackId stack) { return stack != kNoStack && stacks[stack]; };
  if (std::any_of(trace.cpu_samples.begin(), trace.cpu_samples.end(),
                  [&](const CpuSample& sample) { return is_inside(sample.stack); }) &&
      std::any_of(trace.sites.begin(), trace.sites.end(),
                  [&](const WaitSite& site) { return is_inside(site.wait_stack); })) {
    options.syncs = static_cast<CodeId>(options.code.size());
    options.code.push_back(std::move(stacks));
  }
}

/// The tables are of all of the trace, without gains. `busy` is the part of the trace in which the target was
/// asked for something; `facts` and `lock_names` are of that part.
Views views_of(const Trace& trace, const Trace& busy, const Facts& facts, const LockNames& lock_names,
               const ProgressOptions& progress) {
  std::optional<Facts> of_all;
  if (&trace != &busy) {
    of_all = facts_of(trace, facts.groups, progress);
    of_all->progress = facts.progress;
  }
  const Facts& all = of_all ? *of_all : facts;
  const std::vector<std::string> names =
      of_all ? names_of_locks(trace, all.kinds.locks).names : lock_names.names;
  const Criticality criticality = criticality_of(trace);
  const CodeUses uses = code_uses_of(trace, all);
  return {functions_of(trace, all.groups, uses, criticality), critical_threads(trace, uses, criticality),
          locks_of(trace, all, names, uses), files_of(trace)};
}

/// What is known of the trace as it was recorded.
struct AsRecorded {
  Facts facts;
  Answers answers;
  LockNames lock_names;
  Views views;
};

Result<AsRecorded> as_recorded(const Trace& trace, ThreadGroups groups, const AnalysisOptions& options) {
  AsRecorded out;
  const std::optional<Trace> part = busy_part(trace, options.progress);
  const Trace& busy = part ? *part : trace;
  out.facts = facts_of(busy, std::move(groups), options.progress);
  out.lock_names = names_of_locks(busy, out.facts.kinds.locks);
  AnswerOptions asked;
  for (const WhatIf& what_if : options.what_ifs) {
    OFFWAIT_TRY(Scenario scenario,
                scenario_of(what_if, busy, out.facts.groups, out.lock_names.names, asked.code));
    asked.asked.push_back(std::move(scenario));
  }
  const std::size_t what_ifs = asked.asked.size();
  std::vector<AskedGain> of_functions;
  if (options.views) {
    out.views = views_of(trace, busy, out.facts, out.lock_names, options.progress);
    if (options.function_gains && !out.facts.progress.empty()) {
      of_functions = ask_for_gains(busy, out.views.functions, asked);
    }
  }
  add_syncs(busy, asked);
  options.begins(AnalysisStep::replay);
  out.answers = answers_of(busy, out.facts, asked);
  add_gains(of_functions, out.answers, out.views.functions);
  out.answers.asked.resize(what_ifs);
  return out;
}

}  // namespace

std::vector<std::optional<Gain>> what_if_gains(const Trace& trace, const AnalysisOptions& options) {
  std::vector<std::optional<Gain>> out(options.what_ifs.size());
  if (out.empty()) return out;
  const std::optional<Trace> part = busy_part(trace, options.progress);
  const Trace& busy = part ? *part : trace;
  const Facts facts = facts_of(busy, group_threads(trace), options.progress);
  if (facts.progress.empty()) return out;
  const LockNames locks = names_of_locks(busy, facts.kinds.locks);
  AnswerOptions asked;
  asked.most_candidates = 0;
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < options.what_ifs.size(); ++i) {
    Result<Scenario> scenario = scenario_of(options.what_ifs[i], busy, facts.groups, locks.names, asked.code);
    if (!scenario) continue;
    asked.asked.push_back(std::move(scenario).value());
    fitting.push_back(i);
  }
  const Answers answers = answers_of(busy, facts, asked);
  for (std::size_t i = 0; i < fitting.size(); ++i) out[fitting[i]] = answers.asked[i];
  return out;
}

Result<Prepared> prepare(Trace trace, const AnalysisOptions& options) {
  OFFWAIT_TRY_STATUS(check_window(trace));
  options.begins(AnalysisStep::waits);
  ThreadGroups groups = group_threads(trace);
  std::vector<bool> below = threads_below_devices(trace, groups);
  std::optional<Result<AsRecorded>> recorded;
  std::vector<FalseWakeup> found;
  side_by_side(
      [&] {
        if (options.answers) recorded = as_recorded(trace, std::move(groups), options);
      },
      [&] { found = find_false_wakeups(trace); });
  if (recorded && !recorded->ok()) return recorded->error();
  options.begins(AnalysisStep::sweep);
  FalseWakeupSums false_wakeups = sums_of(trace, found);
  if (!options.keep_false_wakeups && !found.empty()) {
    trace = without_false_wakeups(std::move(trace), found);
  }
  TraceWithStandIns with =
      options.merge ? stand_in_for_short_lived(std::move(trace)) : TraceWithStandIns(std::move(trace));
  Result<Sweep> swept = sweep(with.all());
  if (!swept.ok()) {
    return swept.error();
  }
  Prepared out{
      std::move(with), *std::move(swept), std::move(false_wakeups), {}, {}, std::move(below), {}, {}};
  if (recorded) {
    out.groups = std::move((*recorded)->facts.groups);
    out.answers = std::move((*recorded)->answers);
    out.lock_names = std::move((*recorded)->lock_names);
    out.views = std::move((*recorded)->views);
  }
  return out;
}

}  // namespace offwait
