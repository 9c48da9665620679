// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/perf_map.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "sandbox/confined.h"
#include "sandbox/message.h"

namespace offwait {
namespace {

constexpr std::size_t kLongestJitName = 1024;
constexpr off_t kLargestMap = off_t{1} << 30;

/// Takes a hexadecimal number and the blank behind it off the front.
std::optional<std::uint64_t> take_number(std::string_view& line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  const auto length = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || length == line.size() || line[length] != ' ') return std::nullopt;
  line.remove_prefix(length + 1);
  return value;
}

void read_lines(int fd, PerfMapReader& reader) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::string text;
  for (off_t at = 0; at < kLargestMap;) {
    const std::size_t kept = text.size();
    text.resize(kept + kPiece);
    const ssize_t got = pread(fd, text.data() + kept, kPiece, at);
    text.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) break;
    at += got;
    std::string_view rest = text;
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1)) {
      reader.line(rest.substr(0, end));
    }
    // A piece without a newline is too long for a line and is dropped.
    text.erase(0, rest.size() < kPiece ? text.size() - rest.size() : text.size());
  }
  reader.line(text);
}

}  // namespace

PerfMapReader::PerfMapReader(std::vector<std::uint64_t> addresses)
    : addresses_(std::move(addresses)), found_(addresses_.size()) {}

void PerfMapReader::line(std::string_view line) {
  const auto begin = take_number(line);
  const auto size = begin ? take_number(line) : std::nullopt;
  if (!size || line.empty()) return;
  const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), *begin);
  for (auto address = first; address != addresses_.end() && *address - *begin < *size; ++address) {
    found_[static_cast<std::size_t>(address - addresses_.begin())] =
        JitFunction{*begin, std::string(line.substr(0, kLongestJitName))};
  }
}

std::vector<std::optional<JitFunction>> look_up_in_perf_map(int fd,
                                                            const std::vector<std::uint64_t>& addresses) {
  std::vector<std::optional<JitFunction>> result(addresses.size());
  Confinement confinement;
  confinement.descriptors = {fd};
  confinement.cpu_time = std::chrono::seconds(5);
  const auto confined = run_confined(
      [&](const ConfinedOutput& out) {
        PerfMapReader reader(addresses);
        read_lines(fd, reader);
        MessageWriter message;
        for (std::size_t i = 0; i < addresses.size(); ++i) {
          if (const auto& function = reader.found()[i]) {
            message.number(i);
            message.number(function->begin);
            message.text(function->name);
          }
        }
        out.write(message.bytes());
      },
      confinement);
  MessageReader reader(confined.ok() ? std::string_view(confined->output) : std::string_view());
  while (!reader.at_end()) {
    const std::uint64_t index = reader.number();
    JitFunction function;
    function.begin = reader.number();
    function.name = reader.text();
    if (reader.failed() || index >= result.size()) break;
    result[index] = std::move(function);
  }
  return result;
}

}  // namespace offwait
