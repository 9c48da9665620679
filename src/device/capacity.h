// SPDX-License-Identifier: GPL-2.0-or-later
// What disks and interfaces can do at most, and which source of that counts. In order of preference: given
// by the user, measured by `offwait calibrate`, reported by the driver (interfaces), assumed for the type of
// the device. disk_use() and nic_use() raise a capacity to the highest rate that was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

enum class DiskType : std::uint8_t { rotational, ssd, nvme };

/// The capacity assumed for a disk that nobody measured: rotational 150 IO/s and 150 MB/s, ssd (SATA,
/// virtio, unknown) 50,000 IO/s and 500 MB/s, NVMe 400,000 IO/s and 3 GB/s.
DiskCapacity assumed_capacity(ActorId disk, DiskType type);

/// The capacity assumed for an interface: 10 Gb/s in each direction.
NicCapacity assumed_nic_capacity(ActorId nic);

/// What `offwait calibrate` measured of a disk.
struct MeasuredDisk {
  double bytes_per_s = 0;
  double ios_per_s = 0;
  std::string day;  ///< UTC, `2026-11-21`
};

/// What a host knows of one of its disks.
struct KnownDisk {
  DiskType type = DiskType::ssd;
  std::optional<MeasuredDisk> measured;
};

/// What a host knows of one of its interfaces.
struct KnownNic {
  bool hardware = false;                       ///< else virtual: lo, veth, a bridge
  std::optional<double> reported_bytes_per_s;  ///< in each direction, by a driver that can be believed
};

/// Measured, else assumed.
DiskCapacity capacity_of(ActorId disk, const KnownDisk& known);

/// Reported, else assumed for hardware. A virtual interface that reports nothing has no capacity.
std::optional<NicCapacity> capacity_of(ActorId nic, const KnownNic& known);

/// `NAME=BYTES/s,IO/s`, e.g. `vda=500M,50k`: decimal suffixes k, M, G; both numbers > 0.
struct NamedCapacity {
  std::string disk;
  double bytes_per_s = 0;
  double ios_per_s = 0;
};
Result<NamedCapacity> parse_capacity(std::string_view text);

/// `NAME=BITS/s` or `NAME=RECEIVED,SENT`, e.g. `eth0=1G,100M`: decimal suffixes k, M, G; numbers > 0.
struct NamedNicCapacity {
  std::string nic;
  double received_per_s = 0;  ///< bytes, as in NicCapacity
  double sent_per_s = 0;
};
Result<NamedNicCapacity> parse_nic_capacity(std::string_view text);

/// What the user gave with --disk-capacity and --nic-capacity.
struct GivenCapacities {
  std::vector<NamedCapacity> disks;
  std::vector<NamedNicCapacity> nics;
};

/// Replaces the capacities in the trace by those given. Returns a sentence for each device that is not in
/// the trace.
std::vector<std::string> apply_given(const GivenCapacities& given, Trace& trace);

}  // namespace offwait
