// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/symbolizer.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <unistd.h>

#include "base/unique_fd.h"
#include "symbol/demangle.h"
#include "symbol/module_variables.h"
#include "symbol/symbolizer_module.h"

namespace offwait {
namespace {

constexpr std::size_t kMostVdsos = 16;
/// The most descriptors held for files; far below the usual limit of 1024.
constexpr std::size_t kMostOpen = 384;
/// The most root directories of other mount namespaces.
constexpr std::size_t kMostRoots = 64;
/// The most regions kept of one process. The kernel allows 65,530 mappings at a time; a process may also move
/// its mappings about.
constexpr std::size_t kMostRegions = 131072;

}  // namespace

Symbolizer::Symbolizer(DebugServer server) : server_(std::move(server)), own_root_(open_root(getpid())) {}
Symbolizer::~Symbolizer() = default;

void Symbolizer::note_mappings(const AddressSpace& space) {
  const auto [process, added] = processes_.try_emplace(space.tgid);
  if (added || process->second.status.own_tgid == 0) {
    note_identity(space.tgid, process->second);
  }
  Regions& regions = process->second.regions;
  if (regions.size() > kMostRegions) {
    regions.clear();
  }
  for (const Mapping& mapping : space.mappings) {
    note(space.tgid, process->second, mapping);
  }
  std::map<std::uint64_t, Mapping>& shared = process->second.shared;
  if (shared.size() > kMostRegions) {
    shared.clear();
  }
  for (const Mapping& mapping : space.shared) {
    auto at = shared.lower_bound(mapping.begin);
    if (at != shared.begin() && std::prev(at)->second.end > mapping.begin) {
      --at;
    }
    while (at != shared.end() && at->first < mapping.end) {
      at = shared.erase(at);
    }
    shared.emplace(mapping.begin, mapping);
  }
}

void Symbolizer::forget(const std::vector<std::int32_t>& tgids) {
  for (const std::int32_t tgid : tgids) processes_.erase(tgid);
  std::erase_if(open_, [](const auto& module) { return module.use_count() == 2; });  // files_ has it, too
  std::erase_if(files_, [](const auto& file) { return file.second.use_count() == 1; });
  std::erase_if(roots_, [](const auto& root) { return root.second.use_count() == 1; });
}

void Symbolizer::note_identity(std::int32_t tgid, Process& process) {
  process.status = process_status(tgid).value_or(ProcessStatus());
  std::optional<ProcessRoot> root = open_root(tgid);
  if (!root || (own_root_ && root->identity == own_root_->identity)) {
    return;
  }
  const auto known = roots_.find(root->identity);
  if (known != roots_.end()) {
    process.root = known->second;
  } else if (roots_.size() < kMostRoots) {
    process.root = std::make_shared<ProcessRoot>(*std::move(root));
    roots_.emplace(process.root->identity, process.root);
  }
}

void Symbolizer::note(std::int32_t tgid, Process& process, const Mapping& mapping) {
  Regions& regions = process.regions;
  const auto same = regions.find(mapping.begin);
  if (same != regions.end() && same->second.end == mapping.end && same->second.mapping == mapping) {
    return;
  }
  // Remove the new range from the regions known before.
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
    region.module = open_file(tgid, process, mapping);
  } else if (mapping.path == kVdso) {
    region.module = copy_vdso(tgid, mapping);
  }
  region.mapping = mapping;
  regions.emplace(mapping.begin, std::move(region));
}

