// SPDX-License-Identifier: GPL-2.0-or-later
// How options are declared: what the files of the command line share (command_line*.cpp).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "cli/help.h"
#include "cli/options.h"

namespace offwait::cli {

using Texts = std::vector<std::string>;

/// Hands what `parse` makes of an option's value to `target`. A value that is wrong ends parsing with the
/// sentence of the parser.
template <class T, class Target>
std::function<void(const std::string&)> into(Target& target, Result<T> (*parse)(std::string_view)) {
  return [&target, parse](const std::string& text) {
    Result<T> parsed = parse(text);
    if (!parsed) throw CLI::ValidationError(parsed.error().message);
    target = std::move(parsed).value();
  };
}

/// The same for an option that may be given several times.
template <class T>
std::function<void(const Texts&)> into_list(std::vector<T>& list, Result<T> (*parse)(std::string_view)) {
  return [&list, parse](const Texts& texts) {
    for (const std::string& text : texts) {
      Result<T> parsed = parse(text);
      if (!parsed) throw CLI::ValidationError(parsed.error().message);
      list.push_back(std::move(parsed).value());
    }
  };
}

/// Checks that `what` has a name, because a shell's variable may be empty.
inline std::function<void(const std::string&)> name_into(std::string& name, const char* what) {
  return [&name, what](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError(fmt::format("the name of a {} is empty", what));
    name = text;
  };
}

/// An option whose values accumulate: each time it takes one word.
inline CLI::Option* repeated(CLI::Option* option) { return option->take_all()->allow_extra_args(false); }

void add_target_options(CLI::App& app, TargetOptions& target);
/// --color and --width.
void add_look_options(CLI::App& app, LookOptions& look);
/// The option that says which progress counts.
void add_progress_option(CLI::App& app, AnalysisOptions& analysis);
/// The function whose calls count.
void add_counted_option(CLI::App& app, RecordingOptions& recording);
void add_help(CLI::App& app, const HelpText& text);

}  // namespace offwait::cli
