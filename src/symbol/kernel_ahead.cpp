// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/kernel_ahead.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/read_file.h"
#include "base/unique_fd.h"
#include "process/priority.h"

namespace offwait {
namespace {

ssize_t read_retrying(int fd, char* buffer, std::size_t size) {
  ssize_t got = 0;
  do {
    got = read(fd, buffer, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

/// Reads with large buffers, because /proc generates the text anew for every read.
std::string read_kallsyms() {
  const UniqueFd fd(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  std::string text;
  std::size_t filled = 0;
  for (ssize_t got = 1; fd && got > 0; filled += static_cast<std::size_t>(std::max<ssize_t>(got, 0))) {
    text.resize(std::max<std::size_t>(text.size(), filled + (std::size_t{1} << 20U)));
    got = read_retrying(fd.get(), text.data() + filled, text.size() - filled);
  }
  text.resize(filled);
  return text;
}

std::string modules_now() { return loaded_modules(read_file("/proc/modules")); }

}  // namespace

KernelSymbols read_kernel_symbols() { return KernelSymbols::parse(read_kallsyms()); }

void KernelAhead::begin() {
  if (std::exchange(begun_, true)) return;
  try {
    read_ = std::async(std::launch::async, [this] {
      stand_back();
      thread_ = ::gettid();
      Read read;
      read.modules = modules_now();
      read.symbols = read_kernel_symbols();
      return read;
    });
  } catch (const std::system_error&) {
    // This process may have no more threads; the symbols are read when they are needed.
  }
}

void KernelAhead::end() {
  constexpr std::chrono::milliseconds kPause{5};
  while (read_.valid() && read_.wait_for(kPause) != std::future_status::ready) {
    if (const pid_t thread = thread_; thread != 0) catch_up(thread);
  }
}

std::optional<KernelSymbols> KernelAhead::take() {
  end();
  if (!read_.valid()) return std::nullopt;
  Read read = read_.get();
  if (read.modules != modules_now()) return std::nullopt;
  return std::move(read.symbols);
}

std::string loaded_modules(std::string_view proc_modules) {
  std::istringstream lines{std::string(proc_modules)};
  std::string loaded;
  // NAME SIZE USERS USED_BY STATE ADDRESS, and perhaps more
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    std::string size;
    std::string other;
    std::string address;
    fields >> name >> size >> other >> other >> other >> address;
    loaded.append(name).append(" ").append(size).append(" ").append(address).append("\n");
  }
  return loaded;
}

}  // namespace offwait
