// SPDX-License-Identifier: GPL-2.0-or-later
// Writes traces as text and reads them back, for the unit tests of the writer.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "model/trace.h"
#include "trace/text.h"

namespace offwait {

/// The text of a trace. The test fails if it cannot be written.
inline std::string written(const Trace& trace) {
  char* data = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&data, &size);
  REQUIRE(file != nullptr);
  const Status status = write_text(trace, file);
  REQUIRE(std::fclose(file) == 0);
  std::string text(data, size);
  std::free(data);  // NOLINT(*-no-malloc)
  INFO((status.ok() ? "" : status.error().message));
  REQUIRE(status.ok());
  return text;
}

/// The trace of a text. The test fails if it cannot be read.
inline Trace read_back(const std::string& text) {
  Result<Trace> trace = parse_text(text, "t");
  INFO((trace.ok() ? "" : trace.error().message));
  REQUIRE(trace.ok());
  return *std::move(trace);
}

inline Actor thread(std::int32_t tid, const std::string& name, Nanos start = 0, Nanos exit = kNever) {
  Actor actor;
  actor.name = name;
  actor.tid = tid;
  actor.tgid = 10;
  actor.start = start;
  actor.exit = exit;
  actor.seen = std::max<Nanos>(start, 0);
  return actor;
}

inline Actor device(ActorKind kind, const std::string& name) {
  Actor actor;
  actor.kind = kind;
  actor.name = name;
  return actor;
}

inline Frame kernel_frame(const std::string& function) {
  return {.function = function, .offset = 16, .module = "[kernel]", .kind = Frame::Kind::kernel};
}

}  // namespace offwait
