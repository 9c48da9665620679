// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "base/read_file.h"

namespace offwait {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kFullId = 64;
constexpr std::size_t kShortestPrefix = 4;

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_full_id(std::string_view text) { return text.size() == kFullId && is_hex(text); }

/// The container id in a cgroup's path: `docker-ID.scope`, `libpod-ID`, or a directory whose whole name looks
/// like an id (docker/ID, kubepods/…/ID). Empty if the cgroup is no container's.
std::string_view container_id(std::string_view cgroup) {
  constexpr std::array<std::string_view, 6> kManagers = {"docker-", "libpod-", "cri-containerd-",
                                                         "crio-",   "crun-",   "nerdctl-"};
  constexpr std::string_view kScope = ".scope";
  std::string_view name = last_part(cgroup);
  const bool scope = name.ends_with(kScope);
  if (scope) name.remove_suffix(kScope.size());
  for (const std::string_view manager : kManagers) {
    if (!name.starts_with(manager)) continue;
    name.remove_prefix(manager.size());
    return (scope || is_full_id(name)) && !name.starts_with("conmon-") ? name : std::string_view();
  }
  return !scope && is_full_id(name) ? name : std::string_view();
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  const auto shown = names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size()));
  std::string text = fmt::format("{}", fmt::join(names.begin(), shown, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

}  // namespace

Result<std::string> find_unit(const std::vector<std::string>& cgroups, const std::string& unit) {
  constexpr std::array<std::string_view, 6> kSuffixes = {".service", ".scope", ".slice",
                                                         ".socket",  ".mount", ".swap"};
  const bool whole = std::any_of(kSuffixes.begin(), kSuffixes.end(),
                                 [&unit](std::string_view suffix) { return unit.ends_with(suffix); });
  const std::string name = whole ? unit : unit + ".service";
  std::vector<std::string> found;
  for (const std::string& cgroup : cgroups) {
    if (last_part(cgroup) == name) found.push_back(cgroup);
  }
  if (found.empty())
    return Error{fmt::format(
        "there is no cgroup of a unit '{}': the unit is not running, or has another name ('systemctl "
        "list-units' lists those that run)",
        name)};
  if (found.size() > 1)
    return Error{fmt::format("several units are called '{}': choose the cgroup of one with -c: {}", name,
                             listed(found))};
  return found.front();
}

Result<std::string> find_container(const std::vector<std::string>& cgroups, const std::string& id) {
  const bool prefix = id.size() >= kShortestPrefix && id.size() < kFullId && is_hex(id);
  std::vector<std::string> found;
  std::vector<std::string> ids;
  for (const std::string& cgroup : cgroups) {
    const std::string_view candidate = container_id(cgroup);
    if (candidate.empty() ||
        (candidate != id && !(prefix && is_full_id(candidate) && candidate.starts_with(id))))
      continue;
    found.push_back(cgroup);
    if (std::find(ids.begin(), ids.end(), candidate) == ids.end()) ids.emplace_back(candidate);
  }
  if (ids.size() > 1)
    return Error{fmt::format("the ids of several containers begin with '{}': give more of one of {}", id,
                             listed(ids))};
  if (found.size() > 1)
    return Error{
        fmt::format("container '{}' has several cgroups: choose one with -c: {}", id, listed(found))};
  if (found.empty())
    return Error{fmt::format(
        "there is no container '{}' here: give its id or the first 4 characters of it or more ('docker ps', "
        "'podman ps' and 'crictl ps' list them), or its cgroup with -c",
        id)};
  return found.front();
}

std::optional<std::string> cgroup_of_state(std::string_view json) {
  constexpr bool kThrow = false;
  const Json state = Json::parse(json, nullptr, kThrow);
  if (!state.is_object()) return std::nullopt;
  const auto text = [](const Json& object, const char* key) -> std::optional<std::string> {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
      return std::nullopt;
    return found->get<std::string>();
  };
  if (std::optional<std::string> path = text(state, "cgroup-path")) return path;  // crun
  const auto paths = state.find("cgroup_paths");  // runc: by controller, "" is v2
  if (paths == state.end() || !paths->is_object()) return std::nullopt;
  return text(*paths, "");
}

std::optional<std::string> cgroup_in_runtime_state(const std::string& id) {
  if (id.empty() || id.front() == '.' || id.find('/') != std::string::npos) return std::nullopt;
  for (const std::string& file : {"/run/crun/" + id + "/status", "/run/runc/" + id + "/state.json"}) {
    if (std::optional<std::string> cgroup = cgroup_of_state(read_file(file))) return cgroup;
  }
  return std::nullopt;
}

}  // namespace offwait
