// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/module_frames.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <utility>

#include "sandbox/confined_batch.h"
#include "sandbox/message.h"
#include "symbol/elf_file.h"
#include "symbol/elf_symbols.h"
#include "unwind/eh_frame.h"

namespace offwait {
namespace {

/// The CPU time for reading the tables of one file.
constexpr std::chrono::seconds kTablesTime{5};
/// The CPU time for reading DWARF: 100 MB of it take about a second.
constexpr std::chrono::seconds kLinesTime{5};
constexpr std::size_t kMostInlined = 256;

Confinement confinement(const ModuleFiles& files, std::chrono::seconds time) {
  Confinement result;
  for (const int fd : {files.file, files.debug, files.supplement}) {
    result.descriptors.push_back(fd);
    result.memory += file_size(fd);  // mapped files count as memory, too
  }
  result.cpu_time = time;
  result.wall_time = 4 * time;
  return result;
}

/// The functions in the symbol tables of a file and of its debug file.
class Tables {
 public:
  explicit Tables(const ModuleFiles& files) : files_(files) {
    auto own = files.file >= 0 ? ElfSymbols::read(files.file) : ElfSymbols::read(files.image);
    if (own.ok()) own_ = std::move(own).value();
    if (files.debug >= 0 && files.debug != files.file) {
      auto debug = ElfSymbols::read(files.debug);
      if (debug.ok()) debug_ = std::move(debug).value();
    }
  }

  std::string answer(std::uint64_t offset) {
    MessageWriter message;
    const auto address = own_.address_of(offset);
    message.number(address ? 1 : 0);
    if (address) {
      // The exported name is preferred to the name that the function has inside its library.
      auto function = own_.find(*address);
      const auto inside = debug_.find(*address);
      if (!function || (inside && inside->begin > function->begin)) function = inside;
      message.number(*address);
      message.number(function ? function->begin : begin_of(*address));
      message.text(function ? function->name : std::string_view());
    }
    return std::move(message).take();
  }

 private:
  /// Where a function without a name begins, or 0. Every function has unwind rules even in a stripped file; a
  /// part of a function that the compiler has put elsewhere (`.cold`) has rules of its own.
  std::uint64_t begin_of(std::uint64_t address) {
    if (!rules_read_) {
      rules_read_ = true;
      auto rules = files_.file >= 0 ? read_unwind_table(files_.file) : read_unwind_table(files_.image);
      if (rules.ok()) rules_ = std::move(rules).value();
    }
    const std::vector<FunctionExtent>& all = rules_.functions;
    const auto after = std::upper_bound(all.begin(), all.end(), address,
                                        [this](std::uint64_t value, const FunctionExtent& function) {
                                          return value < rules_.base + function.begin;
                                        });
    if (after == all.begin()) return 0;
    const FunctionExtent& function = *std::prev(after);
    const std::uint64_t begin = rules_.base + function.begin;
    return address - begin < function.size ? begin : 0;
  }

  const ModuleFiles& files_;
  ElfSymbols own_;
  ElfSymbols debug_;
  bool rules_read_ = false;
  UnwindTable rules_;
};

void read_tables(const ModuleFiles& files, const std::vector<std::uint64_t>& offsets, ModuleFrames& result) {
  std::unique_ptr<Tables> tables;
  ConfinedBatch batch;
  batch.items = offsets.size();
  batch.confinement = confinement(files, kTablesTime);
  batch.prepare = [&] { tables = std::make_unique<Tables>(files); };
  batch.answer = [&](std::size_t index) { return tables->answer(offsets[index]); };
  const ConfinedAnswers answers = answer_confined(batch);
  result.names_lost = answers.given_up || answers.lost > 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    MessageReader reader(answers.answers[i] ? std::string_view(*answers.answers[i]) : std::string_view());
    if (reader.number() == 0) continue;
    CodePlace& place = result.places[i];
    place.address = reader.number();
    SourceFrame frame;
    frame.begin = reader.number();
    frame.function = reader.text();
    place.frames.push_back(std::move(frame));
  }
}

std::string pack(const std::vector<SourceFrame>& frames) {
  MessageWriter message;
  for (const SourceFrame& frame : frames) {
    message.text(frame.function);
    message.number(frame.begin);
    message.number(frame.inlined ? 1 : 0);
    message.text(frame.file);
    message.number(frame.line);
  }
  return std::move(message).take();
}

std::vector<SourceFrame> unpack(std::string_view bytes) {
  std::vector<SourceFrame> frames;
  for (MessageReader reader(bytes); !reader.at_end() && frames.size() <= kMostInlined;) {
    SourceFrame frame;
    frame.function = reader.text();
    frame.begin = reader.number();
    frame.inlined = reader.number() != 0;
    frame.file = reader.text();
    frame.line = static_cast<std::uint32_t>(reader.number());
    if (reader.failed()) return {};
    frames.push_back(std::move(frame));
  }
  // A chain of inlined functions must end in a function that is not inlined.
  return frames.empty() || frames.back().inlined ? std::vector<SourceFrame>() : frames;
}

/// Adds what DWARF says. Names in symbol tables are preferred to DWARF's, because other tools show them.
void add_lines(const ModuleFiles& files, ModuleFrames& result) {
  std::vector<CodePlace*> places;
  for (CodePlace& place : result.places) {
    if (place.address) places.push_back(&place);
  }
  std::unique_ptr<DwarfLines> lines;
  ConfinedBatch batch;
  batch.items = places.size();
  batch.confinement = confinement(files, kLinesTime);
  batch.prepare = [&] { lines = DwarfLines::open(files.debug, files.supplement); };
  batch.answer = [&](std::size_t index) {
    return lines != nullptr ? pack(lines->frames_at(*places[index]->address)) : std::string();
  };
  const ConfinedAnswers answers = answer_confined(batch);
  result.lines_lost = answers.given_up || answers.lost > 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!answers.answers[i]) continue;
    std::vector<SourceFrame> frames = unpack(*answers.answers[i]);
    if (frames.empty()) continue;
    SourceFrame& known = places[i]->frames.back();
    SourceFrame& holder = frames.back();
    if (!known.function.empty() || holder.function.empty()) {
      holder.function = std::move(known.function);
      holder.begin = known.begin;
    }
    places[i]->frames = std::move(frames);
  }
}

}  // namespace

ModuleFrames module_frames(const ModuleFiles& files, const std::vector<std::uint64_t>& offsets) {
  ModuleFrames result;
  result.places.resize(offsets.size());
  read_tables(files, offsets, result);
  if (files.debug >= 0) {
    add_lines(files, result);
  }
  return result;
}

}  // namespace offwait
