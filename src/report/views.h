// SPDX-License-Identifier: GPL-2.0-or-later
// Tables that rank code and threads, in place of the report: one file for each view (view_functions.cpp …).
#pragma once

#include <cstdint>
#include <string>

#include "analysis/findings.h"
#include "report/text.h"
#include "report/text_page.h"

namespace offwait {

enum class View : std::uint8_t { functions, threads, locks, files };

/// The table, 20 rows unless verbose, under a heading that explains its columns. The findings have
/// Findings::views.
std::string to_text(const Findings& findings, View view, const TextStyle& style);

inline constexpr std::size_t kViewRows = 20;
void put_functions(const TextPage& page);
void put_critical_threads(const TextPage& page);
void put_locks(const TextPage& page);
void put_files(const TextPage& page);

/// `12.3`: a part of the whole in percent, for a column; empty where it is less than a tenth.
std::string cell(double part, double whole);
/// `3 more rows (-v, or all in --json)`
void put_more_rows(const TextPage& page, std::size_t count);

}  // namespace offwait
