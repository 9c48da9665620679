// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/host_capacities.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/temporary_directory.h"

namespace offwait {
namespace {

/// A sysfs with the disks sda (which has a partition), cciss/c0d0, vdb and nvme0n1, and the interfaces lo,
/// eth0, slow0, bond0 and veth1.
class Sysfs {
 public:
  Sysfs() {
    write("block/sda/queue/rotational", "1");
    write("block/cciss!c0d0/queue/rotational", "0");
    write("block/vdb/queue/rotational", "1");
    write("block/nvme0n1/queue/rotational", "1");
    write("class/block/sda1/partition", "1");
    write("class/net/lo/speed", "");
    write("class/net/eth0/speed", "1000");
    write("class/net/eth0/device/vendor", "0x1af4");
    write("class/net/slow0/speed", "-1");
    write("class/net/slow0/device/vendor", "0x1af4");
    write("class/net/bond0/speed", "20000");
    write("class/net/bond0/bonding/mode", "");
    write("class/net/veth1/speed", "10000");
  }
  std::string path() const { return directory_ / "sys"; }

 private:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = path() + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  test::TemporaryDirectory directory_;
};

TEST_CASE("the type of a disk is its rotational flag, unless its name says more") {
  const Sysfs sysfs;
  CHECK(disk_type("sda", sysfs.path()) == DiskType::rotational);
  CHECK(disk_type("cciss/c0d0", sysfs.path()) == DiskType::ssd);
  CHECK(disk_type("vdb", sysfs.path()) == DiskType::ssd);
  CHECK(disk_type("nvme0n1", sysfs.path()) == DiskType::nvme);
  CHECK(disk_type("sdz", sysfs.path()) == DiskType::ssd);
}

TEST_CASE("only the speeds of hardware and of bonds are used") {
  const Sysfs sysfs;
  const KnownNic eth0 = known_nic("eth0", sysfs.path());
  CHECK(eth0.hardware);
  CHECK(eth0.reported_bytes_per_s == 125e6);
  const KnownNic slow0 = known_nic("slow0", sysfs.path());
  CHECK(slow0.hardware);
  CHECK_FALSE(slow0.reported_bytes_per_s);
  const KnownNic bond0 = known_nic("bond0", sysfs.path());
  CHECK_FALSE(bond0.hardware);
  CHECK(bond0.reported_bytes_per_s == 2.5e9);
  for (const char* name : {"veth1", "lo", "none"}) {
    const KnownNic nic = known_nic(name, sysfs.path());
    CHECK_FALSE(nic.hardware);
    CHECK_FALSE(nic.reported_bytes_per_s);
  }
}

std::string error_of(const GivenCapacities& given, const Sysfs& sysfs) {
  const Status checked = check_given(given, sysfs.path());
  return checked ? "" : checked.error().message;
}

TEST_CASE("devices that the user names have to exist") {
  const Sysfs sysfs;
  CHECK(error_of({}, sysfs).empty());
  CHECK(error_of({{{"sda", 1, 1}, {"cciss/c0d0", 1, 1}}, {{"eth0", 1, 1}, {"eth7@4026532195", 1, 1}}}, sysfs)
            .empty());
  CHECK(error_of({{{"sda", 1, 1}, {"sdz", 1, 1}}, {}}, sysfs) ==
        "--disk-capacity sdz: this host has no disk of this name; there are cciss/c0d0, nvme0n1, sda, vdb");
  CHECK(error_of({{{"sda1", 1, 1}}, {}}, sysfs) ==
        "--disk-capacity sda1: sda1 is a partition: name the disk that it is part of");
  CHECK(error_of({{}, {{"eth1", 1, 1}}}, sysfs) ==
        "--nic-capacity eth1: this host has no interface of this name; there are bond0, eth0, lo, slow0, "
        "veth1");
  CHECK(check_given({{{"sda", 1, 1}}, {}}, sysfs.path() + "/none").error().message ==
        "--disk-capacity sda: this host has no disk of this name; there is none");
}

}  // namespace
}  // namespace offwait
