// SPDX-License-Identifier: GPL-2.0-or-later
// Capacities: the most that a disk or interface can do. The sources in order of preference: given by the
// user, measured by `offwait calibrate`, reported by the driver (interfaces only), assumed for the type of
// the device. disk_use() and nic_use() raise a capacity to the highest rate that was seen. No share of an
// assumed one is told (has_known_capacity() in report/wording_disks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Recording files have the numbers: new ones are appended.
enum class DiskType : std::uint8_t { rotational, ssd, nvme };
inline constexpr std::size_t kDiskTypes = 3;

/// The capacity assumed for a disk that was not measured: rotational 150 IO/s and 150 MB/s, ssd (SATA,
/// virtio, unknown) 50,000 IO/s and 500 MB/s, NVMe 400,000 IO/s and 3 GB/s.
DiskCapacity assumed_capacity(ActorId disk, DiskType type);

/// The capacity assumed for an interface: 10 Gb/s in each direction.
NicCapacity assumed_nic_capacity(ActorId nic);

/// The capacity of a disk as `offwait calibrate` measured it.
struct MeasuredDisk {
  double bytes_per_s = 0;
  double ios_per_s = 0;
  std::string day;  ///< the day of the measurement in UTC, `2026-11-21`
};

/// What is known on a host about one of its disks.
struct KnownDisk {
  DiskType type = DiskType::ssd;
  std::optional<MeasuredDisk> measured;
};

/// What is known on a host about one of its interfaces.
struct KnownNic {
  bool hardware = false;                       ///< false: virtual (lo, veth, a bridge)
  std::optional<double> reported_bytes_per_s;  ///< in each direction, if the driver's report is credible
};

/// What is known on a host about its disks and interfaces, by name.
struct KnownDevices {
  std::map<std::string, KnownDisk> disks;
  std::map<std::string, KnownNic> nics;
};

/// The measured capacity, or the assumed one if there is none.
DiskCapacity capacity_of(ActorId disk, const KnownDisk& known);

/// The reported capacity, or the assumed one for hardware. A virtual interface that reports nothing has none.
std::optional<NicCapacity> capacity_of(ActorId nic, const KnownNic& known);

/// Adds a capacity of each disk and interface in the trace. A disk that is not known is taken for an SSD;
/// an interface that is not known has no capacity.
void add_capacities(const KnownDevices& known, Trace& trace);

/// A capacity written as `NAME=BYTES/s,IO/s`, e.g. `vda=500M,50k`. The suffixes k, M and G are decimal; both
/// numbers are > 0.
struct NamedCapacity {
  std::string disk;
  double bytes_per_s = 0;
  double ios_per_s = 0;
};
Result<NamedCapacity> parse_capacity(std::string_view text);

/// A capacity written as `NAME=BITS/s` or `NAME=RECEIVED,SENT`, e.g. `eth0=1G,100M`. The suffixes k, M and G
/// are decimal; the numbers are > 0.
struct NamedNicCapacity {
  std::string nic;
  double received_per_s = 0;  ///< bytes, as in NicCapacity
  double sent_per_s = 0;
};
Result<NamedNicCapacity> parse_nic_capacity(std::string_view text);

/// The arguments of --disk-capacity and --nic-capacity.
struct GivenCapacities {
  std::vector<NamedCapacity> disks;
  std::vector<NamedNicCapacity> nics;
};

/// Replaces capacities in the trace by the given ones. Returns a sentence for each given device that is not
/// in the trace.
std::vector<std::string> apply_given(const GivenCapacities& given, Trace& trace);

}  // namespace offwait
