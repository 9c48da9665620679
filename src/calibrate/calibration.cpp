// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/calibration.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "model/trace.h"

namespace offwait {
namespace {

/// The type for reading: an ordered_json looks through all its keys for each key it adds, and kMostBytes have
/// room for a million keys.
using Json = nlohmann::json;
using Written = nlohmann::ordered_json;

constexpr const char* kSchema = "offwait-disks/1";
constexpr const char* kFile = "disks.json";
constexpr const char* kNewFile = "disks.json.new";
constexpr std::size_t kMostBytes = std::size_t{8} << 20;
constexpr std::size_t kMostDisks = 4096;

bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

Written json_of(const Throughput& throughput) {
  return {{"bytes_per_s", throughput.bytes_per_s}, {"ios_per_s", throughput.ios_per_s}};
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double rate_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::optional<Throughput> throughput_of(const Json& disk, const char* key) {
  const auto found = disk.find(key);
  if (found == disk.end() || !found->is_object()) return std::nullopt;
  const Throughput throughput{rate_of(*found, "bytes_per_s"), rate_of(*found, "ios_per_s")};
  for (const double rate : {throughput.bytes_per_s, throughput.ios_per_s}) {
    if (!std::isfinite(rate) || rate <= 0) return std::nullopt;
  }
  return throughput;
}

std::optional<Calibration> calibration_of(const Json& disk) {
  if (!disk.is_object()) return std::nullopt;
  Calibration calibration{
      text_of(disk, "identity"), text_of(disk, "disk"), text_of(disk, "measured_on"), {}, {}};
  if (calibration.identity.empty() || !is_printable(calibration.identity) ||
      !is_printable(calibration.disk) || !is_day(calibration.measured_on)) {
    return std::nullopt;
  }
  const std::optional<Throughput> read = throughput_of(disk, "read");
  if (!read) return std::nullopt;
  calibration.read = *read;
  if (disk.contains("write")) {
    calibration.write = throughput_of(disk, "write");
    if (!calibration.write) return std::nullopt;
  }
  return calibration;
}

std::string path_of(const std::string& directory, const char* name) { return directory + "/" + name; }

Error failed(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

Result<std::string> read_all(int fd) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{std::strerror(errno)};
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) return Error{"longer than it can be"};
  }
}

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Error{std::strerror(errno)};
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return success();
}

Status make_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) return failed("cannot create " + directory);
  return success();
}

}  // namespace

Throughput Calibration::most() const {
  if (!write) return read;
  return {std::max(read.bytes_per_s, write->bytes_per_s), std::max(read.ios_per_s, write->ios_per_s)};
}

std::string to_json(const std::vector<Calibration>& calibrations) {
  Written disks = Written::array();
  for (const Calibration& calibration : calibrations) {
    Written disk = {{"identity", calibration.identity},
                    {"disk", calibration.disk},
                    {"measured_on", calibration.measured_on},
                    {"read", json_of(calibration.read)}};
    if (calibration.write) disk["write"] = json_of(*calibration.write);
    disks.push_back(std::move(disk));
  }
  return Written{{"schema", kSchema}, {"disks", std::move(disks)}}.dump(2) + "\n";
}

Result<std::vector<Calibration>> parse_calibrations(std::string_view json) {
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object() || text_of(root, "schema") != kSchema) {
    return Error{
        fmt::format("not written by this version of offwait (expected \"schema\": \"{}\")", kSchema)};
  }
  const auto disks = root.find("disks");
  if (disks == root.end() || !disks->is_array() || disks->size() > kMostDisks) {
    return Error{"has no list of disks"};
  }
  std::vector<Calibration> calibrations;
  std::set<std::string> identities;
  for (const Json& disk : *disks) {
    std::optional<Calibration> calibration = calibration_of(disk);
    if (!calibration) return Error{fmt::format("disk {} is not complete", calibrations.size() + 1)};
    if (!identities.insert(calibration->identity).second) {
      return Error{fmt::format("has disk '{}' twice", calibration->identity)};
    }
    calibrations.push_back(std::move(*calibration));
  }
  return calibrations;
}

Result<std::vector<Calibration>> stored_calibrations(const std::string& directory) {
  const std::string path = path_of(directory, kFile);
  const auto unusable = [&path](const std::string& why) {
    return Error{fmt::format("cannot use the measured capacities in {}: {}; 'offwait calibrate' replaces it",
                             path, why)};
  };
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return std::vector<Calibration>{};
    return unusable(std::strerror(errno));
  }
  const Result<std::string> text = read_all(file.get());
  if (!text) return unusable(text.error().message);
  Result<std::vector<Calibration>> calibrations = parse_calibrations(*text);
  if (!calibrations) return unusable(calibrations.error().message);
  return calibrations;
}

Status prepare_store(const std::string& directory) {
  if (Status made = make_directory(directory); !made) return made;
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return failed("cannot write to " + directory);
  return success();
}

Status store_calibration(const Calibration& calibration, const std::string& directory) {
  if (Status made = make_directory(directory); !made) return made;
  const UniqueFd locked(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!locked || ::flock(locked.get(), LOCK_EX) != 0) return failed("cannot open " + directory);

  std::vector<Calibration> all;
  if (Result<std::vector<Calibration>> stored = stored_calibrations(directory); stored) {
    all = std::move(stored).value();
  }
  std::erase_if(all, [&](const Calibration& other) { return other.identity == calibration.identity; });
  // The oldest entry makes room.
  if (all.size() >= kMostDisks) all.erase(all.begin());
  all.push_back(calibration);

  const std::string path = path_of(directory, kNewFile);
  ::unlink(path.c_str());
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return failed("cannot write " + path);
  Status written = write_all(file.get(), to_json(all));
  if (written && ::fsync(file.get()) != 0) written = Error{std::strerror(errno)};
  if (written && ::rename(path.c_str(), path_of(directory, kFile).c_str()) != 0) {
    written = Error{std::strerror(errno)};
  }
  if (!written) {
    ::unlink(path.c_str());
    return Error{fmt::format("cannot write {}: {}", path, written.error().message)};
  }
  ::fsync(locked.get());
  return success();
}

}  // namespace offwait
