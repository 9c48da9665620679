// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as "offwait-waits 1" text: an error with a line number (without one if the first line is another
// format's), or a valid trace that survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "model/trace.h"
#include "model/validate.h"
#include "trace/text.h"
#include "unit/trace/same_trace.h"

namespace {

void must(bool holds, const std::string& what) {
  if (holds) {
    return;
  }
  std::cerr << "trace_fuzz: " << what << "\n";
  std::abort();
}

std::string message_of(const auto& result) { return result.ok() ? "" : result.error().message; }

std::string written(const offwait::Trace& trace) {
  char* data = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&data, &size);
  must(file != nullptr, "open_memstream");
  const offwait::Status status = offwait::write_text(trace, file);
  must(std::fclose(file) == 0, "fclose");
  must(status.ok(), "cannot be written: " + message_of(status));
  std::string text(data, size);
  std::free(data);  // NOLINT(*-no-malloc)
  return text;
}

/// The writer cuts longer stacks, which are then not read back the same.
constexpr std::size_t kAlwaysWhole = std::size_t{64} << 10;

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  const offwait::Result<offwait::Trace> trace = offwait::parse_text(text, "f");
  if (!trace.ok()) {
    const std::string& message = trace.error().message;
    const bool has_line = message.compare(0, 2, "f:") == 0 && message[2] >= '1' && message[2] <= '9';
    must(has_line || message == "f: not a recording of offwait", "no line number: " + message);
    for (const char c : message) {
      must(c >= ' ' && c <= '~', "unprintable error: " + message);
    }
    return 0;
  }
  const offwait::Status valid = offwait::validate(*trace);
  must(valid.ok(), "not valid: " + message_of(valid));
  if (size > kAlwaysWhole) {
    return 0;
  }
  const std::string first = written(*trace);
  const offwait::Result<offwait::Trace> back = offwait::parse_text(first, "f");
  must(back.ok(), "cannot be read back: " + message_of(back));
  const std::string difference = offwait::first_difference(*trace, *back);
  must(difference.empty(), "differs when read back: " + difference);
  must(written(*back) == first, "differs when written again");
  return 0;
}
