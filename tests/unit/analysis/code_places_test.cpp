// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "analysis/samples.h"
#include "trace/text.h"

using namespace offwait;

namespace {

/// `COUNT STACK` a sample group: frames innermost first, as a text trace has them.
struct Sampled {
  int count = 0;
  std::string stack;
};

Trace trace_of(const std::vector<Sampled>& all) {
  std::string text = "offwait-waits 1\nwindow 0 1000000000\n";
  int at = 0;
  for (const Sampled& one : all) {
    for (int i = 0; i < one.count; ++i) text += fmt::format("on_cpu 1 at={} stack={}\n", ++at, one.stack);
  }
  Result<Trace> trace = parse_text(text, "samples");
  REQUIRE(trace.ok());
  return std::move(*trace);
}

FoundSamples found_in(const Trace& trace) {
  std::vector<StackSamples> sums(trace.stacks.size());
  for (StackId id = 0; id < sums.size(); ++id) sums[id].stack = id;
  for (const CpuSample& sample : trace.cpu_samples) ++sums[sample.stack].samples;
  return sum_places(trace, sampled_code(trace), sums);
}

std::vector<std::string> functions(const Backtrace& stack) {
  std::vector<std::string> out;
  for (const Frame& frame : stack.frames) out.push_back(frame.function);
  return out;
}

}  // namespace

TEST_CASE("Code places: the system call that has the share, and not the kernel function of one stack") {
  std::vector<Sampled> all;
  for (int i = 0; i < 60; ++i) {
    all.push_back(
        {1, fmt::format("kernel{}+0x1;__x64_sys_write+0x1;--;write+0x1%20(libc.so.6);reply+0x1%20(s);"
                        "loop+0x1%20(s);main+0x1%20(s)",
                        i)});
  }
  all.push_back({30, "work+0x1%20(s);loop+0x1%20(s);main+0x1%20(s)"});
  all.push_back({10, "other+0x1%20(s);loop+0x1%20(s);main+0x1%20(s)"});
  const FoundSamples found = found_in(trace_of(all));
  CHECK(found.stacks.size() == kMostSampledStacks);
  REQUIRE(found.places.size() == 2);
  CHECK(functions(found.places[0].stack) == std::vector<std::string>{"write", "reply", "loop", "main"});
  CHECK(found.places[0].share == Approx(0.6));
  CHECK(found.places[0].samples == 60);
  CHECK(found.places[0].kernel == Approx(1));
  CHECK(found.places[0].entered_by == "write");
  CHECK(functions(found.places[1].stack).front() == "work");
  CHECK(found.places[1].share == Approx(0.3));
}

TEST_CASE("Code places: spread where no function below the roots has a fifth") {
  std::vector<Sampled> all;
  for (int i = 0; i < 1200; ++i) {
    all.push_back({1, fmt::format("leaf{}+0x1%20(cc);pass{}+0x1%20(cc);compile+0x1%20(cc);main+0x1%20(cc)", i,
                                  i % 10)});
  }
  const FoundSamples found = found_in(trace_of(all));
  CHECK(found.stacks_known == 1200);
  CHECK(found.places.empty());
  CHECK(found.spread);
  REQUIRE(found.spread_below);
  CHECK(found.spread_below->function == "compile");
  // One of the passes takes a third, in hundreds of stacks that are one sample each.
  for (int i = 0; i < 600; ++i) {
    all.push_back({1, fmt::format("leaf{}+0x2%20(cc);hot+0x1%20(cc);compile+0x1%20(cc);main+0x1%20(cc)", i)});
  }
  const FoundSamples hot = found_in(trace_of(all));
  CHECK_FALSE(hot.spread);
  REQUIRE(hot.places.size() == 1);
  CHECK(hot.places[0].stack.frames.front().function == "hot");
  CHECK(hot.places[0].share == Approx(1.0 / 3));
}

TEST_CASE("Code places: work of its own, and a function without a name") {
  const FoundSamples own = found_in(
      trace_of({{8, "work+0x1%20(s);main+0x1%20(s)"}, {2, "x+0x1%20(s);work+0x1%20(s);main+0x1%20(s)"}}));
  REQUIRE_FALSE(own.places.empty());
  CHECK(own.places[0].stack.frames.front().function == "work");
  CHECK(own.places[0].share == Approx(1));
  CHECK(own.places[0].own == Approx(0.8));
  const FoundSamples library = found_in(
      trace_of({{7, "[libz.so.1+0x10]+0x1;deflate+0x1%20(libz.so.1);compress+0x1%20(s);main+0x1%20(s)"},
                {3, "y+0x1%20(s);main+0x1%20(s)"}}));
  REQUIRE(library.places.size() == 2);
  CHECK(library.places[0].stack.frames.front().function == "deflate");
}

TEST_CASE("Samples where interrupts come on again belong to the caller") {
  const FoundSamples found = found_in(trace_of(
      {{3, "_raw_spin_unlock_irqrestore+0x1%20([kernel]);wake+0x1%20([kernel]);worker+0x1%20([kernel])"},
       {2, "wake+0x1%20([kernel]);worker+0x1%20([kernel])"}}));
  CHECK(found.stacks_known == 1);
  REQUIRE(found.places.size() == 1);
  CHECK(found.places[0].stack.frames.front().function == "wake");
  CHECK(found.places[0].share == Approx(1));
}
