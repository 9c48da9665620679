// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the cgroup of a systemd unit or of a container by how their managers name directories.
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

/// The one of `cgroups` that is this container's. `id` is its id, or at least the first 4 characters of it;
/// an id that is no hexadecimal number has to be given whole. Knows Docker, Podman, containerd, CRI-O and
/// Kubernetes, with systemd or without. A process that only watches a container (conmon) does not count.
/// Fails as find_unit() does.
Result<std::string> find_container(const std::vector<std::string>& cgroups, const std::string& id);

/// The cgroup that crun's /run/crun/ID/status or runc's /run/runc/ID/state.json says, as find_cgroup() takes
/// it. Nothing if the text is not of their form.
std::optional<std::string> cgroup_of_state(std::string_view json);

/// The cgroup that those files say for the container of this name; nothing if there is none.
std::optional<std::string> cgroup_in_runtime_state(const std::string& id);

}  // namespace offwait
