// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/host_capacities.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "calibrate/calibration.h"

namespace offwait {
namespace {

/// The name of the disk in sysfs: `cciss!c0d0` for `cciss/c0d0`.
std::string sysfs_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '!');
  return name;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    std::string name = entry->path().filename().string();
    std::replace(name.begin(), name.end(), '!', '/');
    names.insert(std::move(name));
  }
  return names;
}

/// An error that names the devices that this host has, or one of them if there are many.
Error no_such_device(const std::string& option, const std::string& what, const std::string& name,
                     const std::set<std::string>& names) {
  constexpr std::size_t kMostNamed = 16;
  std::string there;
  for (const std::string& one : names) {
    if (there.empty() || names.size() <= kMostNamed) there += (there.empty() ? "" : ", ") + one;
  }
  if (names.size() > kMostNamed) there += fmt::format(" and {} more", names.size() - 1);
  return Error{fmt::format("{} {}: this host has no {} of this name; {}", option, name, what,
                           names.empty() ? "there is none" : "there are " + there),
               kUsage};
}

bool usable_name(const std::string& name) {
  return name != "." && name != ".." && name.find('\0') == std::string::npos;
}

const Calibration* calibration_of(std::uint32_t dev, const std::vector<Calibration>& calibrations) {
  if (calibrations.empty()) return nullptr;
  const std::string identity = disk_identity(dev);
  const auto found = std::find_if(calibrations.begin(), calibrations.end(),
                                  [&identity](const Calibration& one) { return one.identity == identity; });
  return found == calibrations.end() ? nullptr : &*found;
}

KnownDisk known_disk(std::uint32_t dev, const std::string& name, const KernelRecording& recording,
                     const std::vector<Calibration>& calibrations) {
  if (const Calibration* const measured = calibration_of(dev, calibrations)) {
    const Throughput most = measured->most();
    return {DiskType::ssd, MeasuredDisk{most.bytes_per_s, most.ios_per_s, measured->measured_on}};
  }
  // A disk that is made of others has the type of the last of them.
  const auto below = recording.disks_below.find(dev);
  return {disk_type(below == recording.disks_below.end() ? name : below->second.back()), std::nullopt};
}

}  // namespace

DiskType disk_type(const std::string& name, const std::string& sysfs) {
  if (name.starts_with("nvme")) return DiskType::nvme;
  if (name.starts_with("vd") || name.starts_with("xvd")) return DiskType::ssd;
  std::ifstream file(sysfs + "/block/" + sysfs_name(name) + "/queue/rotational");
  char rotational = '0';
  file >> rotational;
  return rotational == '1' ? DiskType::rotational : DiskType::ssd;
}

KnownNic known_nic(const std::string& name, const std::string& sysfs) {
  constexpr double kBytesPerMegabit = 1e6 / 8;
  const std::string directory = sysfs + "/class/net/" + name;
  KnownNic nic;
  nic.hardware = exists(directory + "/device");
  std::ifstream file(directory + "/speed");
  double megabits = 0;
  if ((nic.hardware || exists(directory + "/bonding")) && file >> megabits && megabits > 0)
    nic.reported_bytes_per_s = megabits * kBytesPerMegabit;
  return nic;
}

Status check_given(const GivenCapacities& given, const std::string& sysfs) {
  const std::set<std::string> disks = names_in(sysfs + "/block");
  for (const NamedCapacity& one : given.disks) {
    if (disks.contains(one.disk)) continue;
    const std::string partition = sysfs + "/class/block/" + sysfs_name(one.disk) + "/partition";
    if (usable_name(one.disk) && exists(partition))
      return Error{
          fmt::format("--disk-capacity {0}: {0} is a partition: name the disk that it is part of", one.disk)};
    return no_such_device("--disk-capacity", "disk", one.disk, disks);
  }
  const std::set<std::string> nics = names_in(sysfs + "/class/net");
  for (const NamedNicCapacity& one : given.nics) {
    if (one.nic.find('@') == std::string::npos && !nics.contains(one.nic))
      return no_such_device("--nic-capacity", "interface", one.nic, nics);
  }
  return success();
}

KnownDevices known_devices(const KernelRecording& recording, std::vector<std::string>& notes) {
  std::vector<Calibration> calibrations;
  if (Result<std::vector<Calibration>> stored = stored_calibrations()) {
    calibrations = std::move(stored).value();
  } else {
    notes.push_back(stored.error().message);
  }
  KnownDevices known;
  for (const auto& [dev, name] : recording.disks)
    known.disks.emplace(name, known_disk(dev, name, recording, calibrations));
  for (const auto& [id, name] : recording.nics) {
    // This sysfs has only the interfaces of this network namespace.
    if (name.find_first_of("/@") == std::string::npos) known.nics.emplace(name, known_nic(name));
  }
  return known;
}

}  // namespace offwait
