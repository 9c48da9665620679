// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/code_places.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace offwait {

namespace {

constexpr std::uint64_t kHeavyPart = 5;  ///< a heavy function is in one of this many samples, or in more
constexpr std::size_t kMostCallers = 3;

bool is_heavy(std::uint64_t part, std::uint64_t all) { return part > 0 && part * kHeavyPart >= all; }

struct Path {
  const StackSamples* sum = nullptr;
  const std::vector<FunctionId>* functions = nullptr;  ///< innermost first
  std::uint64_t weight = 0;

  /// The innermost place of the function in the path; the length of the path if the function is not in it.
  std::size_t innermost(FunctionId function) const {
    return static_cast<std::size_t>(std::find(functions->begin(), functions->end(), function) -
                                    functions->begin());
  }
  bool has(FunctionId function) const { return innermost(function) < functions->size(); }
};

/// What samples say of one function.
struct FunctionUse {
  std::uint64_t all = 0;
  std::uint64_t own = 0;
  std::map<FunctionId, std::uint64_t> heavy_callees;  ///< the next heavy one in each stack
};

/// The key with the highest count, and the first one where several have it.
template <typename Key>
std::pair<Key, std::uint64_t> most_of(const std::map<Key, std::uint64_t>& counts) {
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return {};
  return {most->first, most->second};
}

double part(std::uint64_t some, std::uint64_t all) {
  return static_cast<double>(some) / static_cast<double>(std::max<std::uint64_t>(all, 1));
}

class CodePlaces {
 public:
  CodePlaces(const Trace& trace, const SampledCode& code, const std::vector<StackSamples>& samples)
      : code_(code) {
    const bool waiting =
        std::any_of(samples.begin(), samples.end(), [](const StackSamples& one) { return one.waiting > 0; });
    for (const StackSamples& one : samples) {
      const std::uint64_t weight = waiting ? one.waiting : one.samples;
      all_ += weight;
      if (one.stack == kNoStack || code.paths[one.stack].empty()) continue;
      paths_.push_back({&one, &code.paths[one.stack], weight});
      if (!trace.stacks[one.stack].cut) whole_ += weight;
    }
  }

  void run(FoundSamples& out) {
    find_heavy();
    find_callees();
    for (const FunctionId function : chosen()) out.places.push_back(place(function));
    out.spread = out.places.empty() && is_heavy(known(), all_);
    if (!out.spread) return;
    if (const auto root = innermost_root(); root) out.spread_below = code_.functions[*root];
  }

 private:
  std::uint64_t known() const {
    std::uint64_t sum = 0;
    for (const Path& path : paths_) sum += path.weight;
    return sum;
  }

  /// Stacks that are cut do not show from where they were called.
  bool is_root(const FunctionUse& use) const {
    return whole_ > 0 && !is_heavy(whole_ - std::min(whole_, use.all), whole_);
  }

  void find_heavy() {
    struct Count {
      std::uint64_t weight = 0;
      std::size_t last = 0;  ///< the path that was counted last, from 1
    };
    std::unordered_map<FunctionId, Count> counts;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      for (const FunctionId function : *paths_[i].functions) {
        Count& count = counts[function];
        if (count.last == i + 1) continue;
        count.last = i + 1;
        count.weight += paths_[i].weight;
      }
    }
    for (const auto& [function, count] : counts) {
      if (is_heavy(count.weight, all_)) heavy_[function].all = count.weight;
    }
  }

  void find_callees() {
    for (const Path& path : paths_) {
      std::vector<FunctionId> seen;
      for (std::size_t i = 0; i < path.functions->size(); ++i) {
        const auto found = heavy_.find((*path.functions)[i]);
        if (found == heavy_.end() || std::find(seen.begin(), seen.end(), found->first) != seen.end())
          continue;
        if (i == 0) found->second.own += path.weight;
        if (!seen.empty()) found->second.heavy_callees[seen.back()] += path.weight;
        seen.push_back(found->first);
      }
    }
  }

