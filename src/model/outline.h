// SPDX-License-Identifier: GPL-2.0-or-later
// The names of functions without what the compiler adds, and the libraries that every program has.
#pragma once

#include <string>
#include <string_view>

#include "model/frame.h"

namespace offwait {

/// `void ns::run<void (*)(int)>(Task const&)` → `ns::run`; `std::function<void ()>::operator()() const` →
/// `std::function::operator()`; `<r::Pool<u8> as r::Work>::item` → `<Pool as Work>::item`; with `arguments`
/// in place of each template's.
std::string outline(std::string_view function, std::string_view arguments = "");

/// In libc or libstdc++.
bool in_library(const Frame& frame);

}  // namespace offwait
