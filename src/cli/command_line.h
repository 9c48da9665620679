// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace offwait::cli {

/// The commands as CLI11 knows them, and where their values go.
struct CommandLine {
  CommandLine();

  CLI::App app{"", "offwait"};
  ProfileOptions profile;
  RecordOptions record;
  TopOptions top;
  ReportOptions report;
  DiffOptions diff;
  DumpOptions dump;
  ExportOptions exporting;
  CalibrateOptions calibrate;
  DoctorOptions doctor;

 private:
  CLI::App& add_command(const char* name, const char* description);
  void add_record();
  void add_flight();
  void add_top();
  void add_diff();
  void add_export();
};

}  // namespace offwait::cli
