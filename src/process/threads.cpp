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

/// The state in the text of a stat file; '?' if that has another form.
char state_in(std::string_view stat) {
  const std::size_t name_end = stat.rfind(") ");  // the name before it may have any bytes
  return name_end == std::string_view::npos || name_end + 2 == stat.size() ? '?' : stat[name_end + 2];
}

bool has_exited(const std::filesystem::path& task) {
  return std::string_view("ZXx?").find(state_in(read_file(task / "stat"))) != std::string_view::npos;
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

std::int32_t thread_with_memory(std::int32_t tgid) {
  const std::filesystem::path process = "/proc/" + std::to_string(tgid);
  if (!has_exited(process)) return tgid;
  std::error_code error;
  for (std::filesystem::directory_iterator task(process / "task", error), end; !error && task != end;
       task.increment(error)) {
    const std::optional<std::int32_t> tid = number(task->path().filename().string());
    if (tid && !has_exited(task->path())) return *tid;
  }
  return tgid;
}

std::vector<std::int32_t> numbers_in(const std::string& directory) {
  std::vector<std::int32_t> numbers;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    const std::string name = entry->path().filename().string();
    std::int32_t number = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && rest == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

char state_of(std::int32_t tid) { return state_in(read_file("/proc/" + std::to_string(tid) + "/stat")); }

std::string read_comm(std::int32_t tid) {
  std::string comm = read_file("/proc/" + std::to_string(tid) + "/comm");
  if (!comm.empty() && comm.back() == '\n') comm.pop_back();
  return comm;
}

}  // namespace offwait
