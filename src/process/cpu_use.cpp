// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cpu_use.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/read_file.h"

namespace offwait {
namespace {

constexpr std::size_t kMostName = 64;

bool is_same(const ProcessTicks& one, const ProcessTicks& other) { return one.start == other.start; }

const ProcessTicks* survivor(const ProcessTable& after, std::int32_t tgid, const ProcessTicks& before) {
  const auto found = after.find(tgid);
  return found != after.end() && is_same(found->second, before) ? &found->second : nullptr;
}

std::uint64_t rise(std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; }

/// What has to be subtracted from the children's time of a process.
struct Deduction {
  std::uint64_t ticks = 0;
  bool all = false;
};

/// A process that ended adds what it ever used to its parent's sum, or to that of the nearest ancestor that
/// still lives. What it had used before the first reading does not count.
std::map<std::int32_t, Deduction> deductions(const ProcessTable& before, const ProcessTable& after,
                                             const std::unordered_set<std::int32_t>& left_out) {
  std::map<std::int32_t, Deduction> out;
  for (const auto& [tgid, process] : before) {
    if (survivor(after, tgid, process) != nullptr) continue;
    std::int32_t heir = process.parent;
    auto found = before.find(heir);
    // The number of steps is bounded in case that the readings contradict each other.
    for (int steps = 0; steps < 64 && found != before.end() && !survivor(after, heir, found->second);
         ++steps) {
      heir = found->second.parent;
      found = before.find(heir);
    }
    out[heir].ticks += process.own + process.children;
    out[heir].all = out[heir].all || left_out.contains(tgid);
  }
  return out;
}

}  // namespace

std::optional<ProcessTicks> parse_process_ticks(std::string_view stat) {
  // PID (NAME) STATE PPID ... The name may hold anything, so it ends at the last ')'.
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  ProcessTicks out;
  out.name = stat.substr(begin + 1, std::min(end - begin - 1, kMostName));
  std::string_view rest = stat.substr(end + 1);
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kUser = 11;
  constexpr std::size_t kStart = 19;
  std::array<std::uint64_t, kStart + 1> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (rest.empty() || rest.front() != ' ') return std::nullopt;
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    // The state is a letter, and some other numbers may be negative; those are not needed.
    const bool needed = i == kParent || (i >= kUser && i < kUser + 4) || i == kStart;
    const auto [parsed, error] = std::from_chars(word.data(), word.data() + word.size(), fields.at(i));
    if (needed && (error != std::errc() || parsed != word.data() + word.size())) return std::nullopt;
  }
  out.parent = static_cast<std::int32_t>(std::min<std::uint64_t>(fields[kParent], INT32_MAX));
  out.own = fields[kUser] + fields[kUser + 1];
  out.children = fields[kUser + 2] + fields[kUser + 3];
  out.start = fields[kStart];
  return out;
}

ProcessTable read_process_table() {
  ProcessTable table;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry("/proc", gone), end; !gone && entry != end;
       entry.increment(gone)) {
    const std::string name = entry->path().filename().string();
    std::int32_t tgid = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), tgid);
    if (error != std::errc() || rest != name.data() + name.size()) continue;
    if (std::optional<ProcessTicks> process = parse_process_ticks(read_file("/proc/" + name + "/stat")))
      table.emplace(tgid, *std::move(process));
  }
  return table;
}

std::vector<ProcessUse> used_between(const ProcessTable& before, const ProcessTable& after,
                                     const std::unordered_set<std::int32_t>& left_out, std::size_t most) {
  const std::map<std::int32_t, Deduction> deducted = deductions(before, after, left_out);
  std::vector<ProcessUse> uses;
  for (const auto& [tgid, process] : after) {
    if (left_out.contains(tgid)) continue;
    ProcessUse use{tgid, process.name, process.own, process.children};
    if (const auto found = before.find(tgid); found != before.end() && is_same(found->second, process)) {
      use.own = rise(found->second.own, process.own);
      use.children = rise(found->second.children, process.children);
    }
    if (const auto found = deducted.find(tgid); found != deducted.end())
      use.children = found->second.all ? 0 : rise(found->second.ticks, use.children);
    if (use.own + use.children > 0) uses.push_back(std::move(use));
  }
  std::stable_sort(uses.begin(), uses.end(), [](const ProcessUse& a, const ProcessUse& b) {
    return a.own + a.children > b.own + b.children;
  });
  if (uses.size() > most) uses.resize(most);
  return uses;
}

}  // namespace offwait