  std::vector<FunctionId> chosen() const {
    std::vector<std::pair<std::uint64_t, FunctionId>> amounts;
    for (const auto& [function, use] : heavy_) {
      const bool calls_heavy = is_heavy(most_of(use.heavy_callees).second, all_);
      if (!calls_heavy && !is_root(use)) {
        amounts.emplace_back(use.all, function);
      } else if (is_heavy(use.own, all_)) {
        amounts.emplace_back(use.own, function);
      }
    }
    std::stable_sort(amounts.begin(), amounts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<FunctionId> out;
    for (const auto& [amount, function] : amounts) {
      const FunctionId named = with_name(function);
      if (std::find(out.begin(), out.end(), named) == out.end()) out.push_back(named);
    }
    return out;
  }

  FunctionId with_name(FunctionId function) const {
    if (!code_.functions[function].function.empty()) return function;
    const std::vector<FunctionId> callers = callers_of(function);
    for (const FunctionId caller : callers) {
      const Frame& frame = code_.functions[caller];
      const auto use = heavy_.find(caller);
      if (frame.module != code_.functions[function].module || use == heavy_.end() || is_root(use->second))
        break;
      if (!frame.function.empty()) return caller;
    }
    return function;
  }

  /// The function from which most of this one was called, then the one from which most of those calls came,
  /// and so on.
  std::vector<FunctionId> callers_of(FunctionId function) const {
    std::vector<std::pair<const Path*, std::size_t>> at;
    for (const Path& path : paths_) {
      if (path.has(function)) at.emplace_back(&path, path.innermost(function));
    }
    const std::uint64_t all = heavy_.at(function).all;
    std::vector<FunctionId> out;
    while (out.size() < kMostCallers) {
      std::map<FunctionId, std::uint64_t> callers;
      for (auto& [path, i] : at) {
        while (i + 1 < path->functions->size() && (*path->functions)[i + 1] == (*path->functions)[i]) ++i;
        if (i + 1 < path->functions->size()) callers[(*path->functions)[i + 1]] += path->weight;
      }
      const auto [caller, weight] = most_of(callers);
      if (weight * 2 <= all) break;
      out.push_back(caller);
      std::erase_if(at, [caller = caller](const auto& one) {
        return one.second + 1 >= one.first->functions->size() ||
               (*one.first->functions)[one.second + 1] != caller;
      });
      for (auto& [path, i] : at) ++i;
    }
    return out;
  }

  FunctionPlace place(FunctionId function) const {
    const FunctionUse& use = heavy_.at(function);
    FunctionPlace out;
    std::map<std::string, std::uint64_t> calls;
    std::map<FunctionId, std::uint64_t> callees;
    std::uint64_t kernel = 0;
    for (const Path& path : paths_) {
      if (!path.has(function)) continue;
      out.samples += path.sum->samples;
      if (const std::size_t at = path.innermost(function); at > 0)
        callees[(*path.functions)[at - 1]] += path.weight;
      if (!code_.in_kernel[path.sum->stack]) continue;
      kernel += path.weight;
      calls[code_.entered_by[path.sum->stack]] += path.weight;
    }
    out.share = part(use.all, all_);
    out.own = part(use.own, use.all);
    out.kernel = part(kernel, use.all);
    out.entered_by = most_of(calls).first;
    if (const auto [callee, weight] = most_of(callees); weight * 2 > use.all) {
      out.callee = code_.functions[callee];
      out.callee_share = part(weight, use.all);
    }
    out.stack.frames.push_back(code_.functions[function]);
    for (const FunctionId caller : callers_of(function)) out.stack.frames.push_back(code_.functions[caller]);
    return out;
  }

  /// The root with the least time; where several have the same time, the one that the others call.
  std::optional<FunctionId> innermost_root() const {
    std::optional<FunctionId> out;
    for (const auto& [function, use] : heavy_) {
      if (!is_root(use)) continue;
      const std::uint64_t least = out ? heavy_.at(*out).all : 0;
      const bool called = out && use.all == least && heavy_.at(*out).heavy_callees.contains(function);
      if (!out || use.all < least || called) out = function;
    }
    return out;
  }

  const SampledCode& code_;
  std::vector<Path> paths_;
  std::uint64_t all_ = 0;    ///< weights of all samples
  std::uint64_t whole_ = 0;  ///< of those with whole stacks
  std::map<FunctionId, FunctionUse> heavy_;
};

}  // namespace

void find_code_places(const Trace& trace, const SampledCode& code, const std::vector<StackSamples>& samples,
                      FoundSamples& out) {
  CodePlaces(trace, code, samples).run(out);
}

}  // namespace offwait
