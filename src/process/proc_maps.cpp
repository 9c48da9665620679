// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/proc_maps.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace offwait {
namespace {

/// Takes fields off the front of one line; after the first failure every further field fails, too.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  template <class Number>
  Number number(int base) {
    Number value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (error != std::errc{}) {
      fail();
      return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void literal(char c) {
    if (rest_.empty() || rest_.front() != c) {
      fail();
    } else {
      rest_.remove_prefix(1);
    }
  }

  std::string_view take(std::size_t count) {
    if (rest_.size() < count) {
      fail();
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest() const { return rest_; }
  bool failed() const { return failed_; }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  bool failed_ = false;
};

std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping mapping;
  Fields fields(line);
  mapping.begin = fields.number<std::uint64_t>(16);
  fields.literal('-');
  mapping.end = fields.number<std::uint64_t>(16);
  fields.literal(' ');
  const std::string_view permissions = fields.take(4);
  fields.literal(' ');
  mapping.offset = fields.number<std::uint64_t>(16);
  fields.literal(' ');
  mapping.dev_major = fields.number<std::uint32_t>(16);
  fields.literal(':');
  mapping.dev_minor = fields.number<std::uint32_t>(16);
  fields.literal(' ');
  mapping.inode = fields.number<std::uint64_t>(10);
  if (fields.failed() || mapping.begin >= mapping.end) {
    return std::nullopt;
  }
  std::string_view path = fields.rest();
  if (!path.empty() && path.front() != ' ') {
    return std::nullopt;
  }
  // Blanks pad the line; a path never begins with a blank.
  path.remove_prefix(std::min(path.find_first_not_of(' '), path.size()));
  mapping.executable = permissions[2] == 'x';
  mapping.shared = permissions[1] == 'w' && permissions[3] == 's';
  mapping.path = path;
  return mapping;
}

std::string_view without_deleted(std::string_view path) {
  if (path.ends_with(kDeleted)) {
    path.remove_suffix(kDeleted.size());
  }
  return path;
}

std::string with_newlines(std::string_view path) {
  constexpr std::string_view kEscape = "\\012";
  std::string decoded;
  for (std::size_t at = path.find(kEscape); at != std::string_view::npos; at = path.find(kEscape)) {
    decoded.append(path.substr(0, at)).push_back('\n');
    path.remove_prefix(at + kEscape.size());
  }
  return decoded.append(path);
}

}  // namespace

Maps parse_maps(std::string_view text) {
  Maps maps;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (auto mapping = parse_mapping(line)) {
      maps.mappings.push_back(*std::move(mapping));
    } else {
      ++maps.malformed;
    }
  }
  return maps;
}

bool is_file(const Mapping& mapping) { return mapping.path.starts_with('/'); }

std::string module_name(std::string_view path) {
  path = without_deleted(path);
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::vector<std::string> candidate_paths(std::string_view path) {
  std::vector<std::string> candidates;
  for (const std::string_view name : {without_deleted(path), path}) {
    for (std::string candidate : {with_newlines(name), std::string(name)}) {
      if (std::find(candidates.begin(), candidates.end(), candidate) == candidates.end()) {
        candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

}  // namespace offwait
