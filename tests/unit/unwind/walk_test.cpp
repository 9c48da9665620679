// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/walk.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include "process/mapped_files.h"

namespace offwait::test {
namespace {

constexpr std::uint64_t kBias = 0x7f0000000000;
constexpr std::uint64_t kStack = 0x7ffc00000000;

/// A process with one file whose functions have 0x100 bytes and one rule each, a mapping without a table at
/// kJit, and words of memory.
struct Process {
  Architecture architecture = Architecture::x86_64;
  UnwindTable table{};
  std::map<std::uint64_t, std::uint64_t> memory{};

  static constexpr std::uint64_t kJit = 0x500000;

  /// Adds a function with this rule; returns its address in the process.
  std::uint64_t function(unsigned kind, int fp = 0, int cfa = 0) {
    const auto pc = static_cast<std::uint32_t>(table.rows.size() * 0x100);
    table.base = 0x1000;
    table.rows.push_back(
        {pc, static_cast<std::uint8_t>(kind), static_cast<std::int8_t>(fp), static_cast<std::uint16_t>(cfa)});
    return kBias + table.base + pc;
  }

  UserStack walk(const UserRegisters& registers) const {
    const FindCode find = [this](std::uint64_t address) -> std::optional<MappedCode> {
      if (address >= kBias && address < kBias + 0x10000) {
        return code_at(table, address - kBias);
      }
      if (address >= kJit && address < kJit + 0x1000) {
        return MappedCode{};
      }
      return std::nullopt;
    };
    const ReadWord read = [this](std::uint64_t address) -> std::optional<std::uint64_t> {
      const auto word = memory.find(address);
      return word == memory.end() ? std::nullopt : std::optional(word->second);
    };
    return walk_stack(architecture, registers, find, read);
  }
};

using Pcs = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("rules that count from sp and from fp, up to the outermost frame") {
  Process process;
  const auto leaf = process.function(OFFWAIT_UNWIND_SP, 0, 2);
  const auto with_fp = process.function(OFFWAIT_UNWIND_FP, -2, 2);
  const auto saver = process.function(OFFWAIT_UNWIND_SP, -3, 4);
  const auto start = process.function(OFFWAIT_UNWIND_STOP);
  process.memory = {
      {kStack + 8, with_fp + 5},  // leaf's frame is two words
      {kStack + 0x40, 0x1111},
      {kStack + 0x48, saver + 0x100},  // a call that is the function's last instruction
      {kStack + 0x50 + 8, 0x2222},
      {kStack + 0x50 + 24, start + 0x22},
  };
  const UserStack stack = process.walk({.pc = leaf, .sp = kStack, .fp = kStack + 0x40});
  CHECK(stack.pcs == Pcs{leaf, with_fp + 5, saver + 0x100, start + 0x22});
  CHECK(stack.end == OFFWAIT_STACK_ROOT);
}

TEST_CASE("the first frame's pc is exact: at a function's first instruction") {
  Process process;
  process.function(OFFWAIT_UNWIND_NONE);
  const auto second = process.function(OFFWAIT_UNWIND_STOP);
  CHECK(process.walk({.pc = second, .sp = kStack}).end == OFFWAIT_STACK_ROOT);
  CHECK(process.walk({.pc = second - 1, .sp = kStack}).end == OFFWAIT_STACK_NO_RULE);
}

TEST_CASE("a signal frame: the interrupted registers, and their pc exact again") {
  Process process;
  const auto handler = process.function(OFFWAIT_UNWIND_SP, 0, 1);
  const auto restorer = process.function(OFFWAIT_UNWIND_SIGNAL);
  const auto interrupted = process.function(OFFWAIT_UNWIND_FP, -2, 2);
  const auto start = process.function(OFFWAIT_UNWIND_STOP);
  // The handler ran on a stack of its own, above: sp goes back.
  constexpr std::uint64_t kFrame = kStack + 0x100000 + 8;
  process.memory = {{kFrame - 8, restorer + 1}, {kFrame + 120, kStack + 0x20},
                    {kFrame + 160, kStack},     {kFrame + 168, interrupted},
                    {kStack + 0x20, 0},         {kStack + 0x28, start + 9}};
  const UserStack stack = process.walk({.pc = handler + 4, .sp = kFrame - 8});
  CHECK(stack.pcs == Pcs{handler + 4, restorer + 1, interrupted, start + 9});
  CHECK(stack.end == OFFWAIT_STACK_ROOT);
}

TEST_CASE("the PLT, and CFAs in memory") {
  Process process;
  const auto plt = process.function(OFFWAIT_UNWIND_PLT, 0, 11);
  const auto drap = process.function(OFFWAIT_UNWIND_DEREF_FP, OFFWAIT_UNWIND_FP_AT_FP, -1);
  const auto openssl = process.function(OFFWAIT_UNWIND_DEREF_SP_PLUS, -2, 1);
  const auto by_fp = process.function(OFFWAIT_UNWIND_FP, 0, 1);
  const auto start = process.function(OFFWAIT_UNWIND_STOP);
  process.memory = {{kStack + 8, drap + 7},  // after the push
                    {kStack, drap + 7},      // before it
                    // CFA = *(fp - 8), the caller's fp at *fp
                    {kStack + 0x38, kStack + 0x80},
                    {kStack + 0x40, 0x3333},
                    {kStack + 0x78, openssl + 9},
                    // CFA = *(sp + 8) + 8, fp at CFA - 16
                    {kStack + 0x88, kStack + 0xc0},
                    {kStack + 0xb8, kStack + 0xf0},
                    {kStack + 0xc0, by_fp + 3},
                    {kStack + 0xf0, start + 1}};
  const UserStack after = process.walk({.pc = plt + 11, .sp = kStack, .fp = kStack + 0x40});
  CHECK(after.pcs == Pcs{plt + 11, drap + 7, openssl + 9, by_fp + 3, start + 1});
  CHECK(after.end == OFFWAIT_STACK_ROOT);
  const UserStack before = process.walk({.pc = plt + 6, .sp = kStack, .fp = kStack + 0x40});
  CHECK(before.pcs == Pcs{plt + 6, drap + 7, openssl + 9, by_fp + 3, start + 1});
}

TEST_CASE("a frame pointer that was lost is not used") {
  Process process;
  const auto leaf = process.function(OFFWAIT_UNWIND_SP, OFFWAIT_UNWIND_FP_LOST, 1);
  const auto by_fp = process.function(OFFWAIT_UNWIND_FP, 0, 1);
  process.memory = {{kStack, by_fp + 1}, {kStack + 0x10, by_fp + 2}};
  const UserStack lost = process.walk({.pc = leaf, .sp = kStack, .fp = kStack + 0x10});
  CHECK(lost.pcs == Pcs{leaf, by_fp + 1});
  CHECK(lost.end == OFFWAIT_STACK_NO_RULE);
  process.memory[kStack] = Process::kJit + 8;
  CHECK(process.walk({.pc = leaf, .sp = kStack, .fp = kStack + 0x10}).end == OFFWAIT_STACK_NO_FP);
}

TEST_CASE("without a table, the rest of a trampoline says where its frame ends") {
  Process process;
  const auto start = process.function(OFFWAIT_UNWIND_STOP);
  const auto leaf = process.function(OFFWAIT_UNWIND_SP, 0, 1);
  constexpr std::uint64_t kReturn = Process::kJit + 0x10;
  process.memory = {{kStack, kReturn}, {kStack + 0x18, start + 1}};
  const auto walk = [&](std::uint64_t code) {
    process.memory[kReturn] = code;
    return process.walk({.pc = leaf, .sp = kStack, .fp = 0});
  };
  constexpr std::uint64_t kAdd16Ret = 0x90'90'90'c3'10'c4'83'48;
  CHECK(walk(kAdd16Ret).pcs == Pcs{leaf, kReturn, start + 1});
  CHECK(walk(kAdd16Ret).end == OFFWAIT_STACK_ROOT);
  for (const std::uint64_t other : {kAdd16Ret + (std::uint64_t{4} << 24U),     // not a multiple of 8
                                    kAdd16Ret + (std::uint64_t{0x80} << 24U),  // negative
                                    kAdd16Ret - (std::uint64_t{1} << 32U),     // no ret
                                    kAdd16Ret + (std::uint64_t{1} << 16U)}) {  // another register
    CHECK(walk(other).pcs == Pcs{leaf, kReturn});
    CHECK(walk(other).end == OFFWAIT_STACK_NO_FP);
  }
}

TEST_CASE("without a table, frame pointers are followed if they can be true") {
  Process process;
  const auto start = process.function(OFFWAIT_UNWIND_STOP);
  constexpr std::uint64_t kPc = Process::kJit + 0x10;
  const auto walk = [&](std::uint64_t fp) { return process.walk({.pc = kPc, .sp = kStack, .fp = fp}); };
  constexpr std::uint64_t kFar = kStack + OFFWAIT_FARTHEST_FP;
  process.memory = {{kStack, kStack + 0x40},
                    {kStack + 8, Process::kJit + 0x20},
                    {kStack + 0x40, 0},
                    {kStack + 0x48, start + 1},
                    {kFar, 0},
                    {kFar + 8, start + 1},
                    {kFar + 16, start + 1},
                    {kStack + 0x50, 0},
                    {kStack + 0x58, 0x1234},
                    {kStack + 0x44, 0},
                    {kStack + 0x4c, start + 1}};
  CHECK(walk(kStack).pcs == Pcs{kPc, Process::kJit + 0x20, start + 1});
  CHECK(walk(kStack).end == OFFWAIT_STACK_ROOT);
  CHECK(walk(kFar).pcs == Pcs{kPc, start + 1});
  for (const std::uint64_t wrong :
       {kStack - 8, kFar + 8, kStack + 0x44, /* returns to no code */ kStack + 0x50, std::uint64_t{0}}) {
    CHECK(walk(wrong).pcs == Pcs{kPc});
    CHECK(walk(wrong).end == OFFWAIT_STACK_NO_FP);
  }
  CHECK(walk(kStack + 0x60).end == OFFWAIT_STACK_UNREADABLE);
  process.memory[kStack + 8] = 0;
  CHECK(walk(kStack).pcs == Pcs{kPc});
  CHECK(walk(kStack).end == OFFWAIT_STACK_ROOT);
}

TEST_CASE("how a walk ends otherwise") {
  Process process;
  const auto leaf = process.function(OFFWAIT_UNWIND_SP, 0, 1);
  const auto none = process.function(OFFWAIT_UNWIND_NONE);
  const UserRegisters registers{.pc = leaf, .sp = kStack};
  CHECK(process.walk(registers).end == OFFWAIT_STACK_UNREADABLE);
  process.memory = {{kStack, 0x1234}};
  CHECK(process.walk(registers).pcs == Pcs{leaf});
  CHECK(process.walk(registers).end == OFFWAIT_STACK_NO_MAPPING);
  CHECK(process.walk({.pc = 0x1234}).pcs == Pcs{0x1234});
  CHECK(process.walk({.pc = 0x1234}).end == OFFWAIT_STACK_NO_MAPPING);
  process.memory = {{kStack, none + 1}};
  CHECK(process.walk(registers).pcs == Pcs{leaf, none + 1});
  CHECK(process.walk(registers).end == OFFWAIT_STACK_NO_RULE);
  // Recursion without end.
  for (std::uint64_t i = 0; i < 200; ++i) {
    process.memory[kStack + i * 8] = leaf + 1;
  }
  CHECK(process.walk(registers).pcs.size() == kMostFrames);
  CHECK(process.walk(registers).end == OFFWAIT_STACK_DEEP);
  // 128 frames of which the last is the outermost are complete.
  const auto start = process.function(OFFWAIT_UNWIND_STOP);
  process.memory[kStack + 126 * 8] = start + 1;
  CHECK(process.walk(registers).pcs.size() == kMostFrames);
  CHECK(process.walk(registers).end == OFFWAIT_STACK_ROOT);
  // A CFA that is not above: it would go round in circles.
  const auto deref = process.function(OFFWAIT_UNWIND_DEREF_SP, 0, 0);
  process.memory = {{kStack, kStack}, {kStack - 8, deref + 1}};
  CHECK(process.walk({.pc = deref, .sp = kStack}).pcs == Pcs{deref});
  CHECK(process.walk({.pc = deref, .sp = kStack}).end == OFFWAIT_STACK_UNREADABLE);
}

TEST_CASE("arm64: leaf, frame records, signed return addresses, signal frames") {
  Process process{.architecture = Architecture::arm64};
  const auto leaf = process.function(OFFWAIT_UNWIND_SP | OFFWAIT_UNWIND_RA_IN_LR, 0, 0);
  const auto record = process.function(OFFWAIT_UNWIND_SP, -4, 4);
  const auto alone = process.function(OFFWAIT_UNWIND_SP | OFFWAIT_UNWIND_RA_ALONE, -2, 2);
  const auto large = process.function(OFFWAIT_UNWIND_SP | OFFWAIT_UNWIND_FP_FROM_BASE, 0, 256);
  const auto handler = process.function(OFFWAIT_UNWIND_FP, -2, 2);
  const auto restorer = process.function(OFFWAIT_UNWIND_SIGNAL);
  const auto start = process.function(OFFWAIT_UNWIND_STOP);
  constexpr std::uint64_t kSigned = 0x002a000000000000;
  constexpr std::uint64_t kLarge = kStack + 0x30;
  constexpr std::uint64_t kHandler = kLarge + 0x800;
  constexpr std::uint64_t kInterrupted = kStack + 0x10000;
  process.memory = {{kStack, 0x1111},
                    {kStack + 8, (alone + 5) | kSigned},
                    {kStack + 0x20, large + 4},
                    {kLarge, kHandler},
                    {kLarge + 8, (handler + 8) | kSigned},
                    {kHandler, 0x2222},
                    {kHandler + 8, restorer + 1},
                    // sp is 16 above fp there, and the frame is for a leaf
                    {kHandler + 16 + 544, 0x3333},
                    {kHandler + 16 + 552, start + 0x10},
                    {kHandler + 16 + 560, kInterrupted},
                    {kHandler + 16 + 568, leaf}};
  const UserStack stack =
      process.walk({.pc = leaf + 4, .sp = kStack, .fp = 0x9999, .lr = (record + 8) | kSigned});
  CHECK(stack.pcs ==
        Pcs{leaf + 4, record + 8, alone + 5, large + 4, handler + 8, restorer + 1, leaf, start + 0x10});
  CHECK(stack.end == OFFWAIT_STACK_ROOT);
  // Only a leaf still has its return address in x30.
  const UserStack twice = process.walk({.pc = leaf, .sp = kStack, .lr = leaf + 4});
  CHECK(twice.pcs == Pcs{leaf, leaf + 4});
  CHECK(twice.end == OFFWAIT_STACK_NO_RULE);
}

namespace {

/// The code of this process; tables are read when they are first needed.
class OwnCode {
 public:
  OwnCode() : mappings_(executable_mappings(getpid()).value_or(std::vector<Mapping>())) {
    for (const Mapping& mapping : mappings_) {
      auto table = std::make_unique<UnwindTable>();
      if (const auto file = open_mapped_file(getpid(), mapping)) {
        if (auto read = read_unwind_table(file->fd.get()); read.ok()) {
          *table = std::move(read).value();
        }
      }
      tables_.push_back(std::move(table));
    }
  }

