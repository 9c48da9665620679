// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/block_devices.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace offwait {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::uint32_t dev(std::uint32_t major, std::uint32_t minor) { return major << 20 | minor; }

std::optional<std::uint32_t> no_backing(const std::string&) { return std::nullopt; }

/// A sysfs made for the test.
class Sysfs {
 public:
  Sysfs() {
    std::string name = (fs::temp_directory_path() / "offwait-sysfs-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = name;
    fs::create_directories(root_ / "dev/block");
  }
  Sysfs(const Sysfs&) = delete;
  Sysfs& operator=(const Sysfs&) = delete;
  ~Sysfs() { fs::remove_all(root_); }

  std::string root() const { return root_.string(); }

  fs::path add(const std::string& path, const std::string& number) {
    const fs::path directory = root_ / "devices" / path;
    fs::create_directories(directory);
    write(directory / "dev", number + "\n");
    fs::create_symlink(directory, root_ / "dev/block" / number);
    return directory;
  }

  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  static void slave(const fs::path& of, const fs::path& is) {
    fs::create_directories(of / "slaves");
    fs::create_directory_symlink(is, of / "slaves" / is.filename());
  }

 private:
  fs::path root_;
};

TEST_CASE("a partition is its disk, device-mapper and md are what they are made of") {
  Sysfs sysfs;
  const fs::path sda = sysfs.add("sda", "8:0");
  const fs::path sda1 = sysfs.add("sda/sda1", "8:1");
  Sysfs::write(sda1 / "partition", "1\n");
  const fs::path sdb = sysfs.add("cciss!c0d0", "8:16");
  const fs::path md = sysfs.add("md0", "9:0");
  Sysfs::slave(md, sda1);
  Sysfs::slave(md, sdb);
  const fs::path dm = sysfs.add("dm-0", "253:0");
  Sysfs::slave(dm, md);
  CHECK(whole_disk(dev(8, 1), sysfs.root()) == dev(8, 0));
  CHECK(whole_disk(dev(8, 16), sysfs.root()) == dev(8, 16));
  CHECK(whole_disk(dev(77, 7), sysfs.root()) == dev(77, 7));
  CHECK(disk_name(dev(8, 16), sysfs.root()) == "cciss/c0d0");
  CHECK(disk_name(dev(77, 7), sysfs.root()).empty());
  CHECK(disks_below(dev(8, 0), sysfs.root(), no_backing).empty());
  CHECK(disks_below(dev(9, 0), sysfs.root(), no_backing) == Names{"cciss/c0d0", "sda"});
  CHECK(disks_below(dev(253, 0), sysfs.root(), no_backing) == Names{"md0", "cciss/c0d0", "sda"});
}

TEST_CASE("a loop device is made of the disk below its file's file system, level by level") {
  Sysfs sysfs;
  sysfs.add("vda", "254:0");
  Sysfs::write(sysfs.add("vda/vda2", "254:2") / "partition", "2\n");
  fs::create_directories(sysfs.add("loop0", "7:0") / "loop");
  fs::create_directories(sysfs.add("loop1", "7:1") / "loop");
  const auto backing = [](const std::string& name) -> std::optional<std::uint32_t> {
    return name == "loop1" ? dev(7, 0) : dev(254, 2);
  };
  CHECK(disks_below(dev(7, 0), sysfs.root(), backing) == Names{"vda"});
  CHECK(disks_below(dev(7, 1), sysfs.root(), backing) == Names{"loop0", "vda"});
  // Some file systems have no disk: tmpfs, FUSE, NFS.
  CHECK(disks_below(dev(7, 1), sysfs.root(), [](const std::string&) { return dev(0, 31); }).empty());
}

TEST_CASE("devices made of each other, or of very many others, end the search") {
  Sysfs sysfs;
  const fs::path a = sysfs.add("dm-0", "253:0");
  const fs::path b = sysfs.add("dm-1", "253:1");
  Sysfs::slave(a, b);
  Sysfs::slave(b, a);
  CHECK(disks_below(dev(253, 0), sysfs.root(), no_backing) == Names{"dm-1"});
  for (int i = 0; i < 100; ++i) {
    Sysfs::slave(b, sysfs.add("sd" + std::to_string(i), "8:" + std::to_string(i)));
  }
  CHECK(disks_below(dev(253, 0), sysfs.root(), no_backing).size() == 64);
}

TEST_CASE("nonsense in sysfs is ignored") {
  Sysfs sysfs;
  const fs::path md = sysfs.add("md0", "9:0");
  for (const char* const text : {"", "8", "8:", ":", "x:y", "8:0x", "99999999999:0"}) {
    const fs::path slave = sysfs.add("bad", "1:1");
    Sysfs::write(slave / "dev", text);
    Sysfs::slave(md, slave);
    CAPTURE(text);
    CHECK(disks_below(dev(9, 0), sysfs.root(), no_backing).empty());
    fs::remove_all(slave);
    fs::remove_all(md / "slaves");
    fs::remove(fs::path(sysfs.root()) / "dev/block/1:1");
  }
}

TEST_CASE("requests end at the lowest disks") {
  using Devs = std::vector<std::uint32_t>;
  Sysfs sysfs;
  const fs::path sda = sysfs.add("sda", "8:0");
  const fs::path sda1 = sysfs.add("sda/sda1", "8:1");
  Sysfs::write(sda1 / "partition", "1\n");
  const fs::path sda2 = sysfs.add("sda/sda2", "8:2");
  Sysfs::write(sda2 / "partition", "2\n");
  CHECK(bottom_disks(dev(8, 1), sysfs.root()) == Devs{dev(8, 0)});
  const fs::path crypt = sysfs.add("dm-0", "253:0");
  const fs::path volume = sysfs.add("dm-1", "253:1");
  Sysfs::slave(crypt, sda1);
  Sysfs::slave(volume, crypt);
  Sysfs::slave(volume, sda2);
  CHECK(bottom_disks(dev(253, 1), sysfs.root()) == Devs{dev(8, 0)});
  Sysfs::slave(volume, sysfs.add("sdb", "8:16"));
  CHECK(bottom_disks(dev(253, 1), sysfs.root()) == Devs{dev(8, 0), dev(8, 16)});
  // A loop device itself gets requests.
  fs::create_directories(sysfs.add("loop0", "7:0") / "loop");
  CHECK(bottom_disks(dev(7, 0), sysfs.root()) == Devs{dev(7, 0)});
  CHECK(bottom_disks(dev(77, 7), sysfs.root()).empty());
  Sysfs::slave(crypt, volume);  // a cycle, which no kernel allows
  CHECK(bottom_disks(dev(253, 1), sysfs.root()) == Devs{dev(8, 0), dev(8, 16)});
}

TEST_CASE("a disk is known by what does not change with its name") {
  Sysfs sysfs;
  const fs::path nvme = sysfs.add("pci0/nvme0/nvme0n1", "259:0");
  CHECK(disk_identity(dev(259, 0), sysfs.root()).empty());
  Sysfs::write(nvme / "size", "0\n");
  CHECK(disk_identity(dev(259, 0), sysfs.root()).empty());
  Sysfs::write(nvme / "size", "2048\n");
  CHECK(disk_identity(dev(259, 0), sysfs.root()) == "at devices/pci0/nvme0/nvme0n1 of 2048 sectors");
  Sysfs::write(nvme / "device/serial", "  S1  \n");
  CHECK(disk_identity(dev(259, 0), sysfs.root()) == "device/serial S1 at devices/pci0/nvme0 of 2048 sectors");
  Sysfs::write(nvme / "wwid", "eui.1\nsecond line");
  CHECK(disk_identity(dev(259, 0), sysfs.root()) == "wwid eui.1 of 2048 sectors");
  Sysfs::write(nvme / "wwid", "a\\b\x1b[2J\xff");
  CHECK(disk_identity(dev(259, 0), sysfs.root()) == "wwid a\\x5cb\\x1b[2J\\xff of 2048 sectors");
  Sysfs::write(nvme / "wwid", std::string(5000, '\1'));
  CHECK(disk_identity(dev(259, 0), sysfs.root()).size() <= 20'000);
  CHECK(disk_identity(dev(77, 7), sysfs.root()).empty());
}

}  // namespace
}  // namespace offwait
