// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/symbolizer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "symbol/elf_symbols.h"

namespace offwait {
namespace {

constexpr std::string_view kVdso = "[vdso]";
constexpr std::string_view kVsyscall = "[vsyscall]";
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

ssize_t read_retrying(int fd, char* buffer, std::size_t size) {
  ssize_t got = 0;
  do {
    got = read(fd, buffer, size);
  } while (got < 0 && errno == EINTR);
  return got;
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
  auto mappings = executable_mappings(tgid);
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
  std::optional<OpenedFile> file = open_mapped_file(tgid, mapping);
  if (!file) {
    return nullptr;
  }
  std::shared_ptr<Module>& module = files_[file->identity];
  if (module == nullptr) {
    module = std::make_shared<Module>(std::move(file->fd));
    unparsed_.push_back(module);
    if (unparsed_.size() > kMostUnparsed) {
      unparsed_.front()->symbols();
      unparsed_.pop_front();
    }
  }
  return module;
}

std::shared_ptr<Symbolizer::Module> Symbolizer::copy_vdso(std::int32_t tgid, const Mapping& mapping) {
  std::optional<std::string> image = vdso_image(tgid, mapping);
  if (!image) {
    return nullptr;
  }
  for (const std::shared_ptr<Module>& known : vdsos_) {
    if (known->image() == *image) {
      return known;
    }
  }
  auto module = std::make_shared<Module>(*std::move(image));
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
