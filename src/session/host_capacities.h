// SPDX-License-Identifier: GPL-2.0-or-later
// Finds what this host knows of the capacities of its disks and interfaces (device/capacity.h has the rules).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/block_devices.h"
#include "device/capacity.h"
#include "model/trace.h"

namespace offwait {

/// The type of a disk according to sysfs. Virtual disks (`vd*`, `xvd*`) count as SSDs, because hypervisors
/// leave their rotational flag set, which is its default.
DiskType disk_type(const std::string& name, const std::string& sysfs = kSysfs);

/// Whether an interface is hardware, and its speed. Only the speeds of hardware and bonds are used; veth
/// invents one.
KnownNic known_nic(const std::string& name, const std::string& sysfs = kSysfs);

/// Fails for a disk or an interface that this host does not have, with the names that it has. An interface
/// of another network namespace (`NAME@INODE`) is not looked for.
Status check_given(const GivenCapacities& given, const std::string& sysfs = kSysfs);

/// Adds the capacities of the trace's disks and interfaces. `disks` are the names of disks by device number
/// (KernelRecording::disks), by which calibrations are found. Returns sentences for the user.
std::vector<std::string> add_host_capacities(const std::map<std::uint32_t, std::string>& disks, Trace& trace);

}  // namespace offwait
