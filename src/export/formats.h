// SPDX-License-Identifier: GPL-2.0-or-later
// The forms in which other programs read a recording (doc/exports.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace offwait {

enum class ExportFormat : std::uint8_t { perfetto, pprof, dot, folded, speedscope, ndjson };
inline constexpr std::array kExportFormats = {ExportFormat::perfetto,   ExportFormat::pprof,
                                              ExportFormat::dot,        ExportFormat::folded,
                                              ExportFormat::speedscope, ExportFormat::ndjson};
inline constexpr std::string_view kExportFormatNames = "perfetto, pprof, dot, folded, speedscope or ndjson";
std::string_view to_string(ExportFormat format);
std::optional<ExportFormat> export_format(std::string_view name);

/// Whether its bytes are no text, so that a terminal cannot show them.
bool is_binary(ExportFormat format);

/// Takes the bytes of an export, piece by piece and in order. Its error ends the export, which returns it.
using ByteSink = std::function<Status(std::string_view)>;

}  // namespace offwait
