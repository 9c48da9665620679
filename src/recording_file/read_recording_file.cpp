// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/read_recording_file.h"

#include <utility>

#include "base/nameless_file.h"
#include "base/side_by_side.h"
#include "recording_file/part_of_records.h"
#include "recording_file/records.h"
#include "recording_file/sections.h"
#include "recording_file/tables.h"

namespace offwait {
namespace {

/// Records, and what they have in common, take so much memory. More of them lie in a file without a name.
constexpr std::size_t kRecordBytes = std::size_t{32} << 20;

constexpr const char* kImpossible = "a section has impossible content";

/// While a section of at least this length is added, the next one is read side by side with that.
constexpr std::size_t kReadBeside = std::size_t{1} << 20;

/// Adds sections until the recording is complete; otherwise returns why it is not. `add_records` gets the
/// kind and content of each section of records.
template <class AddRecords>
Result<std::optional<std::string>> read_sections(SectionReader& sections, RowReader& rows,
                                                 AddRecords add_records) {
  std::optional<std::string> interrupted;
  const auto add = [&](const Section& section) {
    return section.kind == SectionKind::rows
               ? rows.add(section.content)
               : rows.knows_about() && add_records(section.kind, section.content);
  };
  OFFWAIT_TRY(std::optional<Section> section, sections.next());
  for (;;) {
    if (!section) {
      interrupted = sections.fault().empty() ? "it has no end" : sections.fault();
      return interrupted;
    }
    if (section->kind == SectionKind::end) return interrupted;
    bool possible = false;
    if (section->content.size() < kReadBeside) {
      possible = add(*section);
      if (!possible) return interrupted = kImpossible;
      OFFWAIT_TRY(section, sections.next());
    } else {
      std::optional<Result<std::optional<Section>>> next;
      side_by_side([&] { possible = add(*section); }, [&] { next.emplace(sections.next()); });
      if (!possible) return interrupted = kImpossible;
      OFFWAIT_TRY(section, *std::move(next));
    }
  }
}

Result<std::optional<std::string>> read_all(SectionReader& sections, RowReader& rows) {
  return read_sections(sections, rows, [&rows](SectionKind kind, const std::string& content) {
    return add_records(kind, content, rows.about().architecture, rows.kernel().records);
  });
}

Result<std::optional<std::string>> read_part(SectionReader& sections, RowReader& rows, const Window& kept) {
  std::optional<PartOfRecords> part;
  auto interrupted = read_sections(sections, rows, [&](SectionKind kind, const std::string& content) {
    if (!part) part.emplace(kept, rows.about().command, rows.kernel());
    return part->add(kind, content, rows.about().architecture);
  });
  if (part) part->finish();
  rows.kernel().complete = kept;
  return interrupted;
}

Status check_begun(const RowReader& rows, const std::optional<std::string>& interrupted,
                   const std::string& name) {
  if (rows.knows_about() && rows.has_window()) return success();
  return Error{name + ": nothing was recorded yet" + (interrupted ? " (" + *interrupted + ")" : "")};
}

}  // namespace

Result<ReadRecording> read_recording_file(int fd, std::string head, const std::string& name,
                                          const std::optional<Window>& kept) {
  SectionReader sections(fd, std::move(head), name);
  OFFWAIT_TRY_STATUS(sections.read_header());
  RowReader rows;
  rows.kernel().records.keep_in_memory(kRecordBytes, overflow_directory());
  ReadRecording read;
  OFFWAIT_TRY(read.interrupted, kept ? read_part(sections, rows, *kept) : read_all(sections, rows));
  OFFWAIT_TRY_STATUS(check_begun(rows, read.interrupted, name));
  if (!rows.finish(read.recording)) return Error{name + ": the recording contradicts itself"};
  return read;
}

Result<RecordedSizes> sizes_of_recording_file(int fd, std::string head, const std::string& name) {
  SectionReader sections(fd, std::move(head), name, SectionReader::Records::skipped);
  OFFWAIT_TRY_STATUS(sections.read_header());
  RowReader rows;
  RecordedSizes sizes;
  std::uint64_t bytes = 0;
  const auto mark = [&] {
    const Nanos until = rows.kernel().window.end;
    if (rows.has_window() && (sizes.marks.empty() || sizes.marks.back().until < until))
      sizes.marks.push_back({until, bytes});
  };
  OFFWAIT_TRY(const std::optional<std::string> interrupted,
              read_sections(sections, rows, [&](SectionKind /*kind*/, const std::string& /*content*/) {
                mark();
                bytes = sections.skipped();
                return true;
              }));
  mark();
  OFFWAIT_TRY_STATUS(check_begun(rows, interrupted, name));
  sizes.window = rows.kernel().window;
  sizes.start_time = rows.about().start_time;
  return sizes;
}

}  // namespace offwait
