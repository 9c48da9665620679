// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/flight_files.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace offwait {
namespace {

using Names = std::set<std::string>;

/// A directory that is removed at the end.
class Directory {
 public:
  Directory() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }
  void add(const std::string& name) const { std::ofstream(path_ + "/" + name) << name; }
  Names names() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.insert(entry.path().filename());
    return names;
  }

 private:
  std::string path_ = "/tmp/offwait-flight-XXXXXX";
};

FlightFiles open_files(const Directory& directory, std::size_t keep) {
  Result<FlightFiles> files = FlightFiles::open(directory.path(), keep);
  REQUIRE(files.ok());
  return std::move(files).value();
}

std::string written(const FlightFiles& files, const std::string& reason) {
  const Result<FlightFiles::Part> part = files.begin(reason);
  REQUIRE(part.ok());
  REQUIRE(files.finish(*part).ok());
  return part->name;
}

TEST_CASE("names of flights have the time and the reason") {
  CHECK(is_flight_file("flight-20261123T044312.345Z-usr1.offwait"));
  CHECK(!is_flight_file("flight-20261123T044312.345Z-usr1.offwait.part"));
  CHECK(is_flight_file("flight-20261123T044312.345Z-usr1.offwait.part", ".part"));
  CHECK(!is_flight_file("flight-20261123T044312.345Z-.offwait"));
  CHECK(!is_flight_file("flight-20261123T044312.345Z.offwait"));
  CHECK(!is_flight_file("flight-notes.offwait"));
  CHECK(!is_flight_file("my-flight-20261123T044312.345Z-usr1.offwait"));
  CHECK(!is_flight_file("flight-20261123T044312.345Z-a/b.offwait"));
}

TEST_CASE("the oldest flights make room for new ones, and nothing else does") {
  const Directory directory;
  directory.add("flight-20000101T000000.000Z-usr1.offwait");
  directory.add("flight-20000101T000001.000Z-wait.offwait");
  directory.add("flight-20991231T000000.000Z-end.offwait");  // the clock has been set back
  directory.add("flight-mine.offwait");
  directory.add("day.offwait");
  const FlightFiles files = open_files(directory, 2);
  const std::string name = written(files, "wait:futex");
  CHECK(is_flight_file(name));
  CHECK(name.ends_with("-waitfutex.offwait"));
  CHECK(directory.names() ==
        Names{"day.offwait", "flight-20991231T000000.000Z-end.offwait", "flight-mine.offwait", name});
}

TEST_CASE("a single file that is kept is the newest") {
  const Directory directory;
  const FlightFiles files = open_files(directory, 1);
  written(files, "wait");
  const std::string last = written(files, "end");
  CHECK(directory.names() == Names{last});
}

TEST_CASE("a part of a file has another name, and is removed when the next recorder comes") {
  const Directory directory;
  {
    const FlightFiles files = open_files(directory, 3);
    const Result<FlightFiles::Part> part = files.begin("wait");
    REQUIRE(part.ok());
    CHECK(directory.names() == Names{part->name + ".part"});
    const Result<FlightFiles::Part> failed = files.begin("end");
    REQUIRE(failed.ok());
    files.discard(*failed);
    CHECK(directory.names() == Names{part->name + ".part"});
  }
  open_files(directory, 3);
  CHECK(directory.names().empty());
}

TEST_CASE("a directory is that of one recorder, and is made for its owner if it is missing") {
  const Directory directory;
  const FlightFiles files = open_files(directory, 3);
  const Result<FlightFiles> second = FlightFiles::open(directory.path(), 3);
  REQUIRE(!second.ok());
  CHECK(second.error().message ==
        "another flight recorder writes into " + directory.path() + ": give each a directory of its own");
  const std::string made = directory.path() + "/made";
  CHECK(FlightFiles::open(made, 3).ok());
  CHECK(std::filesystem::status(made).permissions() == std::filesystem::perms::owner_all);
  CHECK(FlightFiles::open(made, 3).ok());
  const Result<FlightFiles> missing = FlightFiles::open(directory.path() + "/missing/deep", 3);
  REQUIRE(!missing.ok());
  CHECK(missing.error().message ==
        "cannot make " + directory.path() + "/missing/deep: No such file or directory");
}

}  // namespace
}  // namespace offwait
