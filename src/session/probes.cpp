// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/probes.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/base_name.h"
#include "base/exit_status.h"
#include "model/name_patterns.h"
#include "symbol/probe_places.h"

namespace offwait {
namespace {

using Kind = Probe::Kind;

/// Where the functions are looked for.
struct Searched {
  const Target& target;
  const std::string& command_path;
  std::vector<ProbedFile> files;
};

/// `neither process 12 nor a library it has mapped has a function 'f' (…)`
std::string no_such_function(const Searched& searched, const std::string& name) {
  if (!searched.command_path.empty())
    return fmt::format(
        "{} has no function '{}' (it may be inlined, in a library, which -p would find when it runs, or its "
        "symbols stripped)",
        searched.command_path, name);
  const std::vector<std::int32_t>& tgids = searched.target.tgids;
  const std::string where = tgids.size() == 1
                                ? fmt::format("neither process {} nor a library it has", tgids.front())
                                : "neither the processes nor a library they have";
  return fmt::format("{} mapped has a function '{}' (it may be inlined, or its symbols stripped)", where,
                     name);
}

Status add_spin(const Searched& searched, const SpinFunction& spin, std::vector<Probe>& probes) {
  for (const auto& [name, kinds] :
       {std::pair<const std::string&, std::vector<Kind>>{spin.lock, {Kind::spin_begin, Kind::spin_return}},
        std::pair<const std::string&, std::vector<Kind>>{spin.unlock, {Kind::spin_release}}}) {
    if (name.empty()) continue;
    const std::vector<ProbePlace> places = places_of_function(searched.files, name);
    if (places.empty()) return Error{"--spin: " + no_such_function(searched, name), kUsage};
    for (const ProbePlace& place : places) {
      for (const Kind kind : kinds) probes.push_back({kind, place.path, place.offset});
    }
  }
  return success();
}

/// `libc` and `libc.so` are the names of libc.so.6.
bool is_called(const ProbedFile& file, const std::string& module) {
  const std::string_view name = base_name(file.mapped_as);
  return name == module || name.starts_with(module + ".");
}

Error no_such_module(const Searched& searched, const std::string& module) {
  std::set<std::string> names;
  for (const ProbedFile& file : searched.files) names.emplace(base_name(file.mapped_as));
  return Error{fmt::format("--progress-at: no file that the target has mapped is called '{}'; {}", module,
                           names_there_are(names)),
               kUsage};
}

Error no_counted_function(const Searched& searched, const std::string& name) {
  constexpr std::size_t kMostNamed = 3;
  std::string text = "--progress-at: " + no_such_function(searched, name);
  const std::vector<std::string> similar = functions_like(searched.files, name, kMostNamed);
  if (!similar.empty()) text += "; " + names_there_are({similar.begin(), similar.end()});
  return Error{std::move(text), kUsage};
}

Status add_counted(const Searched& searched, const CountedFunction& counted, std::vector<Probe>& probes) {
  const bool is_path = counted.module.find('/') != std::string::npos;
  if (is_path) {
    const Target nobody;
    const Searched file{nobody, counted.module, file_to_probe(counted.module)};
    if (file.files.empty())
      return Error{fmt::format("--progress-at: cannot read {}", counted.module), kUsage};
    return add_counted(file, {"", counted.name}, probes);
  }
  std::set<std::string> paths;
  for (const ProbedFile& file : searched.files) {
    if (counted.module.empty() || is_called(file, counted.module)) paths.insert(file.path);
  }
  if (paths.empty() && !counted.module.empty()) return no_such_module(searched, counted.module);
  const std::size_t before = probes.size();
  for (const ProbePlace& place : places_of_function(searched.files, counted.name)) {
    if (paths.count(place.path) > 0) probes.push_back({Kind::counted_call, place.path, place.offset});
  }
  if (probes.size() == before) return no_counted_function(searched, counted.name);
  return success();
}

void add_declared(const Searched& searched, std::vector<Probe>& probes) {
  static const std::map<std::string_view, Kind> kinds = {{"spin_begin", Kind::spin_begin},
                                                         {"spin_end", Kind::spin_end},
                                                         {"spin_release", Kind::spin_release},
                                                         {"false_wakeup", Kind::false_wakeup}};
  for (const DeclaredPlace& declared : declared_places(searched.files)) {
    const auto kind = kinds.find(declared.name);
    if (kind == kinds.end()) continue;
    constexpr bool kAskedFor = false;
    probes.push_back({kind->second, declared.place.path, declared.place.offset, kAskedFor});
  }
}

}  // namespace

Result<std::vector<Probe>> find_probes(const Target& target, const std::string& command_path,
                                       const RecordingOptions& options) {
  const Searched searched{target, command_path,
                          command_path.empty() ? files_to_probe(target.tgids) : file_to_probe(command_path)};
  std::vector<Probe> probes;
  for (const SpinFunction& spin : options.spins) OFFWAIT_TRY_STATUS(add_spin(searched, spin, probes));
  if (options.counted) OFFWAIT_TRY_STATUS(add_counted(searched, *options.counted, probes));
  add_declared(searched, probes);
  return probes;
}

}  // namespace offwait
