// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/functions.h"
#include "replay/sample_doubt.h"
#include "replay/what_if.h"

namespace offwait {

namespace {

/// A part that takes less of its function's time has no gain of its own.
constexpr double kWorthAsking = 0.01;

/// The rows that get gains. A function whose work is all inlined has no time of its own, and may be what one
/// would change.
std::vector<std::size_t> rows_with_gains(const std::vector<FoundFunction>& rows) {
  std::vector<std::size_t> out(rows.size());
  std::iota(out.begin(), out.end(), 0);
  const auto own = out.begin() + static_cast<std::ptrdiff_t>(std::min(out.size(), kFunctionsWithGains));
  std::stable_sort(own, out.end(), [&rows](std::size_t a, std::size_t b) {
    return rows[a].critical_all_s > rows[b].critical_all_s;
  });
  out.resize(std::min(out.size(), kFunctionsWithGains + kCallersWithGains));
  return out;
}

/// The stacks that the functions of these rows are in, by index into `chosen`.
std::vector<CodeStacks> stacks_of(const Trace& trace, const std::vector<FoundFunction>& rows,
                                  const std::vector<std::size_t>& chosen) {
  std::map<Frame, CodeId> ids;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    ids.emplace(rows[chosen[i]].function, static_cast<CodeId>(i));
  std::vector<CodeId> code_of_frame;
  for (const Frame& frame : trace.frames) {
    Frame function = function_of(frame);
    function.inlined = false;
    const auto found = ids.find(function);
    code_of_frame.push_back(found == ids.end() ? kNoCode : found->second);
  }
  std::vector<CodeStacks> out(chosen.size(), CodeStacks(trace.stacks.size()));
  for (StackId id = 0; id < trace.stacks.size(); ++id) {
    for (const FrameId frame : trace.stacks[id].frames) {
      if (code_of_frame[frame] != kNoCode) out[code_of_frame[frame]][id] = true;
    }
  }
  return out;
}

/// The index of the value, which is added if it is not there.
template <class Value>
std::size_t index_in(std::vector<Value>& values, const Value& value) {
  const auto found = std::find(values.begin(), values.end(), value);
  const auto index = static_cast<std::size_t>(found - values.begin());
  if (found == values.end()) values.push_back(value);
  return index;
}

/// What such a scenario gains is known from samples alone.
bool is_cpu_work(const Scenario& scenario) {
  return scenario.size() == 1 && scenario.front().resource == Resource::cpu;
}

/// The function's time that a change of this resource makes shorter.
double part_of(const CodeTime& time, Resource resource) {
  switch (resource) {
    case Resource::cpu:
      return time.cpu_s;
    case Resource::io:
      return time.io_s;
    case Resource::runnable:
      return time.runnable_s;
    default:
      return time.other_s;
  }
}

/// By StackId.
std::vector<std::uint64_t> samples_by_stack(const Trace& trace) {
  std::vector<std::uint64_t> out(trace.stacks.size());
  for (const CpuSample& sample : trace.cpu_samples) {
    if (sample.stack != kNoStack) ++out[sample.stack];
  }
  return out;
}

}  // namespace

std::vector<AskedGain> ask_for_gains(const Trace& trace, const FoundFunctions& functions,
                                     AnswerOptions& options) {
  constexpr double kTwiceAsFast = 0.5;
  const std::vector<std::uint64_t> samples_of = samples_by_stack(trace);
  const std::vector<std::size_t> chosen = rows_with_gains(functions.rows);
  const std::vector<CodeStacks> stacks = stacks_of(trace, functions.rows, chosen);
  std::vector<AskedGain> out;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t row = chosen[i];
    const CodeTime& time = functions.rows[row].all;
    // Functions that are only ever called by one another are in the same stacks, and gain the same.
    const auto code = static_cast<CodeId>(index_in(options.code, stacks[i]));
    std::uint64_t samples = 0;
    for (StackId id = 0; id < samples_of.size(); ++id) samples += stacks[i][id] ? samples_of[id] : 0;
    const auto worth_asking = [&](Resource resource) {
      return part_of(time, resource) >= kWorthAsking * time.total_s();
    };
    const auto ask = [&](std::optional<Gain> FoundFunction::*gain,
                         std::initializer_list<Resource> resources) {
      // A function that only computes has one scenario, as what little else it does is left out of all.
      Scenario scenario;
      for (const Change& change : changes_of_function(code, kTwiceAsFast)) {
        const bool is_asked =
            std::find(resources.begin(), resources.end(), change.resource) != resources.end();
        if (is_asked && worth_asking(change.resource)) scenario.push_back(change);
      }
      // One that only waits for locks gains nothing as a whole.
      if (scenario.empty() && gain != &FoundFunction::gain) return;
      if (is_cpu_work(scenario) && are_too_few(samples)) return;
      out.push_back({index_in(options.asked, scenario), row, gain});
    };
    ask(&FoundFunction::gain,
        {Resource::cpu, Resource::io, Resource::sleep, Resource::remote, Resource::runnable});
    ask(&FoundFunction::cpu_gain, {Resource::cpu});
    ask(&FoundFunction::io_gain, {Resource::io});
    ask(&FoundFunction::runnable_gain, {Resource::runnable});
    ask(&FoundFunction::other_gain, {Resource::sleep, Resource::remote});
  }
  return out;
}

void add_gains(const std::vector<AskedGain>& asked, const Answers& answers, FoundFunctions& functions) {
  for (const auto& [scenario, row, part] : asked) {
    const Gain& gain = answers.asked[scenario];
    if (gain.doubt != Doubt::few_samples) functions.rows[row].*part = gain;
  }
}

}  // namespace offwait
