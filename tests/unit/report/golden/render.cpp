// SPDX-License-Identifier: GPL-2.0-or-later
// render TRACE OUTPUT [--json] [--functions|--threads|--files] [-v] [--explain] [--ascii] [--color]
// [--no-merge]
// [--width N]: what the analysis of a text trace looks like, without the command line of offwait.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "analysis/analyse.h"
#include "report/json.h"
#include "report/text.h"
#include "report/views.h"
#include "trace/text.h"

using namespace offwait;

int main(int argc, char** argv) {
  if (argc < 3) {
    (void)std::fputs("render TRACE OUTPUT [options]\n", stderr);
    return 2;
  }
  AnalysisOptions options;
  TextStyle style;
  bool json = false;
  std::optional<View> view;
  for (int i = 3; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      json = true;
      options.views = true;
      options.function_gains = true;
    } else if (option == "--functions" || option == "--threads" || option == "--files") {
      view = option == "--threads" ? View::threads : option == "--files" ? View::files : View::functions;
      options.views = true;
      options.function_gains = view == View::functions;
    } else if (option == "-v") {
      style.verbosity = 1;
    } else if (option == "--explain") {
      style.explain = true;
    } else if (option == "--ascii") {
      style.charset = Charset::ascii;
    } else if (option == "--color") {
      style.color = true;
    } else if (option == "--no-merge") {
      options.merge = false;
    } else if (option == "--keep-false-wakeups") {
      options.keep_false_wakeups = true;
    } else if (option == "--width" && i + 1 < argc) {
      style.width = static_cast<int>(std::strtol(argv[++i], nullptr, 10));
    } else {
      (void)std::fprintf(stderr, "render: unknown option %s\n", option.c_str());
      return 2;
    }
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Result<Trace> trace = parse_text(text, argv[1]);
  if (!trace.ok()) {
    (void)std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 1;
  }
  const Result<Findings> findings = analyse(*trace, options);
  if (!findings.ok()) {
    (void)std::fprintf(stderr, "%s\n", findings.error().message.c_str());
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary);
  out << (json ? to_json(*findings) : view ? to_text(*findings, *view, style) : to_text(*findings, style));
  return out.flush() ? 0 : 1;
}
