// SPDX-License-Identifier: GPL-2.0-or-later
// Finds what this host knows of its disks and interfaces (device/capacity.h has the rules).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/block_devices.h"
#include "device/capacity.h"
#include "event/recording.h"

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

/// What is known of the disks and interfaces of the recording, which was made on this host. Appends sentences
/// for the user to `notes`.
KnownDevices known_devices(const KernelRecording& recording, std::vector<std::string>& notes);

}  // namespace offwait
