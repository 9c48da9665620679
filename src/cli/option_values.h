// SPDX-License-Identifier: GPL-2.0-or-later
// What stands after an option, as values. Each error is a sentence that quotes the text as it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/stack_sums.h"
#include "base/nanos.h"
#include "base/result.h"
#include "cli/options.h"
#include "export/formats.h"
#include "model/cut.h"
#include "model/trace.h"
#include "progress/progress.h"
#include "report/views.h"
#include "session/flight_triggers.h"
#include "session/recording_options.h"

namespace offwait::cli {

/// The number of a process or thread, from 1 to 2147483647.
Result<std::int32_t> parse_id(std::string_view text);

/// Processes by their numbers, and by their names.
struct GivenProcesses {
  std::vector<std::int32_t> pids;
  std::vector<std::string> names;  ///< what does not begin like a number
};

/// What stands after -p: each text is a list with commas, or numbers with blanks, as pidof prints them. At
/// most 1024, none of them twice.
Result<GivenProcesses> parse_processes(const std::vector<std::string>& texts);

/// The number after -t.
Result<std::int32_t> parse_tid(std::string_view text);

/// Samples per second, from 0 to 9999.
Result<std::uint32_t> parse_sample_hz(std::string_view text);

/// `3%`, `0.5%` or `3`: a part, here 0.03. `off` is 0. Other values are from 0.001% to 100%.
Result<double> parse_overhead(std::string_view text);

/// `/10s`: every ten seconds by the wall clock, counted from midnight UTC. Whole seconds, from 1 s to 24 h.
Result<Nanos> parse_start_at(std::string_view text);

/// `256M`, `1G`: bytes, from 8 MB to 1000 GB.
Result<std::uint64_t> parse_size(std::string_view text);
/// `900k`, `5M`: bytes, for --html-size.
Result<std::uint64_t> parse_page_size(std::string_view text);

/// `off-cpu`, `off-wake` or `on-cpu`.
Result<StackKind> parse_folded_kind(std::string_view text);

/// `wait` or `weight`.
Result<StackMeasure> parse_folded_weight(std::string_view text);

/// One of kExportFormatNames.
Result<ExportFormat> parse_export_format(std::string_view text);

/// `always`, `never` or `auto`.
Result<ColorChoice> parse_color(std::string_view text);

/// Columns, from 60 to 1000.
Result<int> parse_width(std::string_view text);
/// Lines, from 12 to 1000.
Result<int> parse_height(std::string_view text);

/// `functions` or `threads`.
Result<View> parse_view(std::string_view text);

/// What --progress says: patterns as `GLOB`, or as `comm:GLOB`, which --what-if has; or `end` alone.
Result<ProgressOptions> parse_progress(const std::vector<std::string>& texts);

/// `FUNCTION` or `MODULE:FUNCTION`; the colons of `ns::Class::function` belong to the function.
Result<CountedFunction> parse_counted(std::string_view text);

/// `KEY=VALUE`; the key is not empty.
Result<Label> parse_label(std::string_view text);

/// The length of a flight, from 1s to 1h.
Result<Nanos> parse_flight(std::string_view text);

/// A number of files, from 1 to 10000.
Result<std::size_t> parse_keep(std::string_view text);

/// `runnable>50%` (running, blocked), `wait>500ms`, `wait:CLASS>500ms`.
Result<FlightTrigger> parse_trigger(std::string_view text);

/// `30s..40s`, `30s..` or `..40s`: the later is larger. Either may be a time by the wall clock: `13:09`,
/// `13:09:12.5`, `13:09:12Z`, `2026-11-23T13:09:12`.
Result<TracePart> parse_window(std::string_view text);

/// The length of the end of a recording.
Result<TracePart> parse_last(std::string_view text);

/// `LOCK` or `LOCK,UNLOCK`.
Result<SpinFunction> parse_spin(std::string_view text);

}  // namespace offwait::cli
