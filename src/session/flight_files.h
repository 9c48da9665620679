// SPDX-License-Identifier: GPL-2.0-or-later
// The directory into which a flight recorder writes its files.
#pragma once

#include <cstddef>
#include <string>

#include "base/nanos.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// Files of a flight recorder are called `flight-20261123T044312.345Z-REASON.offwait`, so that their names
/// are in the order of time. While one is written, `.part` is appended to its name.
class FlightFiles {
 public:
  /// Opens the directory, which it makes if there is none (mode 0700; the one above it has to exist), and
  /// locks it against other flight recorders while this exists. Removes the parts of files that earlier ones
  /// left behind. Fails if it is locked, or if no file can be made in it. At most `keep` files stay in it.
  static Result<FlightFiles> open(const std::string& directory, std::size_t keep);

  /// A file that is being written.
  struct Part {
    UniqueFd file;
    std::string name;  ///< that it will have
    std::string path;  ///< the same, with the directory
  };
  /// `reason` becomes part of the name; of it only letters and digits.
  Result<Part> begin(const std::string& reason) const;
  /// Gives the file its name when it is written, and then removes the oldest files, so that `keep` are left.
  /// Files of other names or users stay, and so does this one.
  Status finish(const Part& part) const;
  /// Removes the file because it could not be written.
  void discard(const Part& part) const;

 private:
  UniqueFd directory_;
  std::string path_;
  std::size_t keep_ = 1;
};

/// Whether this is the name of a file that a flight recorder has written (`suffix` is empty) or was writing.
bool is_flight_file(const std::string& name, const std::string& suffix = "");

}  // namespace offwait
