// SPDX-License-Identifier: GPL-2.0-or-later
// Whose cgroup is which: systemd's units and containers, by how their managers name directories.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

/// The one of `cgroups` (list_cgroups()) that is this unit's: `postgresql.service`, or `postgresql` for
/// short. Fails when there is none, and when there are several (of several users, or in containers).
Result<std::string> find_unit(const std::vector<std::string>& cgroups, const std::string& unit);

/// Likewise a container's, by its id or the first 4 characters of it or more; an id that is no hexadecimal
/// number is given whole. Docker, Podman, containerd, CRI-O and Kubernetes, with systemd or without. What
/// only watches a container (conmon) is none.
Result<std::string> find_container(const std::vector<std::string>& cgroups, const std::string& id);

/// The cgroup that crun's /run/crun/ID/status or runc's /run/runc/ID/state.json says, as find_cgroup() takes
/// it. Nothing if the text is not of their form.
std::optional<std::string> cgroup_of_state(std::string_view json);

/// Likewise of the container of this name, from those files; nothing if there is none.
std::optional<std::string> cgroup_in_runtime_state(const std::string& id);

}  // namespace offwait
