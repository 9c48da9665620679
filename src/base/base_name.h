// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace offwait {

/// The path without its directories: all behind the last slash. A view into `path`.
inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace offwait
