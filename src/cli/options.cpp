// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <utility>

#include "cli/version.h"
#include "report/escape.h"

namespace offwait {
namespace {

constexpr const char* kFooter = R"(Examples:
  offwait -p 1234 -d 30s              which wait limits process 1234? (Ctrl-C ends earlier, and still reports)
  offwait -p 1234 -d 30s --json r.json  the same, and everything as JSON
  offwait dump -p 1234 -d 10s -o w.txt  record only; analyse later or elsewhere:
  offwait report w.txt --explain      no kernel and no root needed; and why these knots

Exit status: 0 a report was printed, 1 it could not be, 2 the command line is wrong.)";

constexpr const char* kReportFooter = R"(Examples:
  offwait report w.txt                no kernel and no root needed
  offwait report w.txt --explain      and why these knots
  offwait report --json - w.txt | jq .knots)";

constexpr const char* kDumpFooter = R"(Examples:
  offwait dump -p 1234 -d 10s -o w.txt
  offwait dump -p 1234 -d 10s | ssh desk offwait report -)";

/// What a PID or TID on the command line must be.
Result<std::int32_t> parse_id(std::string_view text) {
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id <= 0) {
    return Error{"bad number of a process or thread '" + std::string(text) +
                 "': expected a whole number from 1 to 2147483647"};
  }
  return id;
}

/// A CLI11 validator out of one of our parsers: CLI11 reports the parser's own sentence.
template <class T>
std::function<void(const std::string&)> parse_into(Result<T> (*parse)(std::string_view),
                                                   std::function<void(T)> store) {
  return [parse, store = std::move(store)](const std::string& text) {
    Result<T> parsed = parse(text);
    if (!parsed) throw CLI::ValidationError(parsed.error().message);
    store(std::move(parsed).value());
  };
}

void add_recording_options(CLI::App& app, Options& options) {
  auto* pid = app.add_option_function<std::string>(
                     "-p,--pid",
                     parse_into<std::int32_t>(parse_id, [&options](std::int32_t id) { options.pid = id; }),
                     "record this process, and the processes it creates")
                  ->type_name("PID");
  app.add_option_function<std::string>(
         "-t,--tid", parse_into<std::int32_t>(parse_id, [&options](std::int32_t id) { options.tid = id; }),
         "record this thread alone")
      ->type_name("TID")
      ->excludes(pid);
  app.add_option_function<std::string>(
         "-d,--duration",
         parse_into<Nanos>(parse_duration, [&options](Nanos duration) { options.duration = duration; }),
         "how long: 90, 90s, 1m30s, 500ms; until Ctrl-C or the target's exit if left out")
      ->type_name("TIME");
  app.add_option_function<std::vector<std::string>>(
         "--spin",
         [&options](const std::vector<std::string>& texts) {
           constexpr std::size_t kMost = 8;
           if (texts.size() > kMost) throw CLI::ValidationError("--spin may be given 8 times");
           for (const std::string& text : texts) {
             const std::size_t comma = text.find(',');
             SpinFunction spin{text.substr(0, comma),
                               comma == std::string::npos ? "" : text.substr(comma + 1)};
             if (spin.lock.empty() || text.ends_with(',') || spin.unlock.find(',') != std::string::npos) {
               throw CLI::ValidationError("bad --spin '" + text +
                                          "': expected FUNCTION, or LOCK,UNLOCK for the two of a lock");
             }
             options.spins.push_back(std::move(spin));
           }
         },
         "the time in this function of the target is busy waiting: for the thread that last called UNLOCK on "
         "the "
         "same first argument, or, without UNLOCK, got through before; may be given for several")
      ->type_name("LOCK[,UNLOCK]")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag_callback(
      "--no-stacks", [&options] { options.stacks = false; }, "record no stacks: several times cheaper");
}

void add_analysis_options(CLI::App& app, Options& options) {
  app.add_option("--json", options.json,
                 "write everything as JSON; '-' is standard output, instead of the text")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--min-weight",
         parse_into<Threshold>(parse_threshold,
                               [&options](Threshold threshold) { options.min_weight = threshold; }),
         "keep edges of this weight when a knot is refined: part of the window or time (default 20%)")
      ->type_name("PART");
  app.add_option_function<std::string>(
         "--noise",
         parse_into<Threshold>(parse_threshold,
                               [&options](Threshold threshold) { options.noise = threshold; }),
         "set edges under this weight aside (default 1%)")
      ->type_name("PART");
  app.add_flag_callback(
      "--no-merge", [&options] { options.merge = false; }, "keep similar threads apart");
  app.add_flag("--keep-false-wakeups", options.keep_false_wakeups,
               "wakeups after which a thread waits again at once for the same futex count like others");
  app.add_option_function<std::vector<std::string>>(
         "--disk-capacity",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             Result<NamedCapacity> parsed = parse_capacity(text);
             if (!parsed) throw CLI::ValidationError(parsed.error().message);
             options.disk_capacities.push_back(std::move(parsed).value());
           }
         },
         "what a disk can do at most, e.g. vda=500M,50k; may be given for several disks")
      ->type_name("NAME=BYTES/s,IO/s")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--explain", options.explain,
               "show what was set aside or dropped on the way to the knots, and why");
}

void add_printing_options(CLI::App& app, Options& options) {
  app.add_flag("-v,--verbose", options.verbosity, "every edge, whole stacks");
  app.add_flag("-q,--quiet", options.quiet, "no progress and no notes");
}

}  // namespace

std::variant<Options, Exit> parse_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app(
      "Which wait limits a running program? Records who waits for whom and prints the knots of the wait-for "
      "graph:\n"
      "the waits of which at least one must be improved before throughput can rise.",
      "offwait");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("offwait ") + kVersion);
  add_recording_options(app, options);
  add_analysis_options(app, options);
  add_printing_options(app, options);

  CLI::App* report = app.add_subcommand(
      "report", "analyse waits written by 'offwait dump', or by hand ('offwait-waits 1' text)");
  report->add_option("FILE", options.input, "the waits; '-' is standard input")->required();
  add_analysis_options(*report, options);
  add_printing_options(*report, options);
  report->footer(kReportFooter);

  CLI::App* dump = app.add_subcommand("dump", "record, and write the waits as text for 'offwait report'");
  add_recording_options(*dump, options);
  dump->add_option("-o,--output", options.output, "where to; '-' (default) is standard output")
      ->type_name("FILE");
  dump->add_flag("-q,--quiet", options.quiet, "no progress and no notes");
  dump->footer(kDumpFooter);
  app.require_subcommand(0, 1);

  const auto usage = [](const std::string& what) {
    return Exit{2, "offwait: " + escape(what) + " (see offwait --help)\n"};
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    // A subcommand's --help shows that subcommand.
    for (const CLI::App* subcommand : app.get_subcommands()) return Exit{0, subcommand->help()};
    return Exit{0, app.help()};
  } catch (const CLI::CallForVersion&) {
    return Exit{0, std::string("offwait ") + kVersion + "\n"};
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }
  for (const CLI::App* subcommand : app.get_subcommands()) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0) {
        return usage(option->get_name() + " stands before " + subcommand->get_name() +
                     ", whose options stand after it");
      }
    }
  }
  if (*report) {
    options.command = Command::report;
    return options;
  }
  if (*dump) options.command = Command::dump;
  if (options.pid == 0 && options.tid == 0) return usage("say what to record: -p PID or -t TID");
  return options;
}

}  // namespace offwait