std::shared_ptr<Symbolizer::Module> Symbolizer::open_file(std::int32_t tgid, const Process& process,
                                                          const Mapping& mapping) {
  std::optional<OpenedFile> file = open_mapped_file(tgid, mapping);
  if (!file) {
    return nullptr;
  }
  std::shared_ptr<Module>& module = files_[file->identity];
  if (module == nullptr) {
    module = std::make_shared<Module>(*std::move(file), mapping.path, process.root);
    open_.push_back(module);
    if (open_.size() > kMostOpen) {
      open_.front()->close();
      open_.pop_front();
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
         (return_address != 0 && region_at(process->second.regions, return_address - 1) != nullptr);
}

bool Symbolizer::is_java(const Process& process) {
  return std::any_of(process.regions.begin(), process.regions.end(), [](const auto& region) {
    return module_name(region.second.mapping.path) == "libjvm.so";
  });
}

std::vector<std::int32_t> Symbolizer::java_processes() const {
  std::vector<std::int32_t> tgids;
  for (const auto& [tgid, process] : processes_) {
    if (is_java(process)) tgids.push_back(tgid);
  }
  return tgids;
}

void Symbolizer::read_kernel() {
  if (std::exchange(kernel_read_, true)) return;
  std::optional<KernelSymbols> ahead = ahead_.take();
  kernel_is_old_ = kallsyms_.empty() && ahead && !ahead->restricted();
  if (kernel_is_old_) {
    kernel_ = *std::move(ahead);
  } else {
    kernel_ = kallsyms_.empty() ? read_kernel_symbols() : KernelSymbols::parse(kallsyms_);
  }
}

bool Symbolizer::read_kernel_anew() {
  if (!std::exchange(kernel_is_old_, false)) return false;
  kernel_ = read_kernel_symbols();
  return true;
}

void Symbolizer::warn_of_kernel() {
  if (kernel_.restricted()) {
    warn_once(
        "kernel frames have no names: /proc/kallsyms hides their addresses; give offwait CAP_SYSLOG, too, "
        "and "
        "set kernel.kptr_restrict to 0 or 1 if it is 2");
  } else if (kernel_.empty()) {
    warn_once("kernel frames have no names: /proc/kallsyms cannot be read");
  }
}

void Symbolizer::warn_once(std::string warning) {
  if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
    warnings_.push_back(std::move(warning));
}

void Symbolizer::with_debug_files(const std::vector<Module*>& modules,
                                  const std::function<void(const std::vector<ModuleFiles>&)>& use) {
  const int own_root = own_root_ ? own_root_->directory.get() : -1;
  std::vector<StrippedFile> stripped;
  for (Module* const module : modules) {
    StrippedFile file{module->fd(own_root), candidate_paths(module->mapped_path()).front(), {}};
    if (module->root() != nullptr) file.roots.push_back(module->root()->directory.get());
    if (own_root >= 0) file.roots.push_back(own_root);
    stripped.push_back(std::move(file));
  }
  const std::vector<DebugFiles> debug = find_debug_files(stripped, server_);
  std::vector<ModuleFiles> all;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (debug[i].lost)
      warn_once("reading the headers of a file crashed: " + module_name(modules[i]->mapped_path()));
    ModuleFiles& files = all.emplace_back();
    files.file = stripped[i].fd;
    files.image = modules[i]->image();
    files.debug = debug[i].in_file ? files.file : debug[i].debug ? debug[i].debug->fd.get() : -1;
    files.supplement = debug[i].supplement ? debug[i].supplement->fd.get() : -1;
  }
  use(all);
  for (Module* const module : modules) module->close_again();
}

const Mapping* Symbolizer::shared_at(const Process& process, std::uint64_t address) {
  auto at = process.shared.upper_bound(address);
  return at != process.shared.begin() && address < (--at)->second.end ? &at->second : nullptr;
}

std::vector<DataName> Symbolizer::data_names(const std::vector<DataAddress>& addresses) {
  std::vector<DataName> names(addresses.size());
  std::map<Module*, std::vector<std::pair<std::size_t, DataPlace>>> asked;  // with indices of the addresses
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto [tgid, address] = addresses[i];
    if (tgid == 0) {
      read_kernel();
      if (const auto found = kernel_.find_data(address))
        names[i] = {std::string(found->name), std::string(found->module), address - found->begin};
      continue;
    }
    const auto process = processes_.find(tgid);
    if (process == processes_.end()) continue;
    if (const Mapping* const shared = shared_at(process->second, address)) {
      names[i].shared = *shared;
      continue;
    }
    // A file's data lie after its code.
    auto region = process->second.regions.upper_bound(address);
    if (region == process->second.regions.begin()) continue;
    const Region& code = (--region)->second;
    if (code.module == nullptr || !is_file(code.mapping)) continue;
    names[i].module = module_name(code.mapping.path);
    asked[code.module.get()].push_back({i, {code.mapping.offset, address - code.mapping.begin}});
  }
  for (const auto& [module, indexed] : asked) {
    std::vector<DataPlace> places;
    for (const auto& [index, place] : indexed) places.push_back(place);
    ModuleVariables found;
    with_debug_files({module}, [&](const std::vector<ModuleFiles>& files) {
      if (can_be_read(files.front())) found = module_variables(files.front(), places);
    });
    found.places.resize(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      DataName& name = names[indexed[i].first];
      const std::optional<Variable>& variable = found.places[i];
      if (!variable) {
        name.module.clear();
        continue;
      }
      name.symbol = variable->name;
      name.offset = variable->address - (name.symbol.empty() ? 0 : variable->begin);
    }
  }
  if (kernel_read_) warn_of_kernel();
  std::vector<std::string> mangled;
  for (const DataName& name : names) mangled.push_back(name.symbol);
  Demangled demangled = demangle(mangled);
  for (std::size_t i = 0; i < names.size(); ++i) names[i].symbol = std::move(demangled.names[i]);
  return names;
}

std::map<std::string, std::string> Symbolizer::build_ids() {
  const int own_root = own_root_ ? own_root_->directory.get() : -1;
  std::vector<Module*> modules;
  for (const auto& [identity, module] : files_) {
    if (module != nullptr) modules.push_back(module.get());
  }
  std::map<std::string, std::string> ids;
  for (std::size_t begin = 0; begin < modules.size(); begin += kModulesAtOnce) {
    const std::size_t end = std::min(begin + kModulesAtOnce, modules.size());
    std::vector<int> files;
    std::vector<std::string> paths;
    for (std::size_t i = begin; i < end; ++i) {
      if (const int fd = modules[i]->fd(own_root); fd >= 0) {
        files.push_back(fd);
        paths.push_back(modules[i]->mapped_path());
      }
    }
    const std::vector<std::string> found = offwait::build_ids(files);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!found[i].empty()) ids.emplace(paths[i], found[i]);
    }
    for (std::size_t i = begin; i < end; ++i) modules[i]->close_again();
  }
  return ids;
}

}  // namespace offwait
