// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/capacity.h"

#include <algorithm>
#include <utility>

#include "device/rate.h"

namespace offwait {
namespace {

constexpr double kBitsPerByte = 8;

/// The first actor of this kind and name, kNoActor if there is none.
ActorId find_device(const Trace& trace, ActorKind kind, const std::string& name) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].kind == kind && trace.actors[id].name == name) return id;
  }
  return kNoActor;
}

}  // namespace

DiskCapacity assumed_capacity(ActorId disk, DiskType type) {
  switch (type) {
    case DiskType::rotational:
      return {disk, 150e6, 150, CapacitySource::assumed};
    case DiskType::nvme:
      return {disk, 3e9, 400e3, CapacitySource::assumed};
    case DiskType::ssd:
      break;
  }
  return {disk, 500e6, 50e3, CapacitySource::assumed};
}

NicCapacity assumed_nic_capacity(ActorId nic) {
  constexpr double kTenGigabit = 10e9 / kBitsPerByte;
  return {nic, kTenGigabit, kTenGigabit, CapacitySource::assumed};
}

DiskCapacity capacity_of(ActorId disk, const KnownDisk& known) {
  if (!known.measured) return assumed_capacity(disk, known.type);
  return {disk, known.measured->bytes_per_s, known.measured->ios_per_s, CapacitySource::measured,
          known.measured->day};
}

std::optional<NicCapacity> capacity_of(ActorId nic, const KnownNic& known) {
  if (const std::optional<double>& rate = known.reported_bytes_per_s)
    return NicCapacity{nic, *rate, *rate, CapacitySource::reported};
  if (known.hardware) return assumed_nic_capacity(nic);
  return std::nullopt;
}

void add_capacities(const KnownDevices& known, Trace& trace) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind == ActorKind::disk) {
      const auto disk = known.disks.find(actor.name);
      trace.capacities.push_back(capacity_of(id, disk == known.disks.end() ? KnownDisk() : disk->second));
    } else if (actor.kind == ActorKind::nic) {
      const auto nic = known.nics.find(actor.name);
      if (nic == known.nics.end()) continue;
      if (const std::optional<NicCapacity> capacity = capacity_of(id, nic->second))
        trace.nic_capacities.push_back(*capacity);
    }
  }
}

Result<NamedCapacity> parse_capacity(std::string_view text) {
  const auto wrong = [text](const std::string& why) {
    return Error{"disk capacity " + shown(text) + ": " + why +
                 "; it must be NAME=BYTES/s,IO/s, for example vda=500M,50k"};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return wrong("has no '='");
  }
  const std::string_view name = text.substr(0, equals);
  if (name.empty()) {
    return wrong("has no disk name before '='");
  }
  const std::string_view rates = text.substr(equals + 1);
  const std::size_t comma = rates.find(',');
  if (comma == std::string_view::npos) {
    return wrong("has no ',' between the two numbers");
  }
  const std::string_view bytes_text = rates.substr(0, comma);
  const std::string_view ios_text = rates.substr(comma + 1);
  const std::string number = " is no number above 0 (suffixes: k, M, G)";
  const std::optional<double> bytes = parse_rate(bytes_text);
  if (!bytes) {
    return wrong("BYTES/s " + shown(bytes_text) + number);
  }
  const std::optional<double> ios = parse_rate(ios_text);
  if (!ios) {
    return wrong("IO/s " + shown(ios_text) + number);
  }
  return NamedCapacity{std::string(name), *bytes, *ios};
}

Result<NamedNicCapacity> parse_nic_capacity(std::string_view text) {
  const auto wrong = [text](const std::string& why) {
    return Error{"interface capacity " + shown(text) + ": " + why +
                 "; it must be NAME=BITS/s or NAME=RECEIVED,SENT, for example eth0=10G or eth0=1G,100M"};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return wrong("has no '='");
  }
  if (equals == 0) {
    return wrong("has no interface name before '='");
  }
  const std::string_view rates = text.substr(equals + 1);
  const std::size_t comma = rates.find(',');
  const std::string_view received_text = rates.substr(0, comma);
  const std::string_view sent_text =
      comma == std::string_view::npos ? received_text : rates.substr(comma + 1);
  NamedNicCapacity capacity{std::string(text.substr(0, equals)), 0, 0};
  for (const auto& [rate_text, rate] :
       {std::pair(received_text, &capacity.received_per_s), std::pair(sent_text, &capacity.sent_per_s)}) {
    const std::optional<double> bits = parse_rate(rate_text);
    if (!bits) {
      return wrong("BITS/s " + shown(rate_text) + " is no number above 0 (suffixes: k, M, G)");
    }
    *rate = *bits / kBitsPerByte;
  }
  return capacity;
}

std::vector<std::string> apply_given(const GivenCapacities& given, Trace& trace) {
  std::vector<std::string> missing;
  for (const NamedCapacity& one : given.disks) {
    const ActorId id = find_device(trace, ActorKind::disk, one.disk);
    if (id == kNoActor) {
      missing.push_back("--disk-capacity " + one.disk + ": no thread waited for a disk of this name");
      continue;
    }
    std::erase_if(trace.capacities, [id](const DiskCapacity& other) { return other.disk == id; });
    trace.capacities.push_back({id, one.bytes_per_s, one.ios_per_s, CapacitySource::given});
  }
  for (const NamedNicCapacity& one : given.nics) {
    const ActorId id = find_device(trace, ActorKind::nic, one.nic);
    if (id == kNoActor) {
      missing.push_back("--nic-capacity " + one.nic + ": no thread waited for an interface of this name");
      continue;
    }
    std::erase_if(trace.nic_capacities, [id](const NicCapacity& other) { return other.nic == id; });
    trace.nic_capacities.push_back({id, one.received_per_s, one.sent_per_s, CapacitySource::given});
  }
  return missing;
}

}  // namespace offwait
