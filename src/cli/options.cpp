// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <utility>

#include "cli/version.h"
#include "report/escape.h"

namespace offwait {
namespace {

constexpr const char* kFooter = R"(Examples:
  offwait -p 1234 -d 30s              which wait limits process 1234? (Ctrl-C ends earlier, and still reports)
  offwait -p 1234 -d 30s --json r.json  the same, and everything as JSON
  offwait --container 4f1a -d 30s     a container, by the first characters of its id; --unit NAME, -c CGROUP
  offwait -a -d 10s                   the whole system
  offwait dump -p 1234 -d 10s -o w.txt  record only; analyse later or elsewhere:
  offwait report w.txt --explain      no kernel and no root needed; and why these knots
  offwait -- ./server --flags         run it, and record it from its exec on, until it exits or -d is over
  offwait calibrate /var/lib/mysql    measure the disk once, so that its capacity need not be assumed

Exit status: 0 a report was printed, 1 it could not be, 2 the command line is wrong; of a command that was run:
its own, 128 + the signal that it died of, 126 or 127 if it could not be run.)";

constexpr const char* kReportFooter = R"(Examples:
  offwait report w.txt                no kernel and no root needed
  offwait report w.txt --explain      and why these knots
  offwait report --json - w.txt | jq .knots)";

constexpr const char* kCalibrateFooter = R"(Examples:
  offwait calibrate /var/lib/mysql    reads and writes, on the disk that has this directory
  offwait calibrate /dev/nvme0n1      reads only

What is measured is stored in /var/lib/offwait. Other use of the disk meanwhile makes the numbers too low;
devices that were never written to may answer reads faster than they could if they had to look.)";

constexpr const char* kDoctorFooter =
    R"(Everything is found by trying: offwait records itself for a moment. Without privileges it says what could not be tried.

Exit status: 0 recording is possible, 1 it is not; the last line says why.)";

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

/// Processes: a list with commas.
Result<std::vector<std::int32_t>> parse_pids(std::string_view text) {
  constexpr std::size_t kMost = 1024;
  std::vector<std::int32_t> pids;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const Result<std::int32_t> pid = parse_id(text.substr(begin, end - begin));
    if (!pid) return pid.error();
    if (std::find(pids.begin(), pids.end(), *pid) != pids.end())
      return Error{"process " + std::to_string(*pid) + " is given twice"};
    pids.push_back(*pid);
    begin = end + 1;
  }
  if (pids.size() > kMost) return Error{"-p takes 1024 processes at most"};
  return pids;
}

/// How often to sample.
Result<std::uint32_t> parse_sample_hz(std::string_view text) {
  constexpr std::uint32_t kMost = 9999;
  std::uint32_t hz = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hz);
  if (error != std::errc{} || end != text.data() + text.size() || hz > kMost) {
    return Error{"bad rate '" + std::string(text) +
                 "': expected samples a second from 1 to 9999, or 0 for none"};
  }
  return hz;
}

/// How large a file `calibrate` writes.
Result<std::uint64_t> parse_size(std::string_view text) {
  const Error bad{"bad size '" + std::string(text) +
                  "': expected something like 256M or 1G, from 8M to 1000G"};
  std::uint64_t scale = 0;
  if (text.ends_with('M')) scale = 1'000'000;
  if (text.ends_with('G')) scale = 1'000'000'000;
  if (scale == 0) return bad;
  text.remove_suffix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::uint64_t kSmallest = 8'000'000;
  constexpr std::uint64_t kLargest = 1'000'000'000'000;
  if (error != std::errc{} || end != text.data() + text.size() || number > kLargest / scale ||
      number * scale < kSmallest) {
    return bad;
  }
  return number * scale;
}

Result<FoldedKind> parse_folded_kind(std::string_view text) {
  if (text == "off-cpu") return FoldedKind::off_cpu;
  if (text == "off-wake") return FoldedKind::off_wake;
  if (text == "on-cpu") return FoldedKind::on_cpu;
  return Error{"bad kind '" + std::string(text) + "': expected off-cpu, off-wake or on-cpu"};
}

