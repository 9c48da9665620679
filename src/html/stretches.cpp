// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/stretches.h"

namespace offwait::html {

std::vector<std::string> state_names() {
  std::vector<std::string> out = {"running", "runnable"};
  for (std::size_t i = 0; i < kWaitClasses; ++i) out.emplace_back(to_string(static_cast<WaitClass>(i)));
  out.emplace_back("unknown");
  return out;
}

Window life_in(const Actor& thread, const Window& window) {
  const Nanos begin = std::max(thread.start, window.begin);
  return {begin, std::max(begin, std::min(thread.exit, window.end))};
}

}  // namespace offwait::html
