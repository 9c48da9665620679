// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/monotonic.h"
#include "base/side_by_side.h"
#include "symbol/demangle.h"
#include "symbol/elf_file.h"
#include "symbol/perf_map.h"
#include "symbol/symbolizer.h"
#include "symbol/symbolizer_module.h"

namespace offwait {
namespace {

constexpr std::string_view kVsyscall = "[vsyscall]";
/// The longest time for all names together; after that no more files are read.
constexpr Nanos kMostTime = 60 * kSecond;
/// A longer path is left out.
constexpr std::size_t kLongestPath = 1024;

/// About how long the names of a file take.
std::uint64_t work_of(const ModuleFiles& files) { return file_size(files.file) + file_size(files.debug); }

}  // namespace

/// One call of frames(): which addresses are asked of which file, and the answers.
class Symbolizer::Batch {
 public:
  Batch(Symbolizer& symbols, const std::vector<FrameAddress>& addresses)
      : symbols_(symbols), addresses_(addresses), answers_(addresses.size()) {}

  std::vector<std::vector<Frame>> take() {
    for (std::size_t i = 0; i < addresses_.size(); ++i) ask(i);
    side_by_side([this] { ask_modules(); }, [this] { ask_kernel(); });
    if (!kernel_.empty()) symbols_.warn_of_kernel();
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
      answer.place = "kernel";
      kernel_.push_back(index);
      return;
    }
    answer.place = "unknown";
    const auto process = symbols_.processes_.find(address.tgid);
    if (process == symbols_.processes_.end()) return;
    const Region* const region = region_at(process->second.regions, looked_up(index));
    if (region == nullptr) return;
    const Mapping& mapping = region->mapping;
    const bool from_kernel = mapping.path == kVdso || mapping.path == kVsyscall;
    answer.of_jit = !from_kernel;
    if (!is_file(mapping) && !from_kernel) {
      answer.place = "anon";
      jits_[address.tgid].push_back(index);
      return;
    }
    answer.module = module_name(mapping.path);
    answer.place = from_kernel ? answer.module.substr(1, answer.module.size() - 2) : answer.module;
    answer.in_file = (from_kernel ? 0 : mapping.offset) + (looked_up(index) - mapping.begin);
    answer.shown = answer.in_file + (address.pc - looked_up(index));
    if (region->module != nullptr) modules_[region->module.get()].push_back(index);
  }

  void ask_kernel() {
    if (kernel_.empty()) return;
    symbols_.read_kernel();
    // A BPF program may have been loaded since the symbols were read ahead.
    if (!name_kernel() && symbols_.read_kernel_anew()) name_kernel();
  }

  /// Whether all addresses have names.
  bool name_kernel() {
    bool all = true;
    for (const std::size_t index : kernel_) {
      Answer& answer = answers_[index];
      const auto function = symbols_.kernel_.find(looked_up(index));
      all = all && function;
      if (!function) continue;
      answer.module = function->module;
      answer.frames.assign(1, SourceFrame());
      answer.frames.back().function = function->name;
      answer.frames.back().begin = function->begin;
    }
    return all;
  }

  void ask_modules() {
    std::vector<Module*> asked;
    for (const auto& [module, indices] : modules_) asked.push_back(module);
    for (std::size_t begin = 0; begin < asked.size(); begin += kModulesAtOnce) {
      const auto end = std::min(begin + kModulesAtOnce, asked.size());
      ask_some({asked.begin() + static_cast<std::ptrdiff_t>(begin),
                asked.begin() + static_cast<std::ptrdiff_t>(end)});
    }
  }

  /// What is asked of one module.
  struct Question {
    Module* module;
    const ModuleFiles* files;
    std::vector<std::uint64_t> offsets;
    ModuleFrames found{};
    bool too_late = false;
  };

  void ask_some(const std::vector<Module*>& modules) {
    symbols_.with_debug_files(modules, [&](const std::vector<ModuleFiles>& files) {
      std::vector<Question> questions;
      for (std::size_t i = 0; i < modules.size(); ++i) {
        if (can_be_read(files[i])) questions.push_back({modules[i], &files[i], offsets_in(modules[i])});
      }
      // The longest first, so that both CPUs are busy until the end.
      std::stable_sort(questions.begin(), questions.end(), [](const Question& a, const Question& b) {
        return work_of(*a.files) > work_of(*b.files);
      });
      each_side_by_side(questions.size(), [&](std::size_t i) {
        Question& question = questions[i];
        question.too_late = monotonic_now() - begun_ > kMostTime;
        if (!question.too_late) question.found = module_frames(*question.files, question.offsets);
      });
      for (const Question& question : questions) take_answer(question);
    });
  }

  std::vector<std::uint64_t> offsets_in(Module* module) const {
    std::vector<std::uint64_t> offsets;
    for (const std::size_t index : modules_.at(module)) offsets.push_back(answers_[index].in_file);
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    return offsets;
  }

  void take_answer(const Question& question) {
    if (question.too_late) {
      symbols_.warn_once("some names are missing: to read them all takes more than a minute");
      return;
    }
    const ModuleFrames& found = question.found;
    if (found.names_lost || found.lines_lost)
      symbols_.warn_once(
          fmt::format("some {} of {} are missing: reading its tables crashed or took more than 5 s",
                      found.names_lost ? "names" : "inlined functions and lines",
                      module_name(question.module->mapped_path())));
    const std::vector<std::uint64_t>& offsets = question.offsets;
    for (const std::size_t index : modules_.at(question.module)) {
      const auto at =
          std::lower_bound(offsets.begin(), offsets.end(), answers_[index].in_file) - offsets.begin();
      take_place(index, found.places[static_cast<std::size_t>(at)]);
    }
  }

  void take_place(std::size_t index, const CodePlace& place) {
    Answer& answer = answers_[index];
    if (!place.address) {
      if (answer.of_jit) jits_[addresses_[index].tgid].push_back(index);
      return;
    }
    answer.shown = answer.shown - answer.in_file + *place.address;
    answer.frames = place.frames;
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
  std::vector<std::size_t> kernel_;                      // indices of the addresses there
  std::map<Module*, std::vector<std::size_t>> modules_;  // indices of the addresses there
  std::map<std::int32_t, std::vector<std::size_t>> jits_;
  const Nanos begun_ = monotonic_now();
};

std::vector<std::vector<Frame>> Symbolizer::frames(const std::vector<FrameAddress>& addresses) {
  return Batch(*this, addresses).take();
}

}  // namespace offwait
