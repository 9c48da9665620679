// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/read_recording.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "model/validate.h"
#include "recording_file/read_recording_file.h"
#include "recording_file/sections.h"
#include "session/make_trace.h"
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

Result<ReadTrace> read_file_form(int fd, std::string head, const std::string& name) {
  OFFWAIT_TRY(ReadRecording read, read_recording_file(fd, std::move(head), name));
  ReadTrace result;
  result.trace = make_trace(read.recording);
  // Every form of output relies on it, and the file is hostile.
  if (const Status valid = validate(result.trace); !valid)
    return Error{fmt::format("{}: {}", name, valid.error().message)};
  if (read.interrupted) {
    result.trace.recording.interrupted = true;
    result.notes.push_back(
        fmt::format("{}: the recording was interrupted ({}): this is what it has up to its last whole second",
                    name, *read.interrupted));
  }
  return result;
}

Status choose_part(const TracePart& part, ReadTrace& read) {
  if (!part.last && !part.to && part.from == 0) return success();
  OFFWAIT_TRY(const Window window, window_of(part, read.trace.window));
  OFFWAIT_TRY_STATUS(validate(read.trace));  // text may be of an invalid trace
  read.trace = cut_to(std::move(read.trace), window);
  return success();
}

Result<ReadTrace> read_either(int input, const std::string& name) {
  OFFWAIT_TRY(std::string head, read_head(input, name));
  if (looks_like_recording(head)) return read_file_form(input, std::move(head), name);
  OFFWAIT_TRY(Trace trace, read_text(input, name, std::move(head)));
  return ReadTrace{std::move(trace), {}};
}

}  // namespace

Result<ReadTrace> read_recording(int fd, const std::string& name, const TracePart& part) {
  OFFWAIT_TRY(ReadTrace read, read_either(fd, name));
  OFFWAIT_TRY_STATUS(choose_part(part, read));
  return read;
}

}  // namespace offwait
