// SPDX-License-Identifier: GPL-2.0-or-later
// What sysfs says about disks: which disks they are made of, and how to recognise them. Everything read is
// bounded and may vanish at any time; what is not found is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

inline constexpr const char* kSysfs = "/sys";

/// The device number (major << 20 | minor) of the disk that a partition is part of; `dev` itself for anything
/// else.
std::uint32_t whole_disk(std::uint32_t dev, const std::string& sysfs = kSysfs);

/// The device number of the file system that holds the file behind a loop device. Asks the loop device
/// itself, because the file's name may mean another file in this mount namespace.
std::optional<std::uint32_t> loop_backing_device(const std::string& name);

/// The names of the disks that `dev` is made of, the nearest first: what is below device-mapper and md, and
/// what is below a loop device's file. A partition counts as its disk. At most 64.
std::vector<std::string> disks_below(
    std::uint32_t dev, const std::string& sysfs = kSysfs,
    const std::function<std::optional<std::uint32_t>(const std::string&)>& backing = loop_backing_device);

/// The disks to which requests to `dev` go in the end, as far as device-mapper and md are concerned: `dev`
/// itself if it is not made of others, else the lowest of the disks that it is made of. In order of number;
/// at most 64.
std::vector<std::uint32_t> bottom_disks(std::uint32_t dev, const std::string& sysfs = kSysfs);

/// The name of a whole disk as /proc/diskstats has it; empty when no disk has this number.
std::string disk_name(std::uint32_t dev, const std::string& sysfs = kSysfs);

/// Distinguishes this whole disk from others, also after a reboot and under another name. It has the disk's
/// size and the first of these that the disk has: its WWID, UUID or file; its serial number and where it is
/// attached; where it is attached and its name. Printable ASCII (other bytes as `\x1b`), at most 20,000
/// bytes; empty when there is no such disk, or it has no size.
std::string disk_identity(std::uint32_t dev, const std::string& sysfs = kSysfs);

}  // namespace offwait
