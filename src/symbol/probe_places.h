// SPDX-License-Identifier: GPL-2.0-or-later
// Where in a process's files to probe: functions by name, and the places that it marked itself with USDT
// notes of the provider `offwait` (include/offwait/annotate.h). The files are not trusted, and read in
// confined processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "symbol/probe_reader.h"

namespace offwait {

/// A file that a process has mapped executable; none twice.
struct ProbedFile {
  std::string path;  ///< opens that very file, from any mount namespace and after it was deleted
  UniqueFd fd;
};

struct ProbePlace {
  std::string path;
  std::uint64_t offset = 0;  ///< in the file, inside an executable segment
};

/// A place marked `offwait:NAME` whose only argument, if it has one, is where a function's first one would
/// be.
struct DeclaredPlace {
  std::string name;
  ProbePlace place;
};

/// Those that can be opened; kMostProbedFiles at most, since each is kept open.
std::vector<ProbedFile> files_to_probe(const std::vector<std::int32_t>& tgids);
inline constexpr std::size_t kMostProbedFiles = 500;

/// A file that a process is going to execute; none if it cannot be opened.
std::vector<ProbedFile> file_to_probe(const std::string& path);

/// Functions whose symbol is `name`, as in the symbol table or demangled without its parameters
/// (`tas::SpinLock::lock`). A place has one entry, whatever its aliases. kMostProbePlaces at most.
std::vector<ProbePlace> places_of_function(const std::vector<ProbedFile>& files, const std::string& name);

/// kMostProbePlaces at most.
std::vector<DeclaredPlace> declared_places(const std::vector<ProbedFile>& files);

}  // namespace offwait
