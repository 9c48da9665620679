// SPDX-License-Identifier: GPL-2.0-or-later
// recorded_twice PID SECONDS FILE TEXT: records a process once and keeps the recording in two ways: as a
// recording file, as 'offwait record' does, and in memory, as offwait does without it. The latter is written
// to TEXT in the text form. Prints the number of bytes of the file for each wait.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "capture/recorder.h"
#include "event/syscalls.h"
#include "recording_file/recording_writer.h"
#include "session/host_capacities.h"
#include "session/make_trace.h"
#include "session/object_names.h"
#include "session/stack_names.h"
#include "trace/text.h"

using namespace offwait;

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "recorded_twice: %s\n", what.c_str());
  std::exit(1);
}

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) fail(result.error().message);
  return std::move(result).value();
}

/// Puts the parts together that the file gets one by one.
void add(const KernelRecording& part, KernelRecording& whole) {
  part.records.for_each([&whole](const auto& record) {
    if (!whole.records.append(std::as_bytes(std::span(&record, 1)))) fail("a record is not taken");
  });
  for (const auto& [id, file] : part.files) whole.files.insert_or_assign(id, file);
  whole.disk_counters.insert(whole.disk_counters.end(), part.disk_counters.begin(), part.disk_counters.end());
  whole.nic_counters.insert(whole.nic_counters.end(), part.nic_counters.begin(), part.nic_counters.end());
  std::map programs_of(whole.program_of.begin(), whole.program_of.end());
  for (const auto& [thread, program] : part.program_of) programs_of.insert_or_assign(thread, program);
  whole.program_of.assign(programs_of.begin(), programs_of.end());
  for (const auto& [thread, cpus] : part.allowed_cpus) whole.allowed_cpus.insert_or_assign(thread, cpus);
}

class RecordedTwice {
 public:
  RecordedTwice(Recorder recorder, UniqueFd file)
      : recorder_(std::move(recorder)), writer_(std::move(file), "file") {}

  void record(int seconds) {
    recorder_.begin();
    about_.target = "twice";
    about_.architecture = native_architecture();
    value_of(writer_.begin(about_));
    writer_.read_with([this](std::span<const std::uint32_t> ids) { return recorder_.stacks(ids); }, {});
    writer_.start();
    for (int tenth = 1; tenth <= 10 * seconds; ++tenth) {
      ::usleep(100'000);
      value_of(recorder_.drain());
      note_mappings();
      if (tenth % 10 != 0) continue;
      const bool tables = tenth % 20 == 0;
      RecordingPart part{value_of(recorder_.take(tables ? Taken::tables : Taken::records)), tables,
                         std::move(mappings_)};
      mappings_.clear();
      if (tables) recorder_.forget_taken();
      add(part.kernel, in_memory_.kernel);
      writer_.add(std::move(part));
    }
  }

  void finish(const char* text) {
    RecordingPart last{value_of(recorder_.stop()), true, {}};
    note_mappings();
    last.mappings = std::move(mappings_);
    value_of(writer_.stop());
    value_of(writer_.write(last));

    KernelRecording kernel = std::move(in_memory_.kernel);
    add(last.kernel, kernel);
    last.kernel.records = std::move(kernel.records);
    last.kernel.files = std::move(kernel.files);
    last.kernel.disk_counters = std::move(kernel.disk_counters);
    last.kernel.nic_counters = std::move(kernel.nic_counters);
    last.kernel.program_of = std::move(kernel.program_of);
    last.kernel.allowed_cpus = std::move(kernel.allowed_cpus);
    in_memory_.kernel = std::move(last.kernel);
    std::vector<std::string> notes;
    in_memory_.about = about_;
    in_memory_.devices = known_devices(in_memory_.kernel, notes);
    in_memory_.stacks = name_stacks(in_memory_.kernel.stacks, stacks_in_records(in_memory_.kernel), symbols_);
    // The file has the names that 'offwait record' asks for: it has no trace to look for nameless objects.
    std::vector<DataAddress> locks;
    for (const auto& [tgid, address] : writer_.references().locks.places()) locks.push_back({tgid, address});
    value_of(writer_.finish(name_stacks(in_memory_.kernel.stacks, writer_.references().in_records, symbols_),
                            data_names(locks, symbols_), in_memory_.devices));

    Trace trace = make_trace(in_memory_);
    name_objects(trace, data_names(nameless_objects(trace), symbols_));
    std::FILE* const out = std::fopen(text, "we");
    if (out == nullptr) fail("cannot write the text");
    value_of(write_text(trace, out));
    std::fclose(out);
    std::printf("%.2f bytes a wait, %zu waits\n",
                static_cast<double>(writer_.size()) / static_cast<double>(trace.waits.size()),
                trace.waits.size());
  }

 private:
  void note_mappings() {
    for (AddressSpace& space : recorder_.take_mappings(AddressSpaces::Copies::with_mappings)) {
      symbols_.note_mappings(space);
      mappings_.push_back(std::move(space));
    }
  }

  Recorder recorder_;
  RecordingWriter writer_;
  Symbolizer symbols_;
  AboutRecording about_;
  NamedRecording in_memory_;
  std::vector<AddressSpace> mappings_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  CaptureOptions options;
  options.tgids = {std::atoi(argv[1])};  // NOLINT(cert-err34-c)
  UniqueFd file(::open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) fail("cannot write the file");
  Priority priority;
  RecordedTwice twice(value_of(Recorder::attach(options, priority)), std::move(file));
  twice.record(std::atoi(argv[2]));  // NOLINT(cert-err34-c)
  twice.finish(argv[4]);
}
