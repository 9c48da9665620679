// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/formats.h"

#include <algorithm>

namespace offwait {

std::string_view to_string(ExportFormat format) {
  switch (format) {
    case ExportFormat::perfetto:
      return "perfetto";
    case ExportFormat::pprof:
      return "pprof";
    case ExportFormat::dot:
      return "dot";
    case ExportFormat::folded:
      return "folded";
    case ExportFormat::speedscope:
      return "speedscope";
    case ExportFormat::ndjson:
      return "ndjson";
  }
  return "";
}

std::optional<ExportFormat> export_format(std::string_view name) {
  const auto* const found = std::find_if(kExportFormats.begin(), kExportFormats.end(),
                                         [name](ExportFormat format) { return to_string(format) == name; });
  if (found == kExportFormats.end()) return std::nullopt;
  return *found;
}

bool is_binary(ExportFormat format) {
  return format == ExportFormat::perfetto || format == ExportFormat::pprof;
}

}  // namespace offwait
