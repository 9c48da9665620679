// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/threads.h"

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/read_file.h"

namespace offwait {
namespace {

std::optional<std::int32_t> innermost_tid_of(const std::filesystem::path& task) {
  return innermost_tid(read_file(task / "status"));
}

std::optional<std::int32_t> number(std::string_view text) {
  std::int32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && parsed == end && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::int32_t> innermost_tid(std::string_view status) {
  constexpr std::string_view kLine = "\nNSpid:";
  // The thread's name, on the first line, cannot fake this line: its newlines are escaped.
  const std::size_t begin = status.find(kLine);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = status.find('\n', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view numbers = status.substr(begin + kLine.size(), end - begin - kLine.size());
  return number(numbers.substr(numbers.find_last_of("\t ") + 1));
}

std::optional<std::int32_t> thread_of_process(std::int32_t tgid, std::int32_t inner) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(tgid) + "/task";
  // Both numbers are usually equal; trying that first avoids a search among thousands of threads.
  if (innermost_tid_of(tasks / std::to_string(inner)) == inner) return inner;
  std::error_code error;
  for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
       task.increment(error)) {
    if (innermost_tid_of(task->path()) == inner) return number(task->path().filename().string());
  }
  return std::nullopt;
}

}  // namespace offwait
