// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the places in a process's files to probe: functions by name, and places that a program marks with
// USDT notes of the provider `offwait` (include/offwait/annotate.h). The files are not trusted and are read
// in confined processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "symbol/probe_reader.h"

namespace offwait {

/// A file that a process has mapped executable. No file is listed twice.
struct ProbedFile {
  std::string path;  ///< opens that very file, from any mount namespace and after its deletion
  UniqueFd fd;
  std::string mapped_as{};  ///< its path as the process has it; hostile bytes
};

struct ProbePlace {
  std::string path;
  std::uint64_t offset = 0;  ///< in the file, inside an executable segment
};

/// A place marked `offwait:NAME`. Its only argument, if it has one, is in the register of a function's first
/// argument.
struct DeclaredPlace {
  std::string name;
  ProbePlace place;
};

/// The files of these processes that can be opened; at most kMostProbedFiles, since each is kept open.
std::vector<ProbedFile> files_to_probe(const std::vector<std::int32_t>& tgids);
inline constexpr std::size_t kMostProbedFiles = 500;

/// The file at a path that the user gave; none if it cannot be opened. access(2) asks with the user's own
/// rights, and not with the capabilities of the executable (setcap), which would read any file for anybody.
std::vector<ProbedFile> file_to_probe(const std::string& path);

/// The functions whose symbol is `name`, either as in the symbol table or demangled and without parameters
/// (`tas::SpinLock::lock`). A place has one entry even if it has several names. At most kMostProbePlaces.
std::vector<ProbePlace> places_of_function(const std::vector<ProbedFile>& files, const std::string& name);

/// Functions that the user may have meant by `name`: their names have its last part in them, in upper or
/// lower case. The shortest ones, at most `most`.
std::vector<std::string> functions_like(const std::vector<ProbedFile>& files, const std::string& name,
                                        std::size_t most);

/// The marked places in these files; at most kMostProbePlaces.
std::vector<DeclaredPlace> declared_places(const std::vector<ProbedFile>& files);

}  // namespace offwait
