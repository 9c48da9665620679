// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/calibration.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace offwait {
namespace {

namespace fs = std::filesystem;

const Calibration kRead{"wwid eui.1 of 2048 sectors", "nvme0n1", "2026-11-21", {3e9, 400e3}, {}};
const Calibration kBoth{"serial S of 4096 sectors", "vda", "2025-02-28", {5e8, 1.5}, Throughput{2e8, 50e3}};

constexpr const char* kText = R"({
  "schema": "offwait-disks/1",
  "disks": [
    {
      "identity": "wwid eui.1 of 2048 sectors",
      "disk": "nvme0n1",
      "measured_on": "2026-11-21",
      "read": {
        "bytes_per_s": 3000000000.0,
        "ios_per_s": 400000.0
      }
    },
    {
      "identity": "serial S of 4096 sectors",
      "disk": "vda",
      "measured_on": "2025-02-28",
      "read": {
        "bytes_per_s": 500000000.0,
        "ios_per_s": 1.5
      },
      "write": {
        "bytes_per_s": 200000000.0,
        "ios_per_s": 50000.0
      }
    }
  ]
}
)";

std::string replaced(const std::string& what, const std::string& by) {
  std::string text = kText;
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

std::string error_of(const std::string& text) {
  const auto parsed = parse_calibrations(text);
  REQUIRE_FALSE(parsed);
  return parsed.error().message;
}

std::vector<Calibration> stored_in(const std::string& directory) {
  auto stored = stored_calibrations(directory);
  if (!stored) FAIL(stored.error().message);
  return *stored;
}

class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "offwait-state-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { fs::remove_all(root_); }
  /// Does not exist yet.
  std::string state() const { return (root_ / "state").string(); }
  fs::path file() const { return root_ / "state" / "disks.json"; }
  void write(const std::string& text) const {
    fs::create_directories(root_ / "state");
    std::ofstream(file(), std::ios::binary) << text;
  }

 private:
  fs::path root_;
};

TEST_CASE("the stored form, both ways") {
  CHECK(to_json({kRead, kBoth}) == kText);
  const auto parsed = parse_calibrations(kText);
  REQUIRE(parsed);
  REQUIRE(parsed->size() == 2);
  CHECK(to_json(*parsed) == kText);
  CHECK_FALSE((*parsed)[0].write);
  CHECK((*parsed)[1].write->ios_per_s == 50e3);
  CHECK(parse_calibrations(to_json({}))->empty());
}

TEST_CASE("the capacity is the larger figure of reads and writes") {
  CHECK(kRead.most().bytes_per_s == 3e9);
  CHECK(kRead.most().ios_per_s == 400e3);
  CHECK(kBoth.most().bytes_per_s == 5e8);
  CHECK(kBoth.most().ios_per_s == 50e3);
}

TEST_CASE("a later version's keys do no harm") {
  const auto parsed = parse_calibrations(replaced("\"read\": {", "\"trim\": [1], \"read\": {\"depth\": 9,"));
  REQUIRE(parsed);
  CHECK(to_json(*parsed) == kText);
}

