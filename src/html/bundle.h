// SPDX-License-Identifier: GPL-2.0-or-later
// The page's script and style: the files in bundle/, which are made of those in assets/ (assets/README.md).
#pragma once

#include <string_view>

namespace offwait::html {

std::string_view script();
std::string_view style();

}  // namespace offwait::html
