// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/mapped_files.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/far_files.h"
#include "process/threads.h"

namespace offwait {
namespace {

constexpr std::size_t kLargestVdso = std::size_t{1} << 20U;

std::string proc_path(std::int32_t tgid, std::string_view name) {
  return "/proc/" + std::to_string(tgid) + "/" + std::string(name);
}

struct Candidate {
  OpenedFile file;
  struct stat status {};
};

FileIdentity identity_of(const struct stat& status) {
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino), status.st_size,
          status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
}

/// As mountinfo has it.
std::uint32_t kernel_device(const Mapping& mapping) {
  constexpr unsigned kMinorBits = 20;
  return mapping.dev_major << kMinorBits | mapping.dev_minor;
}

/// As open_candidate(), of a file that only another process asks for.
std::optional<Candidate> copy_candidate(std::string path, std::uint32_t device) {
  std::optional<FarFile> far = copy_far_file(path, device);
  if (!far) return std::nullopt;
  Candidate out;
  out.status = far->status;
  out.file = {std::move(far->copy), std::move(path), identity_of(far->status), far->status.st_uid, true};
  return out;
}

std::optional<Candidate> open_candidate(std::string path) {
  Candidate opened;
  const UniqueFd handle(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!handle || fstat(handle.get(), &opened.status) != 0 || !S_ISREG(opened.status.st_mode)) {
    return std::nullopt;
  }
  opened.file.fd = UniqueFd(
      open(("/proc/self/fd/" + std::to_string(handle.get())).c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  if (!opened.file.fd) {
    return std::nullopt;
  }
  const struct stat& status = opened.status;
  opened.file.path = std::move(path);
  opened.file.identity = identity_of(status);
  opened.file.uid = status.st_uid;
  return opened;
}

/// Whether a file found by name is the one that is mapped. In the target's own root the inode number decides:
/// maps has the device number of the filesystem, which on btrfs and overlayfs is not st_dev. In our root the
/// device must match, too, because another filesystem may have the same inode number under the same name.
bool is_mapped_file(const struct stat& status, const Mapping& mapping, bool in_its_root) {
  const bool same_device = status.st_dev == makedev(mapping.dev_major, mapping.dev_minor);
  return mapping.inode != 0 && status.st_ino == mapping.inode && (in_its_root || same_device);
}

/// Reads the text in pieces, because 65,530 lines may hold a path of 4 KiB each.
std::optional<LookedAtMappings> read_maps(std::int32_t process) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  const UniqueFd fd(open(proc_path(process, "maps").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return std::nullopt;
  }
  LookedAtMappings found;
  const auto take = [&](std::string_view text) {
    for (Mapping& mapping : parse_maps(text).mappings) {
      if (mapping.shared) {
        found.shared.push_back(mapping);
      }
      if (mapping.executable) {
        found.executable.push_back(std::move(mapping));
      }
    }
  };
  std::string text;
  for (;;) {
    const std::size_t kept = text.size();
    text.resize(kept + kPiece);
    ssize_t got = 0;
    do {
      got = read(fd.get(), text.data() + kept, kPiece);
    } while (got < 0 && errno == EINTR);
    text.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) {
      return std::nullopt;  // exited meanwhile
    }
    if (got == 0) {
      take(text);
      return found;
    }
    if (const std::size_t last = text.rfind('\n'); last != std::string::npos) {
      take(std::string_view(text).substr(0, last + 1));
      text.erase(0, last + 1);
    }
  }
}

}  // namespace

std::optional<LookedAtMappings> look_at_mappings(std::int32_t tgid) {
  std::optional<LookedAtMappings> found = read_maps(tgid);
  if (!found || !found->executable.empty()) return found;
  const std::int32_t thread = thread_with_memory(tgid);
  return thread == tgid ? found : read_maps(thread);
}

std::optional<std::vector<Mapping>> executable_mappings(std::int32_t tgid) {
  std::optional<LookedAtMappings> found = look_at_mappings(tgid);
  return found ? std::optional(std::move(found->executable)) : std::nullopt;
}

std::optional<OpenedFile> open_mapped_file(std::int32_t tgid, const Mapping& mapping) {
  std::array<char, 64> range{};
  (void)std::snprintf(range.data(), range.size(), "map_files/%llx-%llx",
                      static_cast<unsigned long long>(mapping.begin),
                      static_cast<unsigned long long>(mapping.end));
  const std::int32_t process = thread_with_memory(tgid);
  const std::uint32_t device = kernel_device(mapping);
  const bool far = is_far(process, device);
  const auto open_it = [&](std::string path) {
    return far ? copy_candidate(std::move(path), device) : open_candidate(std::move(path));
  };
  if (auto mapped = open_it(proc_path(process, range.data()))) {
    return std::move(mapped->file);
  }
  for (const bool in_its_root : {true, false}) {
    for (const std::string& path : candidate_paths(mapping.path)) {
      auto named = open_it(in_its_root ? proc_path(process, "root") + path : path);
      if (named && is_mapped_file(named->status, mapping, in_its_root)) {
        return std::move(named->file);
      }
    }
  }
  return std::nullopt;
}

std::optional<OpenedFile> open_regular_file(const std::string& path) {
  auto opened = open_candidate(path);
  return opened ? std::optional(std::move(opened->file)) : std::nullopt;
}

std::optional<std::string> vdso_image(std::int32_t tgid, const Mapping& mapping) {
  const std::uint64_t size = mapping.end - mapping.begin;
  if (size > kLargestVdso) {
    return std::nullopt;
  }
  const UniqueFd memory(open(proc_path(thread_with_memory(tgid), "mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::string image(size, '\0');
  if (!memory || pread(memory.get(), image.data(), image.size(), static_cast<off_t>(mapping.begin)) !=
                     static_cast<ssize_t>(image.size())) {
    return std::nullopt;
  }
  return image;
}

}  // namespace offwait
