// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/stack_names.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

#include "process/mapped_files.h"

namespace offwait {
namespace {

using NameList = std::vector<std::string>;
using Addresses = std::vector<std::uint64_t>;

constexpr std::uint64_t kKernel = 0xffffffff81000000;
constexpr std::uint64_t kSchedule = kKernel + 0x10;
constexpr std::uint64_t kTrampoline = kKernel + 0x110;
constexpr std::uint64_t kProgram = kKernel + 0x210;
constexpr std::uint64_t kWrite = kKernel + 0x310;
constexpr std::uint64_t kSchedIn = kKernel + 0x410;
constexpr std::uint64_t kFinish = kKernel + 0x510;
constexpr std::uint64_t kTracer = kKernel + 0x610;
constexpr const char* kSymbols =
    "ffffffff81000000 T __schedule\n"
    "ffffffff81000100 T __traceiter_sched_switch\n"
    "ffffffff81000200 t bpf_prog_0123456789abcdef_on_sched_switch [bpf]\n"
    "ffffffff81000300 T vfs_write\n"
    "ffffffff81000400 T __perf_event_task_sched_in\n"
    "ffffffff81000500 t finish_task_switch.isra.0\n"
    "ffffffff81000600 t bpf_trampoline_6442527110 [bpf]\n"
    "ffffffff81000700 T beyond\n";

void add_stack(KernelRecording& recording, std::uint32_t id, std::uint32_t tgid, const Addresses& pcs) {
  offwait_stack& stack = recording.stacks[id];
  stack.tgid = tgid;
  stack.frames = static_cast<std::uint16_t>(pcs.size());
  std::copy(pcs.begin(), pcs.end(), std::begin(stack.pc));
}

void add_spin(KernelRecording& recording, std::uint32_t tgid, const Addresses& pcs) {
  offwait_spin spin{};
  spin.type = OFFWAIT_RECORD_SPIN;
  spin.tgid = tgid;
  spin.frames = static_cast<std::uint32_t>(pcs.size());
  std::copy(pcs.begin(), pcs.end(), std::begin(spin.pc));
  REQUIRE(recording.records.append(std::as_bytes(std::span(&spin, 1))));
}

NameList functions(const NamedStacks& named, const NamedStacks::Indices& indices) {
  NameList names;
  for (const std::uint32_t index : indices) names.push_back(named.frames.at(index).function);
  return names;
}

TEST_CASE("a kernel stack begins below the recorder's own frames") {
  KernelRecording recording;
  add_stack(recording, 1, 0, {kProgram, kTrampoline, kSchedule, kWrite});
  add_stack(recording, 2, 0, {kSchedule, kWrite});
  add_stack(recording, 3, 0, {kProgram, kTrampoline});
  Symbolizer symbols;
  symbols.set_kernel_symbols(kSymbols);
  const NamedStacks named = name_stacks(recording.stacks, stacks_in_records(recording), symbols);
  REQUIRE(named.recorded.size() == 3);
  CHECK(functions(named, named.recorded.at(1).frames) == NameList{"__schedule", "vfs_write"});
  CHECK(functions(named, named.recorded.at(2).frames) == NameList{"__schedule", "vfs_write"});
  CHECK(named.recorded.at(3).frames.empty());
  CHECK(named.in_records.empty());
  // __schedule is a return address in one stack and the leaf of another; vfs_write is the same in both.
  CHECK(named.frames.size() == 3);
  CHECK(named.recorded.at(1).frames.back() == named.recorded.at(2).frames.back());
}

TEST_CASE("a kernel stack taken after the switch is that of the switch") {
  KernelRecording recording;
  add_stack(recording, 1, 0, {kProgram, kTrampoline, kSchedIn, kFinish, kSchedule + 0x20, kWrite});
  add_stack(recording, 2, 0, {kFinish, kSchedule, kWrite});  // a sample
  add_stack(recording, 3, 0, {kProgram, kTrampoline, kSchedule, kWrite});
  Symbolizer symbols;
  symbols.set_kernel_symbols(kSymbols);
  const NamedStacks named = name_stacks(recording.stacks, stacks_in_records(recording), symbols);
  CHECK(functions(named, named.recorded.at(1).frames) == NameList{"__schedule", "vfs_write"});
  // One place has one frame in the function that switches.
  CHECK(named.frames.at(named.recorded.at(1).frames.front()) ==
        named.frames.at(named.recorded.at(3).frames.front()));
  CHECK(functions(named, named.recorded.at(2).frames) ==
        NameList{"finish_task_switch.isra.0", "__schedule", "vfs_write"});
}

TEST_CASE("a function that another tool traces to its end is not the recorder's") {
  KernelRecording recording;
  add_stack(recording, 1, 0, {kProgram, kTrampoline, kSchedule, kWrite, kTracer, kWrite});
  Symbolizer symbols;
  symbols.set_kernel_symbols(kSymbols);
  const NamedStacks named = name_stacks(recording.stacks, stacks_in_records(recording), symbols);
  CHECK(functions(named, named.recorded.at(1).frames) ==
        NameList{"__schedule", "vfs_write", "bpf_trampoline_6442527110 [bpf]", "vfs_write"});
}

TEST_CASE("a stack that a 32-bit program cuts says so, whatever stopped the walk") {
  constexpr std::uint64_t kBelow4G = 0xf7f00000;
  constexpr std::uint64_t kAbove = 0x7ffff7fc1000;
  constexpr std::uint32_t k32 = 0x7ffffff1;
  constexpr std::uint32_t k64 = 0x7ffffff2;
  const auto code_at = [](std::uint64_t begin) {
    Mapping mapping;
    mapping.begin = begin;
    mapping.end = begin + 0x1000;
    mapping.executable = true;
    mapping.path = "[vdso]";
    return mapping;
  };
  KernelRecording recording;
  add_stack(recording, 1, k32, {kBelow4G + 1});
  add_stack(recording, 2, k64, {kAbove + 1});
  add_stack(recording, 3, k32, {kBelow4G + 1, kBelow4G + 2});
  recording.stacks[1].end = recording.stacks[2].end = OFFWAIT_STACK_NO_FP;
  Symbolizer symbols;
  symbols.note_mappings({static_cast<std::int32_t>(k32), {code_at(0x8048000), code_at(kBelow4G)}});
  symbols.note_mappings({static_cast<std::int32_t>(k64), {code_at(0x400000), code_at(kAbove)}});
  const NamedStacks named = name_stacks(recording.stacks, stacks_in_records(recording), symbols);
  CHECK(named.recorded.at(1).cut == StackCut::bits_32);
  CHECK(named.recorded.at(2).cut == StackCut::no_frame_pointer);
  CHECK_FALSE(named.recorded.at(3).cut.has_value());
}

TEST_CASE("the stack of a spin ends at the first address that cannot be a return address") {
  const auto self = static_cast<std::uint32_t>(::getpid());
  const auto mappings = executable_mappings(static_cast<std::int32_t>(self));
  REQUIRE(mappings);
  REQUIRE_FALSE(mappings->empty());
  const std::uint64_t code = mappings->front().begin + 1;
  constexpr std::uint64_t kNoCode = 16;
  KernelRecording recording;
  add_spin(recording, self, {code, code, kNoCode, code});
  add_spin(recording, self, {code, code, kNoCode, code});
  add_spin(recording, self, {kNoCode, code});
  // Nothing is known of this process, so that every address may be code.
  constexpr std::uint32_t kOther = 0x7fffffff;
  add_spin(recording, kOther, {code, kNoCode, code});
  Symbolizer symbols;
  symbols.note_mappings({static_cast<std::int32_t>(self), *mappings});
  const NamedStacks named = name_stacks(recording.stacks, stacks_in_records(recording), symbols);
  REQUIRE(named.in_records.size() == 3);
  CHECK(named.in_records.at({self, {code, code, kNoCode, code}}).size() >= 2);
  for (const std::uint32_t index : named.in_records.at({self, {code, code, kNoCode, code}}))
    CHECK(named.frames.at(index).module != "unknown");
  const NamedStacks::Indices& leaf = named.in_records.at({self, {kNoCode, code}});
  REQUIRE(leaf.size() >= 2);
  CHECK(named.frames.at(leaf.front()).module == "unknown");
  CHECK(named.frames.at(leaf.back()).module != "unknown");
  const NamedStacks::Indices& other = named.in_records.at({kOther, {code, kNoCode, code}});
  REQUIRE(other.size() == 3);
  CHECK(named.frames.at(other[1]).offset == kNoCode);
}

}  // namespace
}  // namespace offwait
