// SPDX-License-Identifier: GPL-2.0-or-later
// The readers of the kernel's tables in /proc on any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "capture/kernel_names.h"
#include "capture/served_ports.h"
#include "process/cpu_use.h"
#include "process/interpreter.h"
#include "process/running_program.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  constexpr std::uint16_t kFirstOwn = 32768;
  constexpr std::uint16_t kLastOwn = 60999;
  (void)offwait::parse_listening(text);
  for (const std::uint16_t port : offwait::parse_unconnected(text, kFirstOwn, kLastOwn)) {
    if (port >= kFirstOwn && port <= kLastOwn) {
      std::abort();
    }
  }
  (void)offwait::parse_diskstats(text);
  (void)offwait::parse_cpu_ticks(text);
  (void)offwait::parse_each_cpu_ticks(text);
  (void)offwait::parse_process_ticks(text);
  constexpr std::size_t kLongestTitle = 127;
  if (offwait::title_in(text).size() > kLongestTitle) {
    std::abort();
  }
  const std::string_view first = std::string_view(text).substr(0, text.find('\0'));
  if (offwait::interpreter_title(text, [&] { return std::string(first); }).size() > kLongestTitle) {
    std::abort();
  }
  (void)offwait::parse_net_dev(text);
  (void)offwait::parse_interrupts(text);
  return 0;
}
