// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/roles.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <unordered_map>

#include "code/one_of.h"
#include "code/rows.h"
#include "model/outline.h"

namespace offwait {

namespace {

std::size_t literal_size(std::string_view pattern) {
  return pattern.size() - static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '*'));
}

/// `*` in the pattern stands for any text.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  for (;;) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == std::string_view::npos) return text.ends_with(pattern);
    const std::size_t found = text.find(pattern.substr(0, star));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + star);
  }
}

/// The rows as they are looked up.
class Table {
 public:
  Table() : rows_(all_rows()) {
    for (const Row& row : rows_) {
      if (row.pattern.find('*') == std::string_view::npos) {
        exact_.emplace(row.pattern, &row);
      } else {
        globs_.push_back(&row);
      }
    }
    std::stable_sort(globs_.begin(), globs_.end(), [](const Row* a, const Row* b) {
      return literal_size(a->pattern) > literal_size(b->pattern);
    });
  }

  const Roles& of(const std::string& function) const {
    // Frames differ in their offsets, and many stacks that are looked at one by one in their outer frames.
    constexpr std::size_t kMostKnown = 1U << 14U;
    thread_local std::unordered_map<std::string, Roles> known;
    if (const auto found = known.find(function); found != known.end()) return found->second;
    if (known.size() >= kMostKnown) known.clear();
    return known.emplace(function, look_up(function)).first->second;
  }

 private:
  Roles look_up(std::string_view function) const {
    const std::string simple = simple_name(function);
    if (const auto found = exact_.find(simple); found != exact_.end()) return found->second->roles;
    const auto found = std::find_if(globs_.begin(), globs_.end(),
                                    [&](const Row* row) { return matches(*row, function, simple); });
    return found == globs_.end() ? Roles{} : (*found)->roles;
  }

  std::vector<Row> rows_;
  std::unordered_map<std::string_view, const Row*> exact_;
  std::vector<const Row*> globs_;  ///< the most specific first
};

Runtime runtime_of_module(std::string_view module) {
  if (is_java_machine(module)) return Runtime::java;
  if (module.starts_with("beam.")) return Runtime::erlang;
  return module.starts_with("_greenlet") ? Runtime::greenlets : Runtime::none;
}

}  // namespace

bool is_lock(WaitsFor what) { return what == WaitsFor::mutex || what == WaitsFor::rwlock; }

bool is_rendezvous(WaitsFor what) { return what == WaitsFor::barrier || what == WaitsFor::join; }

bool takes_its_locks(LockManager manager) {
  return manager == LockManager::monitor_enter || manager == LockManager::python ||
         manager == LockManager::innodb || manager == LockManager::postgres;
}

bool is_state_of_python(std::string_view variable) { return variable == "_PyRuntime"; }

std::string simple_name(std::string_view function) {
  std::string name = outline(function);
  if (name != "_start" && name.find(':') == std::string::npos) {
    constexpr std::string_view kInsideGlibc = "__GI_";
    name.erase(0, name.starts_with(kInsideGlibc) ? kInsideGlibc.size() : 0);
    name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
  }
  return name;
}

bool matches(const Row& row, std::string_view function, std::string_view simple) {
  return fits(row.pattern, row.form == NameForm::whole ? function : simple);
}

std::vector<Row> all_rows() {
  std::vector<Row> out;
  for (const std::span<const Row> rows : {rows_of_c(), rows_of_runtimes(), rows_of_libraries()}) {
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

Roles roles_of(const Frame& frame) {
  if (frame.kind == Frame::Kind::kernel) return {};
  static const Table table;
  Roles out = frame.function.empty() ? Roles{.noise = in_library(frame) ? Noise::unnamed : Noise::none}
                                     : table.of(frame.function);
  if (out.noise == Noise::none && in_library(frame)) out.noise = Noise::library;
  if (out.runtime == Runtime::none) out.runtime = runtime_of_module(frame.module);
  out.of_java = out.of_java || is_java_machine(frame.module);
  out.way_to_wait = out.way_to_wait || out.waits_for != WaitsFor::nothing || is_runtime_library(frame.module);
  return out;
}

std::vector<Roles> roles_of(const std::vector<Frame>& frames) {
  std::vector<Roles> out;
  out.reserve(frames.size());
  std::transform(frames.begin(), frames.end(), std::back_inserter(out),
                 [](const Frame& frame) { return roles_of(frame); });
  return out;
}

bool in_library(const Frame& frame) {
  constexpr std::array<std::string_view, 4> kLibraries = {"libc.so", "libc-", "libpthread", "libstdc++.so"};
  return starts_with_one_of(frame.module, kLibraries);
}

bool is_runtime_library(std::string_view module) {
  constexpr std::array<std::string_view, 6> kLibraries = {"libc.",     "libc-",  "libpthread",
                                                          "libstdc++", "libc++", "ld-"};
  return starts_with_one_of(module, kLibraries);
}

bool is_java_machine(std::string_view module) { return module.starts_with("libjvm.so"); }

bool is_garbage_collector(std::string_view thread) {
  // Parallel GC and the pauses of G1; G1; ZGC; Shenandoah.
  constexpr std::array<std::string_view, 9> kNames = {"GC Thread#", "ParGC Thread#",  "G1 Conc#",
                                                      "G1 Refine#", "G1 Main Marker", "ZWorker",
                                                      "ZDriver",    "ZDirector",      "Shenandoah"};
  return starts_with_one_of(thread, kNames);
}

}  // namespace offwait
