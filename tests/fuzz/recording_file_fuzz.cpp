// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a recording file. An input that begins like a file is read as one. Any other is the contents
// of sections, which the checksums of files would keep from the readers behind them: for each a byte (odd:
// records, even: rows), two with its size, and the content. What was read becomes a trace, and if that is
// valid, so is each half of it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "event/syscalls.h"
#include "model/cut.h"
#include "model/validate.h"
#include "recording_file/read_recording_file.h"
#include "recording_file/records.h"
#include "recording_file/sections.h"
#include "recording_file/tables.h"
#include "session/make_trace.h"

namespace {

void must(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "recording_file_fuzz: " << what << "\n";
  std::abort();
}

void analyse(offwait::NamedRecording recording) {
  const offwait::Trace trace = offwait::make_trace(recording);
  if (!offwait::validate(trace).ok()) return;
  const offwait::Nanos middle = trace.window.begin + trace.window.length() / 2;
  for (const offwait::Window half :
       {offwait::Window{trace.window.begin, middle}, offwait::Window{middle, trace.window.end}}) {
    const offwait::Status valid = offwait::validate(offwait::cut_to(trace, half));
    must(valid.ok(), "a part of a valid trace is not valid: " + (valid.ok() ? "" : valid.error().message));
  }
}

void read_file(std::string_view bytes) {
  const offwait::UniqueFd file(::memfd_create("recording", MFD_CLOEXEC));
  must(file && ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
           ::lseek(file.get(), 0, SEEK_SET) == 0,
       "no memory for a file");
  offwait::Result<offwait::ReadRecording> read = offwait::read_recording_file(file.get(), "", "f");
  if (!read.ok()) return;
  const offwait::Window whole = read->recording.kernel.window;
  analyse(std::move(read->recording));
  const offwait::Nanos third = whole.length() / 3;
  must(::lseek(file.get(), 0, SEEK_SET) == 0, "a file cannot be sought in");
  offwait::Result<offwait::ReadRecording> part = offwait::read_recording_file(
      file.get(), "", "f", offwait::Window{whole.begin + third, whole.end - third});
  must(part.ok() && part->recording.kernel.window.end == whole.end, "a part has another window");
  analyse(std::move(part->recording));
}

void read_contents(std::string_view bytes) {
  constexpr std::size_t kHead = 3;
  offwait::RowReader rows;
  while (bytes.size() >= kHead) {
    const auto byte = [bytes](std::size_t at) {
      return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
    };
    const bool is_records = byte(0) % 2 == 1;
    const std::size_t size = byte(1) | byte(2) << 8U;
    bytes.remove_prefix(kHead);
    const std::string_view content = bytes.substr(0, size);
    bytes.remove_prefix(content.size());
    constexpr std::array kKinds = {offwait::SectionKind::records, offwait::SectionKind::linked_records,
                                   offwait::SectionKind::drawn_records};
    const offwait::SectionKind kind = kKinds.at(byte(0) / 2 % kKinds.size());
    const bool added =
        is_records ? offwait::add_records(kind, content, rows.about().architecture, rows.kernel().records)
                   : rows.add(content);
    if (!added) break;
  }
  offwait::NamedRecording recording;
  if (rows.has_window() && rows.finish(recording)) analyse(std::move(recording));
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  if (offwait::looks_like_recording(bytes)) {
    read_file(bytes);
  } else {
    read_contents(bytes);
  }
  return 0;
}
