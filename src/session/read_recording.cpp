// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/read_recording.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/nameless_file.h"
#include "base/unique_fd.h"
#include "base/utc_time.h"
#include "model/validate.h"
#include "recording_file/read_recording_file.h"
#include "recording_file/sections.h"
#include "session/make_trace.h"
#include "session/part_that_fits.h"
#include "session/wall_times.h"
#include "trace/text.h"

namespace offwait {
namespace {

/// The first bytes of a file; fewer than asked for only at its end.
Result<std::string> read_head(int fd, const std::string& name) {
  std::string head(kHeaderBytes, '\0');
  std::size_t filled = 0;
  while (filled < head.size()) {
    const ssize_t got = ::read(fd, head.data() + filled, head.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("{}: cannot read: {}", name, std::strerror(errno))};
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  head.resize(filled);
  return head;
}

bool is_whole(const TracePart& part) {
  return !part.last && !part.to && !part.wall_from && !part.wall_to && part.from == 0;
}

/// The records that are read for a part of a recording that has the window `whole`.
Window around(const TracePart& part, const Window& whole) {
  const Result<Window> window = window_of(part, whole);
  return {(window ? window->begin : whole.end) - kReadAround,
          part.to ? whole.begin + *part.to + kReadAround : kNever};
}

/// Copies what `fd` still has into a file without a name, from its start on, behind `head`.
Result<UniqueFd> copied(int fd, const std::string& head, const std::string& name) {
  OFFWAIT_TRY(UniqueFd copy, nameless_file(overflow_directory()));
  std::vector<char> bytes(head.begin(), head.end());
  constexpr std::size_t kOnce = std::size_t{1} << 20;
  while (!bytes.empty()) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t now = ::write(copy.get(), bytes.data() + done, bytes.size() - done);
      if (now < 0 && errno == EINTR) continue;
      if (now < 0) return Error{fmt::format("{}: cannot copy it: {}", name, std::strerror(errno))};
      done += static_cast<std::size_t>(now);
    }
    bytes.resize(kOnce);
    ssize_t got = 0;
    do got = ::read(fd, bytes.data(), bytes.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) return Error{fmt::format("{}: cannot read: {}", name, std::strerror(errno))};
    bytes.resize(static_cast<std::size_t>(got));
  }
  return copy;
}

Status seek(int fd, off_t to, const std::string& name) {
  if (::lseek(fd, to, SEEK_SET) >= 0) return success();
  return Error{fmt::format("{}: cannot read: {}", name, std::strerror(errno))};
}

struct ReadForm {
  Trace trace;
  std::optional<std::string> interrupted;
};

Result<ReadForm> read_form(int fd, std::string head, const std::string& name,
                           const std::optional<Window>& kept = std::nullopt) {
  OFFWAIT_TRY(ReadRecording read, read_recording_file(fd, std::move(head), name, kept));
  return ReadForm{make_trace(read.recording), std::move(read.interrupted)};
}

/// A trace that has all that a part needs. The recording's window is not quite known before its records are
/// read: they may be damaged, or begin with the start of a command. Then they are read once more.
///
/// `window` and `start_time` are those of RecordedSizes.
Result<ReadForm> read_part(int fd, const std::string& head, const std::string& name, const TracePart& part,
                           Window window, std::string start_time) {
  const off_t begin = ::lseek(fd, 0, SEEK_CUR);
  for (;;) {
    OFFWAIT_TRY(const TracePart counted, counted_from_begin(part, utc_ns(start_time), window));
    const Window kept = around(counted, window);
    OFFWAIT_TRY_STATUS(seek(fd, begin, name));
    OFFWAIT_TRY(ReadForm read, read_form(fd, head, name, kept));
    window = read.trace.window;
    start_time = read.trace.recording.start_time;
    OFFWAIT_TRY(const TracePart again, counted_from_begin(part, utc_ns(start_time), window));
    const Window needed = around(again, window);
    if (needed.begin >= kept.begin && needed.end <= kept.end) return read;
  }
}

/// What is read of a recording.
struct Chosen {
  TracePart part;
  std::optional<Window> fits;       ///< none: memory does not matter
  std::optional<std::string> note;  ///< if it is not all that was wanted
};

/// The part of `part` that a report can be made of in this much memory.
Result<Chosen> choose(const RecordedSizes& sizes, const std::string& name, const TracePart& part,
                      std::uint64_t max_memory, double actors_of_byte) {
  OFFWAIT_TRY(const TracePart wanted, counted_from_begin(part, utc_ns(sizes.start_time), sizes.window));
  const Result<Window> window = window_of(wanted, sizes.window);
  // What is wrong with the part is told after the recording has been read.
  if (!window) return Chosen{part, {}, {}};
  const std::optional<Window> fits = part_that_fits(sizes, *window, max_memory, actors_of_byte);
  constexpr double kMega = 1e6;
  const double mega = static_cast<double>(max_memory) / kMega;
  if (!fits)
    return Error{
        fmt::format("{}: a report of it takes more than {:.0f} MB of memory: allow more with "
                    "--max-memory, or ask for less with --last",
                    name, mega)};
  if (fits->begin == window->begin) return Chosen{part, fits, {}};
  const Nanos end = fits->end - sizes.window.begin;
  TracePart shorter;
  if (wanted.to) {
    shorter.from = end - fits->length();
    shorter.to = wanted.to;
  } else {
    shorter.last = fits->length();
  }
  return Chosen{
      shorter, fits,
      fmt::format("{}: this is the report of {:.1f} s up to {}: more does not fit into {:.0f} MB of memory "
                  "(--max-memory)",
                  name, to_seconds(fits->length()),
                  wanted.to ? fmt::format("{:.1f} s", to_seconds(end)) : std::string("the end"), mega)};
}

struct ReadPart {
  ReadForm form;
  Chosen chosen;
};

/// How many actors there are is only known when they were read. If they take too much, a shorter part is read
/// anew.
Result<ReadPart> read_what_fits(int fd, const std::string& head, const std::string& name,
                                const TracePart& wanted, std::uint64_t max_memory) {
  const off_t begin = ::lseek(fd, 0, SEEK_CUR);
  OFFWAIT_TRY(const RecordedSizes sizes, sizes_of_recording_file(fd, head, name));
  OFFWAIT_TRY(Chosen chosen, choose(sizes, name, wanted, max_memory, 0));
  for (;;) {
    OFFWAIT_TRY_STATUS(seek(fd, begin, name));
    OFFWAIT_TRY(ReadForm form, is_whole(chosen.part)
                                   ? read_form(fd, head, name)
                                   : read_part(fd, head, name, chosen.part, sizes.window, sizes.start_time));
    if (!chosen.fits) return ReadPart{std::move(form), std::move(chosen)};
    const double bytes = std::max(bytes_read(sizes, *chosen.fits), 1.0);
    const auto actors = static_cast<double>(form.trace.actors.size());
    OFFWAIT_TRY(Chosen less, choose(sizes, name, wanted, max_memory, actors / bytes));
    if (less.fits->begin <= chosen.fits->begin) return ReadPart{std::move(form), std::move(chosen)};
    chosen = std::move(less);
  }
}

Result<ReadPart> read_any_file(int fd, const std::string& head, const std::string& name,
                               const TracePart& part, std::uint64_t max_memory) {
  const bool can_seek = ::lseek(fd, 0, SEEK_CUR) >= 0;
  if (max_memory == kAnyMemory && is_whole(part)) {
    OFFWAIT_TRY(ReadForm form, read_form(fd, head, name));
    return ReadPart{std::move(form), {part, {}, {}}};
  }
  if (can_seek) return read_what_fits(fd, head, name, part, max_memory);
  OFFWAIT_TRY(const UniqueFd copy, copied(fd, head, name));
  OFFWAIT_TRY_STATUS(seek(copy.get(), static_cast<off_t>(head.size()), name));
  return read_what_fits(copy.get(), head, name, part, max_memory);
}

/// `part` becomes what was read of it.
Result<ReadTrace> read_file_form(int fd, const std::string& head, const std::string& name, TracePart& part,
                                 std::uint64_t max_memory) {
  OFFWAIT_TRY(ReadPart got, read_any_file(fd, head, name, part, max_memory));
  part = got.chosen.part;
  ReadForm& read = got.form;
  ReadTrace result{std::move(read.trace), {}};
  if (got.chosen.note) result.notes.push_back(*std::move(got.chosen.note));
  if (read.interrupted) {
    result.trace.recording.interrupted = true;
    result.notes.push_back(
        fmt::format("{}: the recording was interrupted ({}): this is what it has up to its last whole second",
                    name, *read.interrupted));
  }
  return result;
}

/// How files begin that people take for recordings, and what to do with them.
struct OtherForm {
  std::string_view head;
  std::string_view sentence;
};
constexpr std::array kOtherForms = {
    OtherForm{"PERFILE2", "but one of perf"},
    OtherForm{"\x1f\x8b", "but compressed: 'gzip -dc FILE | offwait report -' may read it"},
    OtherForm{"\x28\xb5\x2f\xfd", "but compressed: 'zstd -dc FILE | offwait report -' may read it"},
    OtherForm{"\xfd"
              "7zXZ",
              "but compressed: 'xz -dc FILE | offwait report -' may read it"},
    OtherForm{"{", "but JSON, which offwait writes and does not read"}};

Status check_form(std::string_view head, const std::string& name) {
  // A recorder makes its file before it attaches.
  if (head.empty()) return Error{name + " is empty: nothing was recorded yet"};
  for (const OtherForm& form : kOtherForms) {
    if (head.starts_with(form.head))
      return Error{fmt::format("{}: not a recording of offwait, {}", name, form.sentence)};
  }
  return success();
}

Result<ReadTrace> read_text_form(int fd, std::string head, const std::string& name) {
  OFFWAIT_TRY_STATUS(check_form(head, name));
  OFFWAIT_TRY(Trace trace, read_text(fd, name, std::move(head)));
  return ReadTrace{std::move(trace), {}};
}

}  // namespace

Result<ReadTrace> read_recording(int fd, const std::string& name, const TracePart& wanted,
                                 std::uint64_t max_memory) {
  OFFWAIT_TRY(std::string head, read_head(fd, name));
  TracePart part = wanted;
  const bool is_text = !looks_like_recording(head);
  OFFWAIT_TRY(ReadTrace read, is_text ? read_text_form(fd, std::move(head), name)
                                      : read_file_form(fd, head, name, part, max_memory));
  // All that follows relies on it, and the file is hostile.
  if (const Status valid = validate(read.trace); !valid)
    return Error{fmt::format("{}: {}", name, valid.error().message)};
  if (is_whole(part)) return read;
  OFFWAIT_TRY(const TracePart counted,
              counted_from_begin(part, utc_ns(read.trace.recording.start_time), read.trace.window));
  OFFWAIT_TRY(const Window window, window_of(counted, read.trace.window));
  read.trace = cut_to(std::move(read.trace), window);
  return read;
}

}  // namespace offwait
