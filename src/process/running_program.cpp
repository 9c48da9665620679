// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/running_program.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <unistd.h>

#include "base/read_file.h"
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
  if (program.title.empty()) program.title = interpreter_title(command_line, read_comm(tgid));
  // An upgrade has replaced the file; what runs is still the same program.
  if (program.path.ends_with(kDeleted)) program.path.resize(program.path.size() - kDeleted.size());
  return program;
}

namespace {

constexpr std::size_t kLongestTitle = 127;

/// Programs that run a script which an argument names, without the version after their names.
constexpr std::array<std::string_view, 14> kInterpreters = {"python", "pypy", "perl", "ruby",   "node",
                                                            "nodejs", "php",  "bash", "sh",     "dash",
                                                            "ksh",    "zsh",  "lua",  "Rscript"};
/// Options of these that are followed by a value, and those by code instead of a script.
constexpr std::array<std::string_view, 8> kWithValue = {"-W", "-X",       "-r",        "-I",
                                                        "-d", "--import", "--require", "--loader"};
constexpr std::array<std::string_view, 6> kWithCode = {"-c", "-e", "-E", "-p", "--eval", "--print"};

bool is_in(std::span<const std::string_view> all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string_view> arguments_of(std::string_view command_line) {
  std::vector<std::string_view> out;
  while (!command_line.empty()) {
    const std::size_t length = std::min(command_line.find('\0'), command_line.size());
    out.push_back(command_line.substr(0, length));
    command_line.remove_prefix(std::min(length + 1, command_line.size()));
  }
  return out;
}

}  // namespace

std::string interpreter_title(std::string_view command_line, std::string_view comm) {
  const std::vector<std::string_view> arguments = arguments_of(command_line);
  if (arguments.empty() || base_name(arguments[0]) != comm) return {};
  if (!is_in(kInterpreters, comm.substr(0, comm.find_last_not_of("0123456789.-") + 1))) return {};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (is_in(kWithCode, word) || word == "-") return {};
    const bool is_module = word == "-m" && i + 1 < arguments.size();
    if (is_in(kWithValue, word)) {
      ++i;
    } else if (is_module || !word.starts_with('-')) {
      const std::string_view script = is_module ? arguments[i + 1] : base_name(word);
      if (script.empty()) return {};
      std::string out(comm);
      out.append(is_module ? " -m " : " ").append(script);
      return out.substr(0, kLongestTitle);
    }
  }
  return {};
}

std::string title_in(std::string_view command_line) {
  constexpr std::string_view kColon = ": ";
  // What is left of the arguments is zeros or blanks.
  const std::string_view text = command_line.substr(0, command_line.find('\0'));
  const std::string_view rest = command_line.substr(text.size());
  if (rest.find_first_not_of('\0') != std::string_view::npos) return {};
  if (text.find(kColon) == std::string_view::npos || text.find(' ') < text.find(kColon)) return {};
  const std::string_view title = text.substr(0, kLongestTitle);
  return std::string(title.substr(0, title.find_last_not_of(' ') + 1));
}

}  // namespace offwait
