// SPDX-License-Identifier: GPL-2.0-or-later
// The names of functions without what the compiler adds.
#pragma once

#include <string>
#include <string_view>

namespace offwait {

/// `void ns::run<void (*)(int)>(Task const&)` → `ns::run`; `std::function<void ()>::operator()() const` →
/// `std::function::operator()`; `<r::Pool<u8> as r::Work>::item` → `<Pool as Work>::item`; with `arguments`
/// in place of each template's.
std::string outline(std::string_view function, std::string_view arguments = "");

}  // namespace offwait
