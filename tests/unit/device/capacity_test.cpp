// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/capacity.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace offwait {
namespace {

TEST_CASE("capacities by type of disk") {
  const DiskCapacity rotational = assumed_capacity(3, DiskType::rotational);
  CHECK(rotational.disk == 3);
  CHECK(rotational.bytes_per_s == 150e6);
  CHECK(rotational.ios_per_s == 150);
  CHECK(rotational.source == CapacitySource::assumed);
  CHECK(assumed_capacity(0, DiskType::ssd).bytes_per_s == 500e6);
  CHECK(assumed_capacity(0, DiskType::ssd).ios_per_s == 50'000);
  CHECK(assumed_capacity(0, DiskType::nvme).bytes_per_s == 3e9);
  CHECK(assumed_capacity(0, DiskType::nvme).ios_per_s == 400'000);
}

TEST_CASE("a capacity option is a name and two numbers with decimal suffixes") {
  const Result<NamedCapacity> plain = parse_capacity("vda=500M,50k");
  REQUIRE(plain.ok());
  CHECK(plain->disk == "vda");
  CHECK(plain->bytes_per_s == 500e6);
  CHECK(plain->ios_per_s == 50e3);
  const Result<NamedCapacity> fine = parse_capacity("cciss!c0d0=1.5G,150");
  REQUIRE(fine.ok());
  CHECK(fine->disk == "cciss!c0d0");
  CHECK(fine->bytes_per_s == 1.5e9);
  CHECK(fine->ios_per_s == 150);
}

TEST_CASE("a wrong capacity option says what is wrong with it and what it must be") {
  const std::string rule = "; it must be NAME=BYTES/s,IO/s, for example vda=500M,50k";
  const std::string number = " is no number above 0 (suffixes: k, M, G)";
  CHECK(parse_capacity("").error().message == "disk capacity '': has no '='" + rule);
  CHECK(parse_capacity("vda").error().message == "disk capacity 'vda': has no '='" + rule);
  CHECK(parse_capacity("=1,2").error().message == "disk capacity '=1,2': has no disk name before '='" + rule);
  CHECK(parse_capacity("vda=5M").error().message ==
        "disk capacity 'vda=5M': has no ',' between the two numbers" + rule);
  CHECK(parse_capacity("vda=0,5").error().message == "disk capacity 'vda=0,5': BYTES/s '0'" + number + rule);
  CHECK(parse_capacity("vda=5,\x1b[1m").error().message ==
        "disk capacity 'vda=5,?[1m': IO/s '?[1m'" + number + rule);
  for (const char* bad :
       {"-5", "", "k", "5K", "5kk", "5 ", " 5", "+5", "nan", "inf", "1e5", "0x10", "5,5", "1\xc3\xa9"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_capacity(std::string("vda=5,") + bad).ok());
  }
  CHECK_FALSE(parse_capacity("vda=" + std::string(400, '9') + ",5").ok());
  CHECK_FALSE(parse_capacity("vda=" + std::string(308, '9') + "G,5").ok());
  CHECK(parse_capacity(std::string(1000, 'x')).error().message ==
        "disk capacity '" + std::string(64, 'x') + "…': has no '='" + rule);
}

TEST_CASE("capacities as users write them, in bits") {
  const auto parsed = [](const char* text) {
    const Result<NamedNicCapacity> result = parse_nic_capacity(text);
    REQUIRE(result.ok());
    return std::pair(result->received_per_s, result->sent_per_s);
  };
  CHECK(parsed("eth0=10G") == std::pair(1.25e9, 1.25e9));
  CHECK(parsed("eth0=1G,100M") == std::pair(125e6, 12.5e6));
  CHECK(parse_nic_capacity("eth0@4026532195=8k")->nic == "eth0@4026532195");
  for (const char* const wrong : {"", "eth0", "=1G", "eth0=", "eth0=0", "eth0=-1G", "eth0=1G,", "eth0=,1G",
                                  "eth0=1G,2G,3G", "eth0=1T", "eth0=nan", "eth0=inf"}) {
    INFO(wrong);
    const Result<NamedNicCapacity> result = parse_nic_capacity(wrong);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message.find("it must be NAME=BITS/s or NAME=RECEIVED,SENT") != std::string::npos);
  }
}

TEST_CASE("a measurement counts before what is assumed for the type of the disk") {
  const DiskCapacity assumed = capacity_of(4, KnownDisk{DiskType::rotational, std::nullopt});
  CHECK(assumed.disk == 4);
  CHECK(assumed.ios_per_s == 150);
  CHECK(assumed.source == CapacitySource::assumed);
  const DiskCapacity measured =
      capacity_of(4, KnownDisk{DiskType::rotational, MeasuredDisk{7e6, 800, "2026-11-21"}});
  CHECK(measured.disk == 4);
  CHECK(measured.bytes_per_s == 7e6);
  CHECK(measured.ios_per_s == 800);
  CHECK(measured.source == CapacitySource::measured);
  CHECK(measured.measured_on == "2026-11-21");
}

TEST_CASE(
    "what a driver reports counts before what is assumed of hardware; virtual interfaces have nothing") {
  const std::optional<NicCapacity> reported = capacity_of(2, KnownNic{true, 125e6});
  REQUIRE(reported);
  CHECK(reported->nic == 2);
  CHECK(reported->received_per_s == 125e6);
  CHECK(reported->sent_per_s == 125e6);
  CHECK(reported->source == CapacitySource::reported);
  const std::optional<NicCapacity> assumed = capacity_of(2, KnownNic{true, std::nullopt});
  REQUIRE(assumed);
  CHECK(assumed->received_per_s == 1.25e9);
  CHECK(assumed->source == CapacitySource::assumed);
  CHECK_FALSE(capacity_of(2, KnownNic{false, std::nullopt}));
}

TEST_CASE("a given capacity replaces any other, and names without a device are reported") {
  Trace trace;
  Actor disk;
  disk.kind = ActorKind::disk;
  disk.name = "vda";
  Actor nic;
  nic.kind = ActorKind::nic;
  nic.name = "vda";
  trace.actors = {nic, disk};
  trace.capacities = {{1, 5, 6, CapacitySource::measured, "2026-11-21"}};
  trace.nic_capacities = {{0, 7, 8, CapacitySource::assumed}};
  const std::vector<std::string> missing =
      apply_given({{{"vda", 1e6, 10}, {"sdz", 1, 1}}, {{"vda", 100, 200}, {"eth9", 1, 1}}}, trace);
  CHECK(missing ==
        std::vector<std::string>{"--disk-capacity sdz: no thread waited for a disk of this name",
                                 "--nic-capacity eth9: no thread waited for an interface of this name"});
  REQUIRE(trace.capacities.size() == 1);
  CHECK(trace.capacities[0].disk == 1);
  CHECK(trace.capacities[0].bytes_per_s == 1e6);
  CHECK(trace.capacities[0].ios_per_s == 10);
  CHECK(trace.capacities[0].source == CapacitySource::given);
  CHECK(trace.capacities[0].measured_on.empty());
  REQUIRE(trace.nic_capacities.size() == 1);
  CHECK(trace.nic_capacities[0].nic == 0);
  CHECK(trace.nic_capacities[0].received_per_s == 100);
  CHECK(trace.nic_capacities[0].sent_per_s == 200);
  CHECK(trace.nic_capacities[0].source == CapacitySource::given);
}

TEST_CASE("disks and interfaces have what their host knew of them") {
  Trace trace;
  for (const auto& [kind, name] : {std::pair(ActorKind::nic, "eth0"), std::pair(ActorKind::disk, "vda"),
                                   std::pair(ActorKind::disk, "sdz"), std::pair(ActorKind::nic, "lo"),
                                   std::pair(ActorKind::nic, "eth9")}) {
    Actor actor;
    actor.kind = kind;
    actor.name = name;
    trace.actors.push_back(actor);
  }
  KnownDevices known;
  known.disks["vda"] = {DiskType::nvme, MeasuredDisk{1e6, 10, "2026-11-22"}};
  known.nics["eth0"] = {true, 1e9};
  known.nics["lo"] = {false, std::nullopt};
  add_capacities(known, trace);
  REQUIRE(trace.capacities.size() == 2);
  CHECK(trace.capacities[0].disk == 1);
  CHECK(trace.capacities[0].bytes_per_s == 1e6);
  CHECK(trace.capacities[0].measured_on == "2026-11-22");
  CHECK(trace.capacities[1].disk == 2);
  CHECK(trace.capacities[1].ios_per_s == 50'000);
  REQUIRE(trace.nic_capacities.size() == 1);
  CHECK(trace.nic_capacities[0].nic == 0);
  CHECK(trace.nic_capacities[0].received_per_s == 1e9);
}

}  // namespace
}  // namespace offwait