TEST_CASE("200,000 unknown keys are skipped") {
  std::string keys;
  for (int i = 0; i < 200'000; ++i) keys += "\"" + std::to_string(i) + "\":0,";
  const auto parsed = parse_calibrations(replaced("{", "{" + keys));
  REQUIRE(parsed);
  CHECK(to_json(*parsed) == kText);
}

TEST_CASE("whatever differs from what offwait writes is an error") {
  const std::string other =
      "not written by this version of offwait (expected \"schema\": \"offwait-disks/1\")";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string(100'000, '['),
        replaced("disks/1", "disks/2"), replaced("\"offwait-disks/1\"", "1"), std::string("\xff\xfe")}) {
    CHECK(error_of(text) == other);
  }
  CHECK(error_of(R"({"schema": "offwait-disks/1"})") == "has no list of disks");
  CHECK(error_of(R"({"schema": "offwait-disks/1", "disks": {}})") == "has no list of disks");
  CHECK(error_of(R"({"schema": "offwait-disks/1", "disks": [1]})") == "disk 1 is not complete");
  for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
           {"\"serial S of 4096 sectors\"", "\"\""},
           {"\"serial S of 4096 sectors\"", "7"},
           {"\"serial S of 4096 sectors\"", "\"a\\nb\""},
           {"\"serial S of 4096 sectors\"", "\"\\u001b[2J\""},
           {"\"vda\"", "\"\\u202e\""},
           {"2025-02-28", "2025-02-2"},
           {"2025-02-28", "2025-13-28"},
           {"2025-02-28", "2025-02-00"},
           {"2025-02-28", "2025-02-281"},
           {"500000000.0", "0"},
           {"500000000.0", "-1"},
           {"500000000.0", "1e999"},
           {"500000000.0", "\"500M\""},
           {"500000000.0", "null"},
           {"200000000.0", "0"},
           {"50000.0\n      }", "{}}"},
       }) {
    INFO(what << " → " << by);
    const std::string error = error_of(replaced(what, by));
    CHECK((error == "disk 2 is not complete" || error == other));
  }
  CHECK(error_of(replaced("serial S of 4096 sectors", "wwid eui.1 of 2048 sectors")) ==
        "has disk 'wwid eui.1 of 2048 sectors' twice");
}

TEST_CASE("a calibration is stored, and a newer one of the same disk replaces it") {
  const Directory directory;
  CHECK(stored_in(directory.state()).empty());
  REQUIRE(prepare_store(directory.state()));
  CHECK(stored_in(directory.state()).empty());
  REQUIRE(store_calibration(kRead, directory.state()));
  REQUIRE(store_calibration(kBoth, directory.state()));
  CHECK(to_json(stored_in(directory.state())) == kText);

  Calibration again = kRead;
  again.measured_on = "2026-12-01";
  again.disk = "nvme1n1";
  again.read = {1, 2};
  REQUIRE(store_calibration(again, directory.state()));
  CHECK(to_json(stored_in(directory.state())) == to_json({kBoth, again}));

  struct stat status {};
  REQUIRE(::stat(directory.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 07777 & ~0644U) == 0);
  CHECK(std::distance(fs::directory_iterator(directory.state()), fs::directory_iterator()) == 1);
}

TEST_CASE("a file that cannot be used is named, and replaced") {
  const Directory directory;
  directory.write("rubbish");
  const auto stored = stored_calibrations(directory.state());
  REQUIRE_FALSE(stored);
  CHECK(stored.error().message ==
        "cannot use the measured capacities in " + directory.file().string() +
            ": not written by this version of offwait (expected \"schema\": \"offwait-disks/1\"); "
            "'offwait calibrate' replaces it");
  REQUIRE(store_calibration(kRead, directory.state()));
  CHECK(to_json(stored_in(directory.state())) == to_json({kRead}));

  directory.write(std::string((8 << 20) + 1, ' '));
  CHECK(stored_calibrations(directory.state()).error().message.find("longer than it can be") !=
        std::string::npos);
  fs::remove(directory.file());
  fs::create_directory(directory.file());
  CHECK(stored_calibrations(directory.state()).error().message.find("Is a directory") != std::string::npos);
  CHECK(store_calibration(kRead, directory.state()).error().message.find("cannot write") == 0);
  CHECK(std::distance(fs::directory_iterator(directory.state()), fs::directory_iterator()) == 1);
}

TEST_CASE("a directory that cannot be made is an error") {
  const Directory directory;
  const std::string inside = directory.state() + "/deeper";
  CHECK(prepare_store(inside).error().message == "cannot create " + inside + ": No such file or directory");
  CHECK_FALSE(store_calibration(kRead, inside));
}

}  // namespace
}  // namespace offwait
