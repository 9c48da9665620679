// SPDX-License-Identifier: GPL-2.0-or-later
// What a disk is, as sysfs has it: what it is made of, and which one it is. Everything read is bounded and
// may vanish at any time; what is not found is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

inline constexpr const char* kSysfs = "/sys";

/// Device number of the disk that a partition is part of, `dev` itself for anything else (major << 20 |
/// minor).
std::uint32_t whole_disk(std::uint32_t dev, const std::string& sysfs = kSysfs);

/// Device number of the file system that holds the file behind a loop device. Asks the loop device itself,
/// because the name of the file may mean something else here.
std::optional<std::uint32_t> loop_backing_device(const std::string& name);

/// Names of the disks that `dev` is made of, the nearest first: slaves of device-mapper and md, and what is
/// below a loop device's file; partitions as the disks they are part of. At most 64.
std::vector<std::string> disks_below(
    std::uint32_t dev, const std::string& sysfs = kSysfs,
    const std::function<std::optional<std::uint32_t>(const std::string&)>& backing = loop_backing_device);

/// The disks that requests to `dev` go to in the end, as far as device-mapper and md are concerned: it
/// itself, or of what it is made of those that are made of nothing. By number; at most 64.
std::vector<std::uint32_t> bottom_disks(std::uint32_t dev, const std::string& sysfs = kSysfs);

/// Name of a whole disk as /proc/diskstats has it; empty when there is none of this number.
std::string disk_name(std::uint32_t dev, const std::string& sysfs = kSysfs);

/// Tells this whole disk from others, also after a reboot and under another name: its WWID, UUID or file, or
/// its serial number and where it is attached, else where it is attached and its name; and its size.
/// Printable ASCII (other bytes as
/// `\x1b`), at most 20,000 bytes; empty when there is no such disk, or it has no size.
std::string disk_identity(std::uint32_t dev, const std::string& sysfs = kSysfs);

}  // namespace offwait
