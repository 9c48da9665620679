// SPDX-License-Identifier: GPL-2.0-or-later
// What the programs that write recording files have in common.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include <fcntl.h>

#include "recording_file/recording_writer.h"

namespace offwait {

/// What is said of the recording of a process on a host with so many CPUs.
inline AboutRecording about_process(std::uint32_t cpus) {
  AboutRecording about;
  about.target = "pid 100";
  about.start_time = "2026-01-01T00:00:00Z";
  about.kernel = "6.1";
  about.cpus = cpus;
  about.architecture = native_architecture();
  return about;
}

void append(RecordingPart& part, const auto& record) {
  part.kernel.records.append(std::as_bytes(std::span(&record, 1)));
}

/// main() of a program with the arguments FILE NUMBER [SECONDS]. `usage` is a line that names them.
/// Writer(file, name, number, seconds).write() writes the recording.
template <class Writer>
int write_file(int argc, char** argv, const char* usage, std::uint64_t default_seconds) {
  const std::uint64_t number = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::uint64_t seconds = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : default_seconds;
  if (number == 0 || seconds == 0) {
    std::fprintf(stderr, "usage: %s\n", usage);
    return 2;
  }
  UniqueFd file(::open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) {
    std::perror(argv[1]);
    return 1;
  }
  const Status written = Writer(std::move(file), argv[1], number, seconds).write();
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}

}  // namespace offwait
