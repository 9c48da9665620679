// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/code_rules.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "unwind/x86_instruction.h"

namespace offwait {
namespace {

using namespace std::string_literals;

/// `1:2` is the row of pc 1: the CFA is two words above sp; `-2` behind it is where the caller's fp is;
/// `none`: no rule.
std::vector<std::string> rows_of(const std::string& code, const std::vector<std::uint32_t>& functions) {
  UnwindRows rows;
  add_code_rules(code, 0, functions, rows);
  std::vector<std::string> out;
  for (const offwait_unwind_row& row : std::move(rows).take()) {
    std::string text = std::to_string(row.pc) + ":";
    const bool stops = row.kind == OFFWAIT_UNWIND_STOP;
    text += row.kind == OFFWAIT_UNWIND_NONE ? "none" : stops ? "stop" : std::to_string(row.cfa);
    if (row.kind == OFFWAIT_UNWIND_FP) text += "fp";
    if (row.fp != OFFWAIT_UNWIND_FP_SAME) text += std::to_string(row.fp);
    out.push_back(text);
  }
  return out;
}

const std::string kPushRbx = "\x53", kPopRbx = "\x5b", kPushFp = "\x55", kPopFp = "\x5d", kRet = "\xc3";
const std::string kSub8 = "\x48\x83\xec\x08", kAdd8 = "\x48\x83\xc4\x08";
const std::string kSyscall = "\x0f\x05", kNop = "\x90", kJumpToRax = "\xff\xe0";
const std::string kSpToFp = "\x48\x89\xe5";

using Rows = std::vector<std::string>;

TEST_CASE("pushes, pops and additions move the CFA") {
  CHECK(rows_of(kPushRbx + kSub8 + kSyscall + kAdd8 + kPopRbx + kRet, {0}) ==
        Rows{"0:1", "1:2", "5:3", "11:2", "12:1"});
  CHECK(rows_of(kPushFp + kPushRbx + kSyscall + kPopRbx + kPopFp + kRet, {0}) ==
        Rows{"0:1", "1:2-2", "2:3-2", "5:2-2", "6:1"});
  CHECK(rows_of("\x48\x81\xec\x00\x01\x00\x00"s + kRet, {0}) == Rows{"0:1", "7:33"});  // sub $256,%rsp
  CHECK(rows_of("\x48\x8d\x64\x24\xf0"s + kRet, {0}) == Rows{"0:1", "5:3"});           // lea -16(%rsp),%rsp
  CHECK(rows_of(kSub8 + "\x48\x89\xc4" + kSyscall + kRet, {0}) ==
        Rows{"0:1", "4:2", "7:none"});  // mov %rax,%rsp
}

TEST_CASE("where branches lead the stack is as it was before them") {
  // je +9 goes over the first end.
  CHECK(rows_of(kPushRbx + "\x74\x06" + kAdd8 + kRet + kNop + kSyscall + kPopRbx + kRet, {0}) ==
        Rows{"0:1", "1:2", "7:1", "9:2", "12:1"});
}

TEST_CASE("what a block does until it returns tells what it begins with") {
  // A jump through a table, and one of its targets.
  CHECK(rows_of(kPushRbx + kSub8 + kJumpToRax + kSyscall + kAdd8 + kPopRbx + kRet, {0}) ==
        Rows{"0:1", "1:2", "5:3", "13:2", "14:1"});
}

TEST_CASE("a function that is called by its address alone begins where functions are aligned") {
  const std::string first = kPushRbx + kSyscall + kPopRbx + kRet + std::string(11, '\x90');
  REQUIRE(first.size() == 16);
  CHECK(rows_of(first + kSub8 + kSyscall + kAdd8 + kRet, {0}) == Rows{"0:1", "1:2", "4:1", "20:2", "26:1"});
}

TEST_CASE("calls show where functions begin") {
  // call +1; ret; then the function.
  CHECK(rows_of("\xe8\x01\x00\x00\x00"s + kRet + kPushRbx + kSyscall + kPopRbx + kRet, {}) ==
        Rows{"0:1", "7:2", "10:1"});
}

TEST_CASE("an address that is taken shows where a function begins") {
  // A call that never returns ends the one before; nothing but its address leads to the other.
  const std::string ends_in_call = kPushRbx + "\x48\x8d\x3d\x02\x00\x00\x00\xff\xd0"s;
  CHECK(rows_of(ends_in_call + kPushRbx + kSyscall + kPopRbx + kRet, {0}) ==
        Rows{"0:1", "1:2", "10:1", "11:2", "14:1"});
}

TEST_CASE("code that gives up its caller's frame pointer is in the outermost frame") {
  const std::string clears = "\x31\xed", calls_r9 = "\x41\xff\xd1", traps = "\xf4";
  // As __clone of musl: a branch leads the parent past what the child does, and both make a frame elsewhere.
  const std::string other = kPushRbx + kSyscall + kPopRbx + kRet;
  CHECK(rows_of(other + kSyscall + "\x75\x07" + clears + kPopRbx + calls_r9 + traps + kRet, {0, 5}) ==
        Rows{"0:1", "1:2", "4:1", "11:stop", "16:1"});
  // A function that has saved it may use it for what it likes.
  CHECK(rows_of(kPushFp + clears + kSyscall + kPopFp + kRet, {0}) == Rows{"0:1", "1:2-2", "6:1"});
}

TEST_CASE("a jump with the stack as it was at the begin shows where a function begins") {
  // A call that never returns, and behind it a function to which another one jumps.
  const std::string ends_in_call = kPushRbx + "\xe8\x0b\x00\x00\x00"s;
  const std::string jumps = "\xeb\xf9";  // to the function of the line before
  CHECK(rows_of(ends_in_call + kPushRbx + kSyscall + kPopRbx + kRet + jumps + kSyscall + kRet, {0, 11}) ==
        Rows{"0:1", "1:2", "6:1", "7:2", "10:1"});
}

TEST_CASE("code that keeps frame pointers needs no rules") {
  CHECK(rows_of(kPushFp + kSpToFp + kSub8 + kSyscall + "\xc9" + kRet, {0}).empty());
  CHECK(rows_of(kSyscall + kRet, {0}).empty());  // no frames at all
  // As Go does: sub $8,%rsp; mov %rbp,(%rsp); lea (%rsp),%rbp
  CHECK(rows_of(kSub8 + "\x48\x89\x2c\x24\x48\x8d\x2c\x24" + kSyscall + kRet, {0}).empty());
}

TEST_CASE("the lengths of instructions") {
  const auto size = [](const std::string& code) {
    return x86_instruction(code + std::string(16, '\0')).size;
  };
  CHECK(size("\x48\xb8") == 10);                         // movabs $imm64,%rax
  CHECK(size("\x66\xb8") == 4);                          // mov $imm16,%ax
  CHECK(size("\xf6\x44\x24\x08\x01") == 5);              // testb $1,8(%rsp)
  CHECK(size("\x48\xf7\xd8") == 3);                      // neg %rax
  CHECK(size("\x8b\x04\x25") == 7);                      // mov disp32,%eax
  CHECK(size("\xf0\x48\x0f\xb1\x15") == 9);              // lock cmpxchg %rdx,disp32(%rip)
  CHECK(size("\xc5\xf8\x77") == 3);                      // vzeroupper
  CHECK(size("\xc4\xe3\x7d\x39\xc1\x01") == 6);          // vextracti128 $1,%ymm0,%xmm1
  CHECK(size("\x62\xf1\xfe\x48\x6f\x44\x24\x01") == 8);  // vmovdqu64 64(%rsp),%zmm0
  CHECK(x86_instruction("\xe8\x01").size == 0);          // cut short
  CHECK(x86_instruction("").size == 0);
}

TEST_CASE("any bytes have rules in order, or none") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string code(1 + random() % 400, '\0');
    for (char& byte : code) byte = static_cast<char>(random());
    UnwindRows rows;
    add_code_rules(code, 5, {7, 100}, rows);
    std::uint32_t last = 0;
    for (const offwait_unwind_row& row : std::move(rows).take()) {
      REQUIRE(row.pc > last);
      REQUIRE(row.pc < 5 + code.size());
      last = row.pc;
    }
  }
}

}  // namespace
}  // namespace offwait
