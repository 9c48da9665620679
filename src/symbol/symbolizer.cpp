// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/symbolizer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "symbol/elf_symbols.h"

namespace offwait {
namespace {

constexpr std::string_view kVdso = "[vdso]";
constexpr std::string_view kVsyscall = "[vsyscall]";
constexpr std::size_t kLargestVdso = std::size_t{1} << 20U;
constexpr std::size_t kMostVdsos = 16;
/// UniqueFds held for files nobody has asked about yet; far below the usual limit of 1024.
constexpr std::size_t kMostUnparsed = 384;
/// Of one process. The kernel allows 65,530 at a time; a process that moves them about does not grow further.
constexpr std::size_t kMostRegions = 131072;

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  const int size = std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string place(std::string_view where, std::uint64_t offset) {
  return "[" + std::string(where) + "+" + hex(offset) + "]";
}

std::string named(std::string_view name, std::uint64_t offset, std::string_view module) {
  return std::string(name) + "+" + hex(offset) + " (" + std::string(module) + ")";
}

std::string proc_path(std::int32_t tgid, std::string_view name) {
  return "/proc/" + std::to_string(tgid) + "/" + std::string(name);
}

ssize_t read_retrying(int fd, char* buffer, std::size_t size) {
  ssize_t got = 0;
  do {
    got = read(fd, buffer, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

/// The executable mappings of a process, a piece of the text at a time: 65,530 lines may hold 4 KiB of path
/// each.
std::optional<std::vector<Mapping>> read_executable_mappings(std::int32_t tgid) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  const UniqueFd fd(open(proc_path(tgid, "maps").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return std::nullopt;
  }
  std::vector<Mapping> executable;
  const auto take = [&](std::string_view text) {
    for (Mapping& mapping : parse_maps(text).mappings) {
      if (mapping.executable) {
        executable.push_back(std::move(mapping));
      }
    }
  };
  std::string text;
  for (;;) {
    const std::size_t kept = text.size();
    text.resize(kept + kPiece);
    const ssize_t got = read_retrying(fd.get(), text.data() + kept, kPiece);
    text.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) {
      return std::nullopt;  // exited meanwhile
    }
    if (got == 0) {
      take(text);
      return executable;
    }
    if (const std::size_t last = text.rfind('\n'); last != std::string::npos) {
      take(std::string_view(text).substr(0, last + 1));
      text.erase(0, last + 1);
    }
  }
}

/// Never opens a device or a pipe: that may have effects, or wait. The name is looked up once.
UniqueFd open_regular(const std::string& path, struct stat& status) {
  const UniqueFd handle(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!handle || fstat(handle.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  return UniqueFd(
      open(("/proc/self/fd/" + std::to_string(handle.get())).c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
}

/// Is a file found by name the one that is mapped? In the target's own root the inode number tells: maps has
/// the device number of the filesystem, which on btrfs and overlayfs is not st_dev. In ours, another
/// filesystem may have the same number under the same name.
bool is_mapped_file(const struct stat& status, const Mapping& mapping, bool in_its_root) {
  const bool same_device = status.st_dev == makedev(mapping.dev_major, mapping.dev_minor);
  return mapping.inode != 0 && status.st_ino == mapping.inode && (in_its_root || same_device);
}

}  // namespace

/// A file (or the vdso), parsed when the first address in it is asked for.
class Symbolizer::Module {
 public:
  explicit Module(UniqueFd file) : file_(std::move(file)) {}
  explicit Module(std::string image) : image_(std::move(image)) {}

  const ElfSymbols& symbols() {
    if (!parsed_) {
      parsed_ = true;
      auto symbols = file_ ? ElfSymbols::read(file_.get()) : ElfSymbols::read(image_);
      if (symbols.ok()) {
        symbols_ = std::move(symbols).value();
      }
      file_ = UniqueFd();
    }
    return symbols_;
  }
  const std::string& image() const { return image_; }

 private:
  UniqueFd file_;
  std::string image_;
  bool parsed_ = false;
  ElfSymbols symbols_;
};

Symbolizer::Symbolizer() = default;
Symbolizer::~Symbolizer() = default;

bool Symbolizer::snapshot(std::int32_t tgid) {
  auto mappings = read_executable_mappings(tgid);
  if (!mappings) {
    return false;
  }
  Regions& regions = processes_[tgid];
  if (regions.size() > kMostRegions) {
    regions.clear();
  }
  for (Mapping& mapping : *mappings) {
    note(tgid, regions, std::move(mapping));
  }
  return true;
}

void Symbolizer::note(std::int32_t tgid, Regions& regions, Mapping mapping) {
  const auto same = regions.find(mapping.begin);
  if (same != regions.end() && same->second.end == mapping.end && same->second.mapping == mapping) {
    return;
  }
  // Cut the new range out of what older snapshots say.
  auto at = regions.upper_bound(mapping.begin);
  if (at != regions.begin()) {
    --at;
  }
  while (at != regions.end() && at->first < mapping.end) {
    Region& old = at->second;
    if (old.end <= mapping.begin) {
      ++at;
      continue;
    }
    if (old.end > mapping.end) {
      regions.emplace(mapping.end, old);
    }
    if (at->first < mapping.begin) {
      old.end = mapping.begin;
      ++at;
    } else {
      at = regions.erase(at);
    }
  }
  Region region;
  region.end = mapping.end;
  if (is_file(mapping)) {
    region.module = open_file(tgid, mapping);
  } else if (mapping.path == kVdso) {
    region.module = copy_vdso(tgid, mapping);
  }
  region.mapping = std::move(mapping);
  const std::uint64_t begin = region.mapping.begin;
  regions.emplace(begin, std::move(region));
}

std::shared_ptr<Symbolizer::Module> Symbolizer::open_file(std::int32_t tgid, const Mapping& mapping) {
  struct stat status {};
  // The mapped file itself, whatever has become of its name and in whichever mount namespace it has one.
  std::array<char, 64> range{};
  (void)std::snprintf(range.data(), range.size(), "map_files/%llx-%llx",
                      static_cast<unsigned long long>(mapping.begin),
                      static_cast<unsigned long long>(mapping.end));
  UniqueFd file = open_regular(proc_path(tgid, range.data()), status);
  for (const bool in_its_root : {true, false}) {
    for (const std::string& path : candidate_paths(mapping.path)) {
      if (!file) {
        file = open_regular(in_its_root ? proc_path(tgid, "root") + path : path, status);
        if (file && !is_mapped_file(status, mapping, in_its_root)) {
          file = UniqueFd();
        }
      }
    }
  }
  if (!file) {
    return nullptr;
  }
  // Some filesystems reuse an inode number at once; the time of change cannot be set by hand.
  const FileIdentity identity{static_cast<std::int64_t>(status.st_dev),
                              static_cast<std::int64_t>(status.st_ino), status.st_size, status.st_ctim.tv_sec,
                              status.st_ctim.tv_nsec};
  std::shared_ptr<Module>& module = files_[identity];
  if (module == nullptr) {
    module = std::make_shared<Module>(std::move(file));
    unparsed_.push_back(module);
    if (unparsed_.size() > kMostUnparsed) {
      unparsed_.front()->symbols();
      unparsed_.pop_front();
    }
  }
  return module;
}

std::shared_ptr<Symbolizer::Module> Symbolizer::copy_vdso(std::int32_t tgid, const Mapping& mapping) {
  const std::uint64_t size = mapping.end - mapping.begin;
  if (size > kLargestVdso) {
    return nullptr;
  }
  const UniqueFd memory(open(proc_path(tgid, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::string image(size, '\0');
  if (!memory || pread(memory.get(), image.data(), image.size(), static_cast<off_t>(mapping.begin)) !=
                     static_cast<ssize_t>(image.size())) {
    return nullptr;
  }
  for (const std::shared_ptr<Module>& known : vdsos_) {
    if (known->image() == image) {
      return known;
    }
  }
  auto module = std::make_shared<Module>(std::move(image));
  if (vdsos_.size() < kMostVdsos) {
    vdsos_.push_back(module);
  }
  return module;
}

const Symbolizer::Region* Symbolizer::region_at(const Regions& regions, std::uint64_t address) {
  auto region = regions.upper_bound(address);
  if (region == regions.begin() || address >= (--region)->second.end) {
    return nullptr;
  }
  return &region->second;
}

bool Symbolizer::is_code(std::int32_t tgid, std::uint64_t return_address) const {
  const auto process = processes_.find(tgid);
  return process == processes_.end() ||
         (return_address != 0 && region_at(process->second, return_address - 1) != nullptr);
}

std::string Symbolizer::user_frame(std::int32_t tgid, std::uint64_t pc, bool return_address) {
  const std::uint64_t looked_up = return_address && pc != 0 ? pc - 1 : pc;
  const auto process = processes_.find(tgid);
  if (process == processes_.end()) {
    return place("unknown", pc);
  }
  const Region* const region = region_at(process->second, looked_up);
  if (region == nullptr) {
    return place("unknown", pc);
  }
  const Mapping& mapping = region->mapping;
  const bool from_kernel = mapping.path == kVdso || mapping.path == kVsyscall;
  if (!is_file(mapping) && !from_kernel) {
    return place("anon", pc);
  }
  const std::string module = module_name(mapping.path);
  const std::uint64_t in_file = (from_kernel ? 0 : mapping.offset) + (looked_up - mapping.begin);
  std::uint64_t shown = in_file + (pc - looked_up);
  if (region->module != nullptr) {
    const ElfSymbols& symbols = region->module->symbols();
    if (const auto address = symbols.address_of(in_file)) {
      shown = *address + (pc - looked_up);
      if (const auto function = symbols.find(*address)) {
        return named(demangled(function->name), shown - function->begin, module);
      }
    }
  }
  return place(from_kernel ? std::string_view(module).substr(1, module.size() - 2) : module, shown);
}

std::string Symbolizer::demangled(std::string_view symbol) {
  const bool given_up = demangle_.given_up();
  std::string name = demangle_(symbol);
  if (demangle_.given_up() && !given_up) {
    warnings_.emplace_back(
        "C++ names are shown mangled from some point on: four of them crashed the demangler or took it more "
        "than a "
        "second");
  }
  return name;
}

std::string Symbolizer::kernel_frame(std::uint64_t pc, bool return_address) {
  if (!kernel_read_) {
    kernel_read_ = true;
    const UniqueFd fd(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
    std::string text;
    std::size_t filled = 0;
    for (ssize_t got = 1; fd && got > 0; filled += static_cast<std::size_t>(std::max<ssize_t>(got, 0))) {
      text.resize(std::max<std::size_t>(text.size(), filled + (std::size_t{1} << 20U)));
      got = read_retrying(fd.get(), text.data() + filled, text.size() - filled);
    }
    kernel_ = KernelSymbols::parse(std::string_view(text).substr(0, filled));
    if (kernel_.restricted()) {
      warnings_.emplace_back(
          "kernel frames have no names: kernel.kptr_restrict hides the addresses in /proc/kallsyms; set it "
          "to 0 or "
          "1 and run as root");
    } else if (kernel_.empty()) {
      warnings_.emplace_back("kernel frames have no names: /proc/kallsyms cannot be read");
    }
  }
  const auto function = kernel_.find(return_address && pc != 0 ? pc - 1 : pc);
  return function ? named(demangled(function->name), pc - function->begin, function->module)
                  : place("kernel", pc);
}

}  // namespace offwait
