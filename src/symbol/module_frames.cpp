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

namespace offwait {
namespace {

/// The CPU time for reading the tables of one file.
constexpr std::chrono::seconds kTablesTime{5};
/// The same while a recording goes on.
constexpr std::chrono::seconds kAheadTime{1};
/// The CPU time for reading DWARF: 100 MB of it take about a second.
constexpr std::chrono::seconds kLinesTime{5};
constexpr std::size_t kMostInlined = 256;
/// The most bytes of tables that are read ahead, because this process keeps them.
constexpr std::size_t kMostTables = std::size_t{32} << 20U;

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

void set_place(const ModuleTables::Place& found, CodePlace& place) {
  place.address = found.address;
  SourceFrame frame;
  frame.begin = found.begin;
  frame.function = found.name;
  place.frames.push_back(std::move(frame));
}

void read_tables(const ModuleFiles& files, const std::vector<std::uint64_t>& offsets, ModuleFrames& result) {
  ModuleTables tables;
  ConfinedBatch batch;
  batch.items = offsets.size();
  batch.confinement = confinement(files, kTablesTime);
  batch.prepare = [&] { tables = ModuleTables::read(files); };
  batch.answer = [&](std::size_t index) {
    std::optional<ModuleTables::Place> place = tables.at(offsets[index]);
    if (place && place->name.empty() && !tables.has_extents()) {
      tables.read_extents(files);
      place = tables.at(offsets[index]);
    }
    MessageWriter message;
    message.number(place ? 1 : 0);
    if (place) {
      message.number(place->address);
      message.number(place->begin);
      message.text(place->name);
    }
    return std::move(message).take();
  };
  const ConfinedAnswers answers = answer_confined(batch);
  result.names_lost = answers.given_up || answers.lost > 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    MessageReader reader(answers.answers[i] ? std::string_view(*answers.answers[i]) : std::string_view());
    if (reader.number() == 0) continue;
    ModuleTables::Place place;
    place.address = reader.number();
    place.begin = reader.number();
    place.name = reader.text();
    set_place(place, result.places[i]);
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

ModuleFrames module_frames(const ModuleFiles& files, const std::vector<std::uint64_t>& offsets,
                           const ModuleTables* tables) {
  ModuleFrames result;
  result.places.resize(offsets.size());
  if (tables == nullptr) {
    read_tables(files, offsets, result);
  } else {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (const auto place = tables->at(offsets[i])) set_place(*place, result.places[i]);
    }
  }
  if (files.debug >= 0) {
    add_lines(files, result);
  }
  return result;
}

Result<ConfinedBeside> begin_tables(const ModuleFiles& files) {
  Confinement limits = confinement(files, kAheadTime);
  limits.output = kMostTables;
  return ConfinedBeside::start(
      [&files](const ConfinedOutput& out) {
        ModuleTables tables = ModuleTables::read(files);
        tables.read_extents(files);
        MessageWriter message;
        tables.write(message);
        out.write(message.bytes());
      },
      limits);
}

std::optional<ModuleTables> tables_from(const Confined& confined) {
  if (confined.end != ConfinedEnd::done) return std::nullopt;
  MessageReader message(confined.output);
  return ModuleTables::read(message);
}

}  // namespace offwait
