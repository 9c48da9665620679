// SPDX-License-Identifier: GPL-2.0-or-later
// The options of `offwait top`.
#include "cli/command_line.h"
#include "cli/option_adders.h"
#include "cli/option_values.h"

namespace offwait::cli {

void CommandLine::add_top() {
  CLI::App& command = add_command("top", "show what a program waits for, while it happens");
  top.recording.max_overhead = kTopOverhead;
  add_target_options(command, top.recording.target);
  command
      .add_option_function<std::string>("-d,--duration", into(top.recording.duration, parse_duration),
                                        "end after this time, as 90s or 1m30s; with --once, record for so "
                                        "long (default 10s)")
      ->type_name("TIME")
      ->group("Recording");
  command
      .add_option_function<std::string>(
          "--max-overhead", into(top.recording.max_overhead, parse_overhead),
          "what recording and analyses together may take of the time of all CPUs (default 5%; off: no "
          "limit); to keep to it, stacks of short waits are left out by chance, and analyses are made more "
          "seldom")
      ->type_name("PERCENT|off")
      ->group("Recording");
  command
      .add_option_function<std::string>("--replay", name_into(top.replay, "file"),
                                        "show this recording in place of a target, at the pace at which it "
                                        "was made")
      ->type_name("FILE")
      ->group("Replay");
  command
      .add_option_function<std::string>("--at", into(top.at, parse_duration),
                                        "begin at this time of the recording, as 30s; with --once, show the "
                                        "screen of this time (default: of its end)")
      ->type_name("TIME")
      ->group("Replay");
  add_counted_option(command, top.recording);
  add_progress_option(command, top.analysis);
  command.add_flag("--once", top.once, "print one screen as text, and end")->group("Output");
  command.add_flag("--batch", top.batch, "print a line each second")->group("Output");
  add_look_options(command, top.look);
  command
      .add_option_function<std::string>("--height", into(top.height, parse_height),
                                        "how many lines the screen has (default: the terminal, or 40)")
      ->type_name("LINES")
      ->group("Output");
  add_help(command, kTopHelp);
}

}  // namespace offwait::cli
