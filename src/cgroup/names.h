// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the cgroup of a systemd unit or of a container by the directory names that their managers choose.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

/// The one of `cgroups` (see list_cgroups()) that belongs to this unit: `postgresql.service`, or `postgresql`
/// for short. Fails when there is none, and when there are several (of several users, or in containers).
Result<std::string> find_unit(const std::vector<std::string>& cgroups, const std::string& unit);

/// The one of `cgroups` that belongs to this container. `id` is the container's id or at least its first 4
/// characters; an id that is not a hexadecimal number has to be given whole. Knows Docker, Podman,
/// containerd, CRI-O and Kubernetes, with and without systemd. A process that only watches a container
/// (conmon) does not count. Fails as find_unit() does.
Result<std::string> find_container(const std::vector<std::string>& cgroups, const std::string& id);

/// The cgroup named in crun's /run/crun/ID/status or runc's /run/runc/ID/state.json, in the form that
/// find_cgroup() takes. Nothing if the text has another form.
std::optional<std::string> cgroup_of_state(std::string_view json);

/// The cgroup that these files name for the container `id`; nothing if there is none.
std::optional<std::string> cgroup_in_runtime_state(const std::string& id);

}  // namespace offwait