  std::optional<MappedCode> find(std::uint64_t address) const {
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      const Mapping& mapping = mappings_[i];
      if (address < mapping.begin || address >= mapping.end) {
        continue;
      }
      for (const CodeSegment& segment : tables_[i]->segments) {
        if (mapping.offset + (address - mapping.begin) - segment.offset < segment.size) {
          return code_at(*tables_[i],
                         address - mapping.begin + mapping.offset - segment.offset + segment.address);
        }
      }
      return MappedCode{};
    }
    return std::nullopt;
  }

 private:
  std::vector<Mapping> mappings_;
  std::vector<std::unique_ptr<UnwindTable>> tables_;
};

struct BothStacks {
  UserStack ours;
  Pcs glibc;
};

[[gnu::noinline]] BothStacks both_stacks() {
  static const OwnCode code;
  ucontext_t context;
  getcontext(&context);
#if defined(__x86_64__)
  const greg_t* registers = context.uc_mcontext.gregs;
  const UserRegisters start{.pc = static_cast<std::uint64_t>(registers[REG_RIP]),
                            .sp = static_cast<std::uint64_t>(registers[REG_RSP]),
                            .fp = static_cast<std::uint64_t>(registers[REG_RBP])};
  constexpr Architecture kArchitecture = Architecture::x86_64;
#else
  const UserRegisters start{.pc = context.uc_mcontext.pc,
                            .sp = context.uc_mcontext.sp,
                            .fp = context.uc_mcontext.regs[29],
                            .lr = context.uc_mcontext.regs[30]};
  constexpr Architecture kArchitecture = Architecture::arm64;
#endif
  BothStacks both;
  both.ours = walk_stack(
      kArchitecture, start, [](std::uint64_t address) { return code.find(address); },
      [](std::uint64_t address) -> std::optional<std::uint64_t> {
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
        return word;
      });
  std::array<void*, 200> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
#if defined(__SANITIZE_ADDRESS__)
  constexpr int kInterceptor = 1;  // AddressSanitizer's backtrace(), which calls glibc's
#else
  constexpr int kInterceptor = 0;
#endif
  std::transform(frames.begin() + kInterceptor, frames.begin() + count, std::back_inserter(both.glibc),
                 [](void* pc) { return reinterpret_cast<std::uint64_t>(pc); });
  return both;
}

BothStacks found_in_callback;

[[gnu::noinline]] int recurse(int depth) {
  // A frame of variable size needs a frame pointer.
  const auto size = static_cast<std::size_t>(depth) * 100;
  auto* room = static_cast<volatile char*>(__builtin_alloca(size + 1));
  room[size] = 1;
  if (depth == 0) {
    found_in_callback = both_stacks();
    return 0;
  }
  return recurse(depth - 1) + room[size];
}

int compare(const void* left, const void* right) {
  if (found_in_callback.glibc.empty()) {
    recurse(50);
  }
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

}  // namespace

TEST_CASE("the stack of this very process is what glibc's backtrace says") {
  found_in_callback = {};
  std::array<int, 3> numbers = {3, 1, 2};
  qsort(numbers.data(), numbers.size(), sizeof(int), compare);
  const auto& [ours, glibc] = found_in_callback;
  CHECK(ours.end == OFFWAIT_STACK_ROOT);
  REQUIRE(glibc.size() > 55);
  REQUIRE(ours.pcs.size() == glibc.size());
  // The leaf frame is in the same function, but at another of its calls.
  CHECK(Pcs(ours.pcs.begin() + 1, ours.pcs.end()) == Pcs(glibc.begin() + 1, glibc.end()));
}

}  // namespace offwait::test
