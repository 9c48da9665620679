// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/debug_files.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "process/process_root.h"
#include "sandbox/confined_batch.h"
#include "sandbox/message.h"
#include "symbol/debug_links.h"
#include "symbol/elf_file.h"

namespace offwait {
namespace {

const char* const kDebugDirectory = "/usr/lib/debug";

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text.push_back(kDigits[static_cast<unsigned char>(byte) >> 4U]);
    text.push_back(kDigits[static_cast<unsigned char>(byte) & 15U]);
  }
  return text;
}

/// The checksum of the whole file; 0 for a file that would take more than about a second.
std::uint32_t checksum(int fd) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30U;
  if (file_size(fd) > kLargest) return 0;
  std::vector<Bytef> piece(std::size_t{1} << 16U);
  uLong sum = crc32(0, nullptr, 0);
  off_t at = 0;
  for (ssize_t got = 0; (got = pread(fd, piece.data(), piece.size(), at)) > 0; at += got) {
    sum = crc32(sum, piece.data(), static_cast<uInt>(got));
  }
  return static_cast<std::uint32_t>(sum);
}

struct LinkQuestion {
  int fd;
  bool with_checksum;
};
struct LinkAnswer {
  enum class What : std::uint8_t { elf, not_elf, lost };
  What what = What::not_elf;  ///< lost: reading the file crashed or took too long, or it was not tried
  DebugLinks links;
  std::uint32_t checksum = 0;

  bool is_elf() const { return what == What::elf; }
};

/// The answers of the files, one each.
std::vector<LinkAnswer> read_links(const std::vector<LinkQuestion>& questions) {
  ConfinedBatch batch;
  batch.items = questions.size();
  for (const LinkQuestion& question : questions) batch.confinement.descriptors.push_back(question.fd);
  batch.answer = [&questions](std::size_t index) {
    MessageWriter message;
    if (const auto links = read_debug_links(questions[index].fd); links.ok()) {
      message.text(links->build_id);
      message.number(links->has_lines ? 1 : 0);
      message.text(links->debuglink);
      message.number(links->debuglink_crc);
      message.text(links->supplement);
      message.text(links->supplement_build_id);
      message.number(questions[index].with_checksum ? checksum(questions[index].fd) : 0);
    }
    return std::move(message).take();
  };
  std::vector<LinkAnswer> result;
  if (questions.empty()) return result;
  for (const auto& answer : answer_confined(batch).answers) {
    LinkAnswer& read = result.emplace_back();
    if (!answer) read.what = LinkAnswer::What::lost;
    if (!answer || answer->empty()) continue;
    MessageReader reader(*answer);
    read.links.build_id = reader.text();
    read.links.has_lines = reader.number() != 0;
    read.links.debuglink = reader.text();
    read.links.debuglink_crc = static_cast<std::uint32_t>(reader.number());
    read.links.supplement = reader.text();
    read.links.supplement_build_id = reader.text();
    read.checksum = static_cast<std::uint32_t>(reader.number());
    read.what = reader.failed() ? LinkAnswer::What::lost : LinkAnswer::What::elf;
  }
  return result;
}

/// A file that may be what the file number `owner` looks for.
struct Candidate {
  std::size_t owner;
  int root;
  OpenedFile file;
};

std::string build_id_path(const std::string& build_id) {
  const std::string digits = hexadecimal(build_id);
  if (digits.size() < 3) return {};
  return fmt::format("{}/.build-id/{}/{}.debug", kDebugDirectory, digits.substr(0, 2), digits.substr(2));
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::vector<std::string> candidate_paths(const DebugLinks& links, const std::string& path) {
  std::vector<std::string> paths;
  if (std::string by_id = build_id_path(links.build_id); !by_id.empty()) paths.push_back(std::move(by_id));
  if (!links.debuglink.empty() && path.starts_with('/')) {
    const std::string directory = directory_of(path);
    for (const std::string& where : {directory, directory + ".debug/", kDebugDirectory + directory}) {
      paths.push_back(where + links.debuglink);
    }
  }
  return paths;
}

/// Adds those of the paths that are files below a root of the file number `owner`.
void add_candidates(std::size_t owner, const StrippedFile& file, const std::vector<std::string>& paths,
                    std::vector<Candidate>& out) {
  for (const std::string& path : paths) {
    for (const int root : file.roots) {
      if (auto opened = path.empty() ? std::nullopt : open_regular_below(root, path, Symlinks::follow))
        out.push_back({owner, root, *std::move(opened)});
    }
  }
}

/// Passes on the candidates for which `is_right(owner, links of the candidate)` holds.
template <class Needs, class Accept, class Take>
void choose(std::vector<Candidate>& candidates, Needs needs_checksum, Accept is_right, Take take) {
  std::vector<LinkQuestion> questions;
  for (const Candidate& candidate : candidates)
    questions.push_back({candidate.file.fd.get(), needs_checksum(candidate.owner)});
  const std::vector<LinkAnswer> links = read_links(questions);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (links[i].is_elf() && is_right(candidates[i].owner, links[i])) take(candidates[i], links[i]);
  }
}

}  // namespace

