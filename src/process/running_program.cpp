// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/running_program.h"

#include <array>

#include <unistd.h>

#include "base/read_file.h"
#include "process/interpreter.h"
#include "process/proc_maps.h"
#include "process/threads.h"

namespace offwait {

std::optional<ProcessProgram> read_program(std::int32_t tgid) {
  const std::string directory = "/proc/" + std::to_string(thread_with_memory(tgid));
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink((directory + "/exe").c_str(), path.data(), path.size());
  if (size <= 0) return std::nullopt;
  const std::string command_line = read_file(directory + "/cmdline");
  ProcessProgram program{{path.data(), static_cast<std::size_t>(size)}, title_in(command_line)};
  if (program.title.empty())
    program.title = interpreter_title(command_line, [tgid] { return read_comm(tgid); });
  // An upgrade has replaced the file; what runs is still the same program.
  if (program.path.ends_with(kDeleted)) program.path.resize(program.path.size() - kDeleted.size());
  return program;
}

std::string title_in(std::string_view command_line) {
  constexpr std::size_t kLongest = 127;
  constexpr std::string_view kColon = ": ";
  // What is left of the arguments is zeros or blanks.
  const std::string_view text = command_line.substr(0, command_line.find('\0'));
  const std::string_view rest = command_line.substr(text.size());
  if (rest.find_first_not_of('\0') != std::string_view::npos) return {};
  if (text.find(kColon) == std::string_view::npos || text.find(' ') < text.find(kColon)) return {};
  const std::string_view title = text.substr(0, kLongest);
  return std::string(title.substr(0, title.find_last_not_of(' ') + 1));
}

}  // namespace offwait
