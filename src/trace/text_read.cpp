// SPDX-License-Identifier: GPL-2.0-or-later
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/result.h"
#include "model/never_seen.h"
#include "model/recorder.h"
#include "model/trace.h"
#include "model/trace_builder.h"
#include "trace/collect_lines.h"
#include "trace/percent.h"
#include "trace/read_fields.h"
#include "trace/records.h"
#include "trace/text.h"

namespace offwait {
namespace {

constexpr std::string_view kMagic = "offwait-waits ";
constexpr std::string_view kHeader = "offwait-waits 1";
constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::size_t kRecords = std::tuple_size_v<AllLines>;

class TextReader {
 public:
  explicit TextReader(std::string name) { position_.name = std::move(name); }

  /// Reads the next bytes of the file. If it returns false, take_error() has the error.
  bool feed(std::string_view bytes);
  /// To be called after the last feed(). If it returns false, take_error() has the error.
  bool finish();

  Trace take_trace() { return builder_.take(); }
  Error take_error() { return std::move(position_.error); }

 private:
  // All of these return false after they have set the error.
  bool no_recording();
  bool too_long();
  bool add_line(std::string_view line);
  bool add_header(std::string_view line);
  bool add_record(std::string_view name, std::string_view rest);
  template <std::size_t kIndex>
  bool add(std::string_view rest);

  struct Record {
    std::string_view name;
    bool (TextReader::*add)(std::string_view rest);
  };
  template <std::size_t... kIndex>
  static constexpr std::array<Record, kRecords> records(std::index_sequence<kIndex...>) {
    return {Record{RecordForm<std::tuple_element_t<kIndex, AllLines>>::kName, &TextReader::add<kIndex>}...};
  }

  ReadPosition position_;
  std::string unfinished_line_;
  TraceBuilder builder_;
  FieldReader fields_{position_, builder_};
  LineCollector lines_{position_, builder_};
  std::array<bool, kRecords> seen_{};  ///< the records that there have been
  std::size_t last_ = 0;               ///< index of the last line's record
};

bool TextReader::no_recording() {
  position_.error = Error{position_.name + ": not a recording of offwait"};
  return false;
}

bool TextReader::too_long() {
  return position_.line == 1 ? no_recording() : position_.fail("line longer than {} bytes", kMaxTextLine);
}

bool TextReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    if (unfinished_line_.empty() && ++position_.line == UINT32_MAX) {
      return position_.fail("more than 4294967294 lines");
    }
    if (unfinished_line_.size() + part.size() > kMaxTextLine) {
      return too_long();
    }
    if (newline == std::string_view::npos) {
      unfinished_line_ += part;
      return true;
    }
    bytes.remove_prefix(newline + 1);
    if (unfinished_line_.empty()) {
      if (!add_line(part)) {
        return false;
      }
    } else {
      unfinished_line_ += part;
      if (!add_line(unfinished_line_)) {
        return false;
      }
      unfinished_line_.clear();
    }
  }
  return true;
}

bool TextReader::finish() {
  if (position_.line == 0 ||
      (position_.line == 1 && !unfinished_line_.empty() && unfinished_line_ != kHeader)) {
    return no_recording();
  }
  if (!unfinished_line_.empty()) {
    return position_.fail("the file is cut off inside this line (it has no newline at its end)");
  }
  if (!seen_[0]) {
    return position_.fail("expected 'window BEGIN END', found the end of the file");
  }
  if (!lines_.finish()) return false;
  name_recorder(builder_.trace());
  forget_never_seen(builder_.trace());
  return true;
}

bool TextReader::add_line(std::string_view line) {
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  if (position_.line == 1) {
    return add_header(line);
  }
  std::string_view rest = line;
  const std::string_view record = next_word(rest);
  if (record.empty() || record.front() == '#') {
    return true;
  }
  return add_record(record, rest);
}

bool TextReader::add_header(std::string_view line) {
  if (line == kHeader) {
    return true;
  }
  if (line.substr(0, kMagic.size()) != kMagic) {
    return no_recording();
  }
  return position_.fail("version {} of offwait-waits (expected 'offwait-waits 1')",
                        quoted(line.substr(kMagic.size())));
}

bool TextReader::add_record(std::string_view name, std::string_view rest) {
  static constexpr std::array<Record, kRecords> kTable = records(std::make_index_sequence<kRecords>());
  if (!seen_[0] && name != kTable[0].name) {
    return position_.fail("expected 'window BEGIN END' before any other record");
  }
  // Successive lines are mostly of the same record.
  if (name != kTable[last_].name) {
    last_ = 0;
    while (last_ < kTable.size() && name != kTable[last_].name) {
      ++last_;
    }
  }
  if (last_ < kTable.size()) {
    return (this->*kTable[last_].add)(rest);
  }
  std::vector<std::string_view> names;
  for (const Record& record : kTable) {
    names.push_back(record.name);
  }
  const std::string_view last = names.back();
  names.pop_back();
  return position_.fail("unknown record {} (expected {} or {})", quoted(name), fmt::join(names, ", "), last);
}

template <std::size_t kIndex>
bool TextReader::add(std::string_view rest) {
  using Line = std::tuple_element_t<kIndex, AllLines>;
  if (RecordForm<Line>::kOnce && seen_[kIndex]) {
    return position_.fail("{} twice", RecordForm<Line>::kName);
  }
  seen_[kIndex] = true;
  Line line;
  return fields_.read(rest, line) && lines_.add(line);
}

}  // namespace

bool looks_like_text(std::string_view head) { return head.substr(0, kMagic.size()) == kMagic; }

Result<Trace> parse_text(std::string_view text, const std::string& name) {
  TextReader reader(name);
  if (!reader.feed(text) || !reader.finish()) {
    return reader.take_error();
  }
  return reader.take_trace();
}

Result<Trace> read_text(int fd, const std::string& name, std::string head) {
  TextReader reader(name);
  if (!reader.feed(head)) return reader.take_error();
  std::vector<char> chunk(kReadBytes);
  for (;;) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return Error{name + ": cannot read: " + std::generic_category().message(errno)};
    }
    if (got == 0) {
      break;
    }
    if (!reader.feed({chunk.data(), static_cast<std::size_t>(got)})) {
      return reader.take_error();
    }
  }
  if (!reader.finish()) {
    return reader.take_error();
  }
  return reader.take_trace();
}

}  // namespace offwait