std::vector<DebugFiles> find_debug_files(const std::vector<StrippedFile>& files, const DebugServer& server) {
  std::vector<DebugFiles> result(files.size());
  std::vector<LinkQuestion> questions;
  for (const StrippedFile& file : files) questions.push_back({file.fd, false});
  const std::vector<LinkAnswer> own = read_links(questions);

  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < files.size(); ++i) {
    result[i].lost = own[i].what == LinkAnswer::What::lost;
    if (!own[i].is_elf()) continue;
    result[i].in_file = own[i].links.has_lines;
    if (result[i].in_file) continue;
    add_candidates(i, files[i], candidate_paths(own[i].links, files[i].path), candidates);
  }

  struct Chosen {
    int root;
    std::string path;
    DebugLinks links;
  };
  std::vector<std::optional<Chosen>> chosen(files.size());
  const auto is_debug_file = [&](std::size_t owner, const LinkAnswer& found) {
    const DebugLinks& wanted = own[owner].links;
    return wanted.build_id.empty() ? found.links.build_id.empty() && found.checksum == wanted.debuglink_crc
                                   : found.links.build_id == wanted.build_id;
  };
  const auto take_debug = [&](Candidate& candidate, const LinkAnswer& found) {
    if (result[candidate.owner].debug) return;
    chosen[candidate.owner] = Chosen{candidate.root, candidate.file.path, found.links};
    result[candidate.owner].debug = std::move(candidate.file);
  };
  choose(
      candidates, [&own](std::size_t owner) { return own[owner].links.build_id.empty(); }, is_debug_file,
      take_debug);

  const auto no_checksum = [](std::size_t) { return false; };
  if (server) {
    candidates.clear();
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!own[i].is_elf() || result[i].in_file || result[i].debug || own[i].links.build_id.empty()) continue;
      if (auto opened = open_regular_file(server(hexadecimal(own[i].links.build_id)))) {
        candidates.push_back({i, files[i].roots.empty() ? -1 : files[i].roots.back(), *std::move(opened)});
      }
    }
    choose(candidates, no_checksum, is_debug_file, take_debug);
  }

  candidates.clear();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const DebugLinks* const links = chosen[i]           ? &chosen[i]->links
                                    : result[i].in_file ? &own[i].links
                                                        : nullptr;
    if (links == nullptr || links->supplement.empty()) continue;
    const std::string& named = links->supplement;
    const std::string beside = directory_of(chosen[i] ? chosen[i]->path : files[i].path);
    add_candidates(
        i, files[i],
        {named.starts_with('/') ? named : beside + named, build_id_path(links->supplement_build_id)},
        candidates);
  }
  choose(
      candidates, no_checksum,
      [&](std::size_t owner, const LinkAnswer& found) {
        const DebugLinks& links = chosen[owner] ? chosen[owner]->links : own[owner].links;
        return !found.links.build_id.empty() && found.links.build_id == links.supplement_build_id;
      },
      [&](Candidate& candidate, const LinkAnswer&) {
        if (!result[candidate.owner].supplement)
          result[candidate.owner].supplement = std::move(candidate.file);
      });
  return result;
}

std::vector<std::string> build_ids(const std::vector<int>& files) {
  std::vector<LinkQuestion> questions;
  for (const int file : files) questions.push_back({file, false});
  std::vector<std::string> ids;
  for (const LinkAnswer& answer : read_links(questions)) ids.push_back(hexadecimal(answer.links.build_id));
  return ids;
}

}  // namespace offwait
