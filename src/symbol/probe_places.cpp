// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/probe_places.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "process/mapped_files.h"
#include "sandbox/confined_batch.h"
#include "sandbox/message.h"
#include "symbol/demangle.h"

namespace offwait {
namespace {

struct FoundPlace {
  std::string name;
  ProbePlace place;
};

/// The places that `read` finds in the files, read in confined processes.
std::vector<FoundPlace> read_confined(const std::vector<ProbedFile>& files,
                                      const std::function<std::vector<MarkedPlace>(int fd)>& read) {
  std::vector<FoundPlace> found;
  ConfinedBatch batch;
  batch.items = files.size();
  for (const ProbedFile& file : files) batch.confinement.descriptors.push_back(file.fd.get());
  batch.answer = [&](std::size_t index) {
    MessageWriter message;
    for (const MarkedPlace& place : read(files[index].fd.get())) {
      message.text(place.name);
      message.number(place.offset);
    }
    return std::move(message).take();
  };
  const ConfinedAnswers answers = answer_confined(batch);
  for (std::size_t i = 0; i < files.size(); ++i) {
    MessageReader reader(answers.answers[i] ? std::string_view(*answers.answers[i]) : std::string_view());
    while (!reader.at_end() && found.size() < kMostCandidates) {
      std::string name(reader.text());
      const std::uint64_t offset = reader.number();
      if (!reader.failed()) found.push_back({std::move(name), {files[i].path, offset}});
    }
  }
  return found;
}

}  // namespace

std::vector<ProbedFile> files_to_probe(const std::vector<std::int32_t>& tgids) {
  std::vector<ProbedFile> files;
  std::set<FileIdentity> seen;
  for (const std::int32_t tgid : tgids) {
    for (const Mapping& mapping : executable_mappings(tgid).value_or(std::vector<Mapping>())) {
      if (!is_file(mapping) || files.size() == kMostProbedFiles) continue;
      std::optional<OpenedFile> file = open_mapped_file(tgid, mapping);
      if (file && seen.insert(file->identity).second)
        files.push_back({std::move(file->path), std::move(file->fd), mapping.path});
    }
  }
  return files;
}

std::vector<ProbedFile> file_to_probe(const std::string& path) {
  std::vector<ProbedFile> files;
  if (::access(path.c_str(), R_OK) != 0) return files;
  UniqueFd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened) files.push_back({path, std::move(opened), path});
  return files;
}

std::vector<ProbePlace> places_of_function(const std::vector<ProbedFile>& files, const std::string& name) {
  const std::vector<FoundPlace> candidates =
      read_confined(files, [&name](int fd) { return candidates_in(fd, name); });
  std::vector<std::string> symbols;
  for (const FoundPlace& candidate : candidates) symbols.push_back(candidate.name);
  const std::vector<std::string> names = demangle(symbols).names;
  std::set<std::pair<std::string, std::uint64_t>> places;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool named = symbols[i] == name || names[i] == name ||
                       (names[i].starts_with(name) && names[i][name.size()] == '(');
    const ProbePlace& place = candidates[i].place;
    if (named && places.size() < kMostProbePlaces) places.emplace(place.path, place.offset);
  }
  std::vector<ProbePlace> result;
  for (const auto& [path, offset] : places) result.push_back({path, offset});
  return result;
}

std::vector<std::string> functions_like(const std::vector<ProbedFile>& files, const std::string& name,
                                        std::size_t most) {
  std::vector<std::string> symbols;
  for (FoundPlace& found : read_confined(files, [&name](int fd) { return similar_in(fd, name); }))
    symbols.push_back(std::move(found.name));
  std::vector<std::string> names = demangle(symbols).names;
  const auto order = [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  };
  std::sort(names.begin(), names.end(), order);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  names.resize(std::min(names.size(), most));
  return names;
}

std::vector<DeclaredPlace> declared_places(const std::vector<ProbedFile>& files) {
  std::vector<DeclaredPlace> places;
  for (FoundPlace& found : read_confined(files, marks_in)) {
    if (places.size() < kMostProbePlaces) places.push_back({std::move(found.name), std::move(found.place)});
  }
  return places;
}

}  // namespace offwait
