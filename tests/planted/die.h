// SPDX-License-Identifier: GPL-2.0-or-later
// What `planted` does about errors: it says what happened and ends.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string>
#include <system_error>

[[noreturn]] inline void die(const std::string& what) {
  std::cerr << "planted: " << what << std::endl;
  std::_Exit(1);
}
[[noreturn]] inline void die_of_errno(const std::string& what) {
  die(what + ": " + std::generic_category().message(errno));
}
