// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/symbolizer.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "code/roles.h"
#include "symbol/demangle.h"
#include "symbol/module_variables.h"
#include "symbol/perf_map.h"

namespace offwait {
namespace {

constexpr std::string_view kVdso = "[vdso]";
constexpr std::string_view kVsyscall = "[vsyscall]";
constexpr std::size_t kMostVdsos = 16;
/// The most descriptors held for files; far below the usual limit of 1024.
constexpr std::size_t kMostOpen = 384;
/// The most root directories of other mount namespaces.
constexpr std::size_t kMostRoots = 64;
/// The most modules whose debug files are open at the same time.
constexpr std::size_t kModulesAtOnce = 64;
/// No table of a file is read ahead once those that were read have this many bytes.
constexpr std::size_t kMostBytesAhead = std::size_t{64} << 20U;
/// The longest time for all names together; after that no more files are read.
constexpr Nanos kMostTime = 60 * kSecond;
/// The most regions kept of one process. The kernel allows 65,530 mappings at a time; a process may also move
/// its mappings about.
constexpr std::size_t kMostRegions = 131072;

/// A longer path is left out.
constexpr std::size_t kLongestPath = 1024;

}  // namespace

Symbolizer::Symbolizer(DebugServer server) : server_(std::move(server)), own_root_(open_root(getpid())) {}
Symbolizer::~Symbolizer() = default;

void Symbolizer::note_mappings(const AddressSpace& space) {
  if (space.copied_from != 0) {
    copies_.insert_or_assign(space.tgid, space.copied_from);
    return;
  }
  copies_.erase(space.tgid);
  if (space.mappings.empty() && space.shared.empty()) return;
  const auto [process, added] = processes_.try_emplace(space.tgid);
  // Other programs have the vdso above.
  process->second.is_32_bit =
      !space.mappings.empty() &&
      std::all_of(space.mappings.begin(), space.mappings.end(),
                  [](const Mapping& mapping) { return mapping.end <= std::uint64_t{1} << 32U; });
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
  for (const std::int32_t tgid : tgids) {
    processes_.erase(tgid);
    copies_.erase(tgid);
  }
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

std::shared_ptr<CodeFile> Symbolizer::open_file(std::int32_t tgid, const Process& process,
                                                const Mapping& mapping) {
  std::optional<OpenedFile> file = open_mapped_file(tgid, mapping);
  if (!file) {
    return nullptr;
  }
  std::shared_ptr<CodeFile>& module = files_[file->identity];
  if (module == nullptr) {
    module = std::make_shared<CodeFile>(*std::move(file), mapping.path, process.root);
    open_.push_back(module);
    if (open_.size() > kMostOpen) {
      open_.front()->close();
      open_.pop_front();
    }
  }
  return module;
}

std::shared_ptr<CodeFile> Symbolizer::copy_vdso(std::int32_t tgid, const Mapping& mapping) {
  std::optional<std::string> image = vdso_image(tgid, mapping);
  if (!image) {
    return nullptr;
  }
  for (const std::shared_ptr<CodeFile>& known : vdsos_) {
    if (known->image() == *image) {
      return known;
    }
  }
  auto module = std::make_shared<CodeFile>(*std::move(image));
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

std::int32_t Symbolizer::original_of(std::int32_t tgid) const {
  const auto copy = copies_.find(tgid);
  return copy == copies_.end() ? tgid : copy->second;
}

bool Symbolizer::is_code(std::int32_t tgid, std::uint64_t return_address) const {
  const auto process = processes_.find(original_of(tgid));
  return process == processes_.end() ||
         (return_address != 0 && region_at(process->second.regions, return_address - 1) != nullptr);
}

bool Symbolizer::is_32_bit(std::int32_t tgid) const {
  const auto process = processes_.find(original_of(tgid));
  return process != processes_.end() && process->second.is_32_bit;
}

bool Symbolizer::is_java(const Process& process) {
  return std::any_of(process.regions.begin(), process.regions.end(), [](const auto& region) {
    return is_java_machine(module_name(region.second.mapping.path));
  });
}

std::vector<std::int32_t> Symbolizer::java_processes() const {
  std::vector<std::int32_t> tgids;
  for (const auto& [tgid, process] : processes_) {
    if (is_java(process)) tgids.push_back(tgid);
  }
  return tgids;
}

void Symbolizer::warn_once(std::string warning) {
  if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
    warnings_.push_back(std::move(warning));
}

void Symbolizer::warn_of_kernel() {
  if (std::string complaint = kernel_.complaint(); !complaint.empty()) warn_once(std::move(complaint));
}

void Symbolizer::with_debug_files(const std::vector<CodeFile*>& modules,
                                  const std::function<void(CodeFile&, const ModuleFiles&)>& use) {
  const int own_root = own_root_ ? own_root_->directory.get() : -1;
  std::vector<StrippedFile> stripped;
  for (CodeFile* const module : modules) {
    StrippedFile file{module->fd(own_root), candidate_paths(module->mapped_path()).front(), {}};
    // Nothing is looked for beside a file that may not be asked again.
    if (module->is_copy()) {
      stripped.push_back(std::move(file));
      continue;
    }
    if (module->root() != nullptr) file.roots.push_back(module->root()->directory.get());
    if (own_root >= 0) file.roots.push_back(own_root);
    stripped.push_back(std::move(file));
  }
  const std::vector<DebugFiles> debug = find_debug_files(stripped, server_);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (debug[i].lost)
      warn_once("reading the headers of a file crashed: " + module_name(modules[i]->mapped_path()));
    ModuleFiles files;
    files.file = stripped[i].fd;
    files.image = modules[i]->image();
    files.debug = debug[i].in_file ? files.file : debug[i].debug ? debug[i].debug->fd.get() : -1;
    files.supplement = debug[i].supplement ? debug[i].supplement->fd.get() : -1;
    if (files.file >= 0 || !files.image.empty()) use(*modules[i], files);
    modules[i]->close_again();
  }
}

void Symbolizer::read_ahead(Nanos now) {
  const auto cpu_time = [] { return thread_cpu_time() + process_cpu_time(RUSAGE_CHILDREN); };
  const Nanos before = cpu_time();
  ahead_.take();
  if (ahead_.is_due(now) && !kernel_.begin_ahead(ahead_)) {
    if (const std::shared_ptr<CodeFile> file = largest_unread()) begin_tables_of(file);
  }
  ahead_.spend(cpu_time() - before);
}

/// The largest open file whose tables were not read ahead; null if there is none, or enough were read.
std::shared_ptr<CodeFile> Symbolizer::largest_unread() const {
  std::shared_ptr<CodeFile> largest;
  std::size_t bytes = 0;
  for (const auto& [identity, file] : files_) {
    bytes += file->tables_bytes;
    if (!file->ahead_tried && file->is_open() && (largest == nullptr || file->size() > largest->size()))
      largest = file;
  }
  return bytes < kMostBytesAhead ? largest : nullptr;
}

void Symbolizer::begin_tables_of(const std::shared_ptr<CodeFile>& file) {
  file->ahead_tried = true;
  ModuleFiles files;
  files.file = file->fd(-1);
  ahead_.begin(begin_tables(files), [file](const Confined& read) {
    file->tables = tables_from(read);
    if (file->tables) file->tables_bytes = read.output.size();
  });
}

const Mapping* Symbolizer::shared_at(const Process& process, std::uint64_t address) {
  auto at = process.shared.upper_bound(address);
  return at != process.shared.begin() && address < (--at)->second.end ? &at->second : nullptr;
}

std::vector<DataName> Symbolizer::data_names(const std::vector<DataAddress>& addresses) {
  std::vector<DataName> names(addresses.size());
  std::map<CodeFile*, std::vector<std::pair<std::size_t, DataPlace>>> asked;  // with indices of the addresses
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto [tgid, address] = addresses[i];
    if (tgid == 0) {
      if (const auto found = kernel_.find_data(address))
        names[i] = {std::string(found->name), std::string(found->module), address - found->begin};
      continue;
    }
    const auto process = processes_.find(original_of(tgid));
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
  warn_of_kernel();
  for (const auto& [module, indexed] : asked) {
    std::vector<DataPlace> places;
    for (const auto& [index, place] : indexed) places.push_back(place);
    ModuleVariables found;
    with_debug_files({module},
                     [&](CodeFile&, const ModuleFiles& files) { found = module_variables(files, places); });
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
  std::vector<std::string> mangled;
  for (const DataName& name : names) mangled.push_back(name.symbol);
  Demangled demangled = demangle(mangled);
  for (std::size_t i = 0; i < names.size(); ++i) names[i].symbol = std::move(demangled.names[i]);
  return names;
}

/// One call of frames(): which addresses are asked of which file, and the answers.
class Symbolizer::Batch {
 public:
  Batch(Symbolizer& symbols, const std::vector<FrameAddress>& addresses)
      : symbols_(symbols), addresses_(addresses), answers_(addresses.size()) {}

  std::vector<std::vector<Frame>> take() {
    for (std::size_t i = 0; i < addresses_.size(); ++i) ask(i);
    symbols_.warn_of_kernel();
    ask_modules();
    ask_perf_maps();
    demangle_all();
    std::vector<std::vector<Frame>> frames;
    for (std::size_t i = 0; i < addresses_.size(); ++i) frames.push_back(frames_of(i));
    return frames;
  }

 private:
  struct Answer {
    std::string module;         // of named frames, as it is shown
    std::string place;          // the module where there are no names
    std::uint64_t shown = 0;    // the offset there
    std::uint64_t in_file = 0;  // the place looked up
    bool of_jit = false;        // may be generated code of a JIT compiler
    /// As CodePlace::frames; `begin` counts from the same place as `shown`. Empty: no names.
    std::vector<SourceFrame> frames;
  };

  std::uint64_t looked_up(std::size_t index) const {
    const FrameAddress& address = addresses_[index];
    return address.return_address && address.pc != 0 ? address.pc - 1 : address.pc;
  }

  void ask(std::size_t index) {
    const FrameAddress& address = addresses_[index];
    Answer& answer = answers_[index];
    answer.shown = address.pc;
    if (address.tgid == 0) {
      ask_kernel(index);
      return;
    }
    answer.place = "unknown";
    const std::int32_t tgid = symbols_.original_of(address.tgid);
    const auto process = symbols_.processes_.find(tgid);
    if (process == symbols_.processes_.end()) return;
    const Region* const region = region_at(process->second.regions, looked_up(index));
    if (region == nullptr) return;
    const Mapping& mapping = region->mapping;
    const bool from_kernel = mapping.path == kVdso || mapping.path == kVsyscall;
    answer.of_jit = !from_kernel;
    if (!is_file(mapping) && !from_kernel) {
      answer.place = "anon";
      jits_[tgid].push_back(index);
      return;
    }
    answer.module = module_name(mapping.path);
    answer.place = from_kernel ? answer.module.substr(1, answer.module.size() - 2) : answer.module;
    answer.in_file = (from_kernel ? 0 : mapping.offset) + (looked_up(index) - mapping.begin);
    answer.shown = answer.in_file + (address.pc - looked_up(index));
    if (region->module != nullptr) modules_[region->module.get()].push_back(index);
  }

  void ask_kernel(std::size_t index) {
    Answer& answer = answers_[index];
    answer.place = "kernel";
    if (const auto function = symbols_.kernel_.find(looked_up(index))) {
      answer.module = function->module;
      answer.frames.emplace_back();
      answer.frames.back().function = function->name;
      answer.frames.back().begin = function->begin;
    }
  }

  void ask_modules() {
    std::vector<CodeFile*> asked;
    for (const auto& [module, indices] : modules_) asked.push_back(module);
    for (std::size_t begin = 0; begin < asked.size(); begin += kModulesAtOnce) {
      const auto end = std::min(begin + kModulesAtOnce, asked.size());
      ask_some({asked.begin() + static_cast<std::ptrdiff_t>(begin),
                asked.begin() + static_cast<std::ptrdiff_t>(end)});
    }
  }

  void ask_some(const std::vector<CodeFile*>& modules) {
    symbols_.with_debug_files(
        modules, [this](CodeFile& module, const ModuleFiles& files) { ask_module(module, files); });
  }

  void ask_module(CodeFile& module, const ModuleFiles& files) {
    if (monotonic_now() - begun_ > kMostTime) {
      symbols_.warn_once("some names are missing: to read them all takes more than a minute");
      return;
    }
    const std::vector<std::size_t>& indices = modules_[&module];
    std::vector<std::uint64_t> offsets;
    for (const std::size_t index : indices) offsets.push_back(answers_[index].in_file);
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    const ModuleFrames found = module_frames(files, offsets, tables_ahead(module, files));
    if (found.names_lost || found.lines_lost)
      symbols_.warn_once(fmt::format(
          "some {} of {} are missing: reading its tables crashed or took more than 5 s",
          found.names_lost ? "names" : "inlined functions and lines", module_name(module.mapped_path())));
    for (const std::size_t index : indices) {
      Answer& answer = answers_[index];
      const auto at = std::lower_bound(offsets.begin(), offsets.end(), answer.in_file) - offsets.begin();
      const CodePlace& place = found.places[static_cast<std::size_t>(at)];
      if (!place.address) {
        if (answer.of_jit) jits_[symbols_.original_of(addresses_[index].tgid)].push_back(index);
        continue;
      }
      answer.shown = answer.shown - answer.in_file + *place.address;
      answer.frames = place.frames;
    }
  }

  /// Tables that were read ahead, if they are all: a debug file may name more functions.
  static const ModuleTables* tables_ahead(const CodeFile& module, const ModuleFiles& files) {
    const bool other_file = files.debug >= 0 && files.debug != files.file;
    return module.tables && !other_file ? &*module.tables : nullptr;
  }

  void ask_perf_maps() {
    for (const auto& [tgid, indices] : jits_) {
      const Process& process = symbols_.processes_.at(tgid);
      const auto [file, name] = open_perf_map(tgid, process);
      if (!file) {
        if (is_java(process)) symbols_.warn_once("Java frames have no names; --java asks the JVM for them");
        continue;
      }
      std::vector<std::uint64_t> pcs;
      for (const std::size_t index : indices) pcs.push_back(looked_up(index));
      std::sort(pcs.begin(), pcs.end());
      pcs.erase(std::unique(pcs.begin(), pcs.end()), pcs.end());
      const auto found = look_up_in_perf_map(file->fd.get(), pcs);
      for (const std::size_t index : indices) {
        const auto at = std::lower_bound(pcs.begin(), pcs.end(), looked_up(index)) - pcs.begin();
        const auto& function = found[static_cast<std::size_t>(at)];
        if (!function) continue;
        Answer& answer = answers_[index];
        answer.module = name;
        answer.shown = addresses_[index].pc;
        answer.frames.assign(1, SourceFrame());
        answer.frames.back().function = function->name;
        answer.frames.back().begin = function->begin;
      }
    }
  }

  /// Looks in the process's own /tmp for its PID there, and then in ours for its PID here. Any user can put a
  /// file there, so its owner is checked.
  std::pair<std::optional<OpenedFile>, std::string> open_perf_map(std::int32_t tgid,
                                                                  const Process& process) const {
    const int own_root = symbols_.own_root_ ? symbols_.own_root_->directory.get() : -1;
    const std::int32_t own_tgid = process.status.own_tgid != 0 ? process.status.own_tgid : tgid;
    const int root = process.root != nullptr ? process.root->directory.get() : own_root;
    for (const auto& [directory, number] : {std::pair(root, own_tgid), std::pair(own_root, tgid)}) {
      std::string name = "perf-" + std::to_string(number) + ".map";
      auto file = open_regular_below(directory, "/tmp/" + name, Symlinks::refuse);
      if (file && (file->uid == process.status.uid || file->uid == 0))
        return {std::move(file), std::move(name)};
    }
    return {};
  }

  void demangle_all() {
    std::vector<std::string> symbols;
    for (const Answer& answer : answers_) {
      for (const SourceFrame& frame : answer.frames) symbols.push_back(frame.function);
    }
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    const Demangled demangled = demangle(symbols);
    if (demangled.given_up)
      symbols_.warn_once(
          "some C++ names are shown mangled: four of them crashed the demangler or took it more than a "
          "second");
    for (Answer& answer : answers_) {
      for (SourceFrame& frame : answer.frames) {
        const auto at = std::lower_bound(symbols.begin(), symbols.end(), frame.function) - symbols.begin();
        frame.function = demangled.names[static_cast<std::size_t>(at)];
      }
    }
  }

  std::vector<Frame> frames_of(std::size_t index) const {
    const Answer& answer = answers_[index];
    const Frame::Kind kind = addresses_[index].tgid == 0 ? Frame::Kind::kernel : Frame::Kind::user;
    std::vector<Frame> frames;
    for (const SourceFrame& source : answer.frames) {
      const bool named = !source.function.empty();
      if (source.inlined && !named) continue;
      Frame frame;
      frame.kind = kind;
      frame.function = source.function;
      frame.module = named ? answer.module : answer.place;
      frame.inlined = source.inlined;
      if (!source.inlined) {
        if (!named && source.begin != 0) frame.begin = source.begin;
        frame.offset = named || frame.begin ? answer.shown - source.begin : answer.shown;
      }
      if (source.file.size() <= kLongestPath) {
        frame.file = source.file;
        frame.line = frame.file.empty() ? 0 : source.line;
      }
      frames.push_back(std::move(frame));
    }
    if (answer.frames.empty()) {
      frames.push_back({.offset = answer.shown, .module = answer.place, .kind = kind});
    }
    return frames;
  }

  Symbolizer& symbols_;
  const std::vector<FrameAddress>& addresses_;
  std::vector<Answer> answers_;
  std::map<CodeFile*, std::vector<std::size_t>> modules_;  // indices of the addresses there
  std::map<std::int32_t, std::vector<std::size_t>> jits_;
  const Nanos begun_ = monotonic_now();
};

std::vector<std::vector<Frame>> Symbolizer::frames(const std::vector<FrameAddress>& addresses) {
  ahead_.take();
  return Batch(*this, addresses).take();
}

std::map<std::string, std::string> Symbolizer::build_ids() {
  const int own_root = own_root_ ? own_root_->directory.get() : -1;
  std::vector<CodeFile*> modules;
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
