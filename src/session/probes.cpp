// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/probes.h"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "symbol/probe_places.h"

namespace offwait {
namespace {

using Kind = Probe::Kind;

Error no_such_function(const Target& target, const std::string& command_path, const std::string& name) {
  if (!command_path.empty())
    return Error{fmt::format(
        "--spin: {} has no function '{}' (it may be inlined, in a library, which -p would find when it "
        "runs, or its symbols stripped)",
        command_path, name)};
  const std::string where = target.tgids.size() == 1
                                ? fmt::format("neither process {} nor a library it has", target.tgids.front())
                                : "neither the processes nor a library they have";
  return Error{fmt::format(
      "--spin: {} mapped has a function '{}' (it may be inlined, or its symbols stripped)", where, name)};
}

}  // namespace

Result<std::vector<Probe>> find_probes(const Target& target, const std::string& command_path,
                                       const std::vector<SpinFunction>& spins) {
  const std::vector<ProbedFile> files =
      command_path.empty() ? files_to_probe(target.tgids) : file_to_probe(command_path);
  std::vector<Probe> probes;
  for (const SpinFunction& spin : spins) {
    for (const auto& [name, kinds] :
         {std::pair<const std::string&, std::vector<Kind>>{spin.lock, {Kind::spin_begin, Kind::spin_return}},
          std::pair<const std::string&, std::vector<Kind>>{spin.unlock, {Kind::spin_release}}}) {
      if (name.empty()) continue;
      const std::vector<ProbePlace> places = places_of_function(files, name);
      if (places.empty()) return no_such_function(target, command_path, name);
      for (const ProbePlace& place : places) {
        for (const Kind kind : kinds) probes.push_back({kind, place.path, place.offset});
      }
    }
  }
  static const std::map<std::string_view, Kind> kinds = {{"spin_begin", Kind::spin_begin},
                                                         {"spin_end", Kind::spin_end},
                                                         {"spin_release", Kind::spin_release},
                                                         {"false_wakeup", Kind::false_wakeup}};
  for (const DeclaredPlace& declared : declared_places(files)) {
    const auto kind = kinds.find(declared.name);
    if (kind == kinds.end()) continue;
    constexpr bool kAskedFor = false;
    probes.push_back({kind->second, declared.place.path, declared.place.offset, kAskedFor});
  }
  return probes;
}

}  // namespace offwait