Result<FoldedWeight> parse_folded_weight(std::string_view text) {
  if (text == "wait") return FoldedWeight::wait;
  if (text == "weight") return FoldedWeight::weight;
  return Error{"bad weight '" + std::string(text) + "': expected wait or weight"};
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
  app.add_option_function<std::string>(
         "-p,--pid",
         parse_into<std::vector<std::int32_t>>(
             parse_pids, [&options](std::vector<std::int32_t> pids) { options.pids = std::move(pids); }),
         "record these processes, and those that they create")
      ->type_name("PID[,PID...]");
  app.add_option_function<std::string>(
         "-t,--tid", parse_into<std::int32_t>(parse_id, [&options](std::int32_t id) { options.tid = id; }),
         "record this thread alone")
      ->type_name("TID");
  const auto name_into = [](std::string& option, const char* what) {
    return [&option, what](const std::string& name) {
      if (name.empty()) throw CLI::ValidationError(std::string("the name of a ") + what + " is empty");
      option = name;
    };
  };
  app.add_option_function<std::string>(
         "-c,--cgroup", name_into(options.cgroup, "cgroup"),
         "record what is in this cgroup (v2) and below it, as it comes and goes; its directory, or its name "
         "below the mount")
      ->type_name("PATH");
  app.add_option_function<std::string>("--unit", name_into(options.unit, "unit"),
                                       "record this unit of systemd, a service if it has no suffix")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--container", name_into(options.container, "container"),
         "record this container (Docker, Podman, Kubernetes, …): its id, or the first characters of it")
      ->type_name("ID");
  app.add_flag("-a,--all", options.all, "record the whole system");
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
      "--no-stacks", [&options] { options.stacks = false; },
      "record no stacks, and no samples: half of what recording costs");
  app.add_option_function<std::string>(
         "--sample-hz",
         parse_into<std::uint32_t>(parse_sample_hz, [&options](std::uint32_t hz) { options.sample_hz = hz; }),
         "how often to look, on each CPU, which code the recorded threads run (default 99; 0: never)")
      ->type_name("HZ");
  app.add_flag(
      "--java", options.java,
      "at the end have the target's JVMs write down what their compiled code is called (runs jcmd; JDK 17 "
      "or later)");
  app.add_flag("--debuginfod", options.debuginfod,
               "look for debug files with debuginfod-find, at the servers in DEBUGINFOD_URLS");
}

void add_analysis_options(CLI::App& app, Options& options) {
  app.add_option("--json", options.json,
                 "write everything as JSON; '-' is standard output, instead of the text")
      ->type_name("FILE");
  auto* folded = app.add_option("--folded", options.folded,
                                "write stacks for flamegraph.pl; '-' is standard output, instead of the text")
                     ->type_name("FILE");
  app.add_option_function<std::string>(
         "--folded-kind",
         parse_into<FoldedKind>(parse_folded_kind,
                                [&options](FoldedKind kind) { options.folded_kind = kind; }),
         "which stacks: where threads waited (off-cpu, default), where the one that they waited for woke "
         "them, too (off-wake), or where they ran (on-cpu)")
      ->type_name("off-cpu|off-wake|on-cpu")
      ->needs(folded);
  app.add_option_function<std::string>(
         "--folded-weight",
         parse_into<FoldedWeight>(parse_folded_weight,
                                  [&options](FoldedWeight weight) { options.folded_weight = weight; }),
         "count waits by how long they took (wait; default) or by their weight, which has what others waited "
         "behind them (weight), in microseconds")
      ->type_name("wait|weight")
      ->needs(folded);
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
  app.add_option("--comm", options.filter.comms,
                 "of the target only processes whose names match, as mysql*; its others count as outside; "
                 "may be given for "
                 "several")
      ->type_name("GLOB")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--threads", options.filter.threads,
                 "of the target only threads whose own names match, as worker*; may be given for several")
      ->type_name("GLOB")
      ->take_all()
      ->allow_extra_args(false);
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
  app.add_option_function<std::vector<std::string>>(
         "--nic-capacity",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             Result<NamedNicCapacity> parsed = parse_nic_capacity(text);
             if (!parsed) throw CLI::ValidationError(parsed.error().message);
             options.nic_capacities.push_back(std::move(parsed).value());
           }
         },
         "what a network interface can receive and send at most, e.g. eth0=10G or eth0=1G,100M; may be given "
         "for "
         "several")
      ->type_name("NAME=BITS/s[,BITS/s]")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--explain", options.explain,
               "show what was set aside or dropped on the way to the knots, and why");
}

void add_printing_options(CLI::App& app, Options& options) {
  app.add_flag("-v,--verbose", options.verbosity, "every edge, whole stacks");
  app.add_flag("--full-stacks", options.full_stacks,
               "show how threads are started, and how libraries wait and wake inside, too");
  app.add_flag("-q,--quiet", options.quiet, "no progress and no notes");
}

