// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/named_trace.h"

#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "model/validate.h"
#include "session/host_capacities.h"
#include "session/make_trace.h"
#include "session/object_names.h"
#include "session/stack_names.h"

namespace offwait {
namespace {

template <class Value>
void append(std::vector<Value>& to, std::vector<Value>& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<Trace> named_trace(NamedRecording recording, Symbolizer& symbols, std::vector<std::string>& notes,
                          KnownFrames* known) {
  KernelRecording& kernel = recording.kernel;
  recording.stacks = name_stacks(kernel.stacks, stacks_in_records(kernel), symbols, known);
  recording.devices = known_devices(kernel, notes);
  Trace trace = make_trace(recording);
  name_objects(trace, data_names(nameless_objects(trace), symbols));
  // All that follows relies on it.
  OFFWAIT_TRY_STATUS(validate(trace));
  return trace;
}

KernelRecording joined(std::vector<RecordingPart> parts) {
  if (parts.empty()) return {};
  KernelRecording all;
  const auto add = [&all](KernelRecording& part) {
    part.records.for_each(
        [&all](const auto& record) { all.records.append(std::as_bytes(std::span(&record, 1))); });
    for (auto& [id, file] : part.files) all.files.insert_or_assign(id, std::move(file));
    append(all.disk_counters, part.disk_counters);
    append(all.nic_counters, part.nic_counters);
  };
  KernelRecording whole = std::move(parts.back().kernel);
  parts.pop_back();
  for (RecordingPart& one : parts) {
    KernelRecording part = std::move(one.kernel);
    add(part);
  }
  add(whole);
  whole.records = std::move(all.records);
  whole.files = std::move(all.files);
  whole.disk_counters = std::move(all.disk_counters);
  whole.nic_counters = std::move(all.nic_counters);
  return whole;
}

}  // namespace offwait