/// How many words stand before the `--` of a command to record; all if there is none. (Before what else is no
/// option, as in `report -- FILE`, it is CLI11's business.)
int words_before_command(int argc, const char* const* argv) {
  const auto word = [argv](int at) { return std::string_view(argv[at]); };
  if (argc < 2 || (!word(1).starts_with('-') && word(1) != "dump")) return argc;
  for (int at = 1; at < argc; ++at) {
    if (word(at) == "--") return at;
  }
  return argc;
}

/// Of offwait itself CLI11 knows all but the command after `--`.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (app->get_parent() != nullptr) return usage;
    return usage + "       offwait [OPTIONS] -- COMMAND [ARGUMENT]...\n";
  }
};

}  // namespace

std::variant<Options, Exit> parse_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app(
      "Which wait limits a running program? Records who waits for whom and prints the knots of the wait-for "
      "graph:\n"
      "the waits of which at least one must be improved before throughput can rise.",
      "offwait");
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
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

  CLI::App* calibrate =
      app.add_subcommand("calibrate", "measure what a disk can do at most, for the recordings to come on it");
  calibrate
      ->add_option(
          "DEVICE|PATH", options.input,
          "a block device, which is only read; or a directory (or a file in it) on the disk, where a file is "
          "written, read and removed")
      ->required();
  calibrate
      ->add_option_function<std::string>(
          "-d,--duration",
          parse_into<Nanos>(parse_duration, [&options](Nanos duration) { options.duration = duration; }),
          "of each measurement (default 3s); there are 2 on a device, 4 on a path")
      ->type_name("TIME");
  calibrate
      ->add_option_function<std::string>(
          "--size",
          parse_into<std::uint64_t>(parse_size,
                                    [&options](std::uint64_t size) { options.file_bytes = size; }),
          "of the file on a path (default 1G); as much must remain free")
      ->type_name("BYTES");
  calibrate->add_flag("-q,--quiet", options.quiet, "do not say what will be done");
  calibrate->footer(kCalibrateFooter);

  CLI::App* doctor =
      app.add_subcommand("doctor", "say what this host allows of recording, and what to do about the rest");
  doctor->add_flag_callback(
      "--json", [&options] { options.json = "-"; }, "as JSON");
  doctor->footer(kDoctorFooter);
  app.require_subcommand(0, 1);

  const int own_argc = words_before_command(argc, argv);
  if (own_argc < argc) options.command_line.assign(argv + own_argc + 1, argv + argc);

  const auto usage = [](const std::string& what) {
    return Exit{2, "offwait: " + escape(what) + " (see offwait --help)\n"};
  };
  try {
    app.parse(own_argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Exit{0, app.help()};  // of the subcommand, if there is one
  } catch (const CLI::CallForVersion&) {
    return Exit{0, std::string("offwait ") + kVersion + "\n"};
  } catch (const CLI::ExtrasError& error) {
    if (app.get_subcommands().empty()) {
      for (const std::string& word : app.remaining()) {
        if (!word.starts_with('-'))
          return usage("unexpected '" + word + "': to run a program and record it, write -- before it");
      }
    }
    return usage(error.what());
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
  if (options.json == "-" && options.folded == "-") {
    return usage("--json - and --folded - both want standard output: write one of them to a file");
  }
  if (*report) {
    options.command = Command::report;
    return options;
  }
  if (*calibrate) {
    options.command = Command::calibrate;
    return options;
  }
  if (*doctor) {
    options.command = Command::doctor;
    return options;
  }
  if (*dump) options.command = Command::dump;
  const bool command = own_argc < argc;
  std::vector<std::string> targets;
  if (!options.pids.empty()) targets.emplace_back("-p");
  if (options.tid != 0) targets.emplace_back("-t");
  if (!options.cgroup.empty()) targets.emplace_back("-c");
  if (!options.unit.empty()) targets.emplace_back("--unit");
  if (!options.container.empty()) targets.emplace_back("--container");
  if (options.all) targets.emplace_back("-a");
  if (command) targets.emplace_back("-- COMMAND");
  if (targets.empty())
    return usage(
        "say what to record: -p PID, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  if (targets.size() > 1)
    return usage(targets[0] + " and " + targets[1] + " each say what to record: choose one");
  if (command && options.command_line.empty()) return usage("-- is followed by the command to record");
  if (command && *dump && dump->get_option("--output")->empty())
    return usage("standard output is the command's: say where the waits are to go with -o FILE");
  return options;
}

}  // namespace offwait
