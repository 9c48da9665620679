// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/code_rules.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "unwind/x86_instruction.h"

namespace offwait {
namespace {

using Does = X86Instruction::Does;

constexpr std::int64_t kSlot = 8;

/// The stack before an instruction, in words.
struct State {
  std::optional<std::int64_t> depth;  ///< from sp up to the CFA; none: not known
  std::int64_t saved_fp = 0;          ///< from the caller's fp up to the CFA; 0: fp still has it
  std::int64_t fp_depth = 0;          ///< from fp up to the CFA; 0: fp is no frame pointer
  bool is_outermost = false;          ///< it lost its caller's fp, as only a thread's first function may
  friend bool operator==(const State&, const State&) = default;
};
constexpr State kEntry{1, 0, 0, false};

bool ends_flow(const X86Instruction& instruction) {
  return instruction.does == Does::jump || instruction.does == Does::goes_nowhere ||
         instruction.does == Does::returns;
}

void move(State& state, std::int64_t bytes) {
  if (bytes % kSlot != 0) state.depth.reset();
  if (state.depth) *state.depth -= bytes / kSlot;
}

void apply(const X86Instruction& instruction, State& state) {
  switch (instruction.does) {
    case Does::push:
    case Does::push_fp:
      move(state, -kSlot);
      if (instruction.does == Does::push_fp && state.saved_fp == 0 && state.depth)
        state.saved_fp = *state.depth;
      break;
    case Does::pop:
      move(state, kSlot);
      break;
    case Does::pop_fp:
      if (state.depth && *state.depth == state.saved_fp) state.saved_fp = state.fp_depth = 0;
      move(state, kSlot);
      break;
    case Does::move_sp:
      move(state, instruction.value);
      break;
    case Does::sp_to_fp:
      state.fp_depth =
          state.depth && instruction.value % kSlot == 0 ? *state.depth - instruction.value / kSlot : 0;
      break;
    case Does::fp_to_sp:
    case Does::leave:
      state.depth = state.fp_depth == 0 ? std::nullopt : std::optional(state.fp_depth);
      if (instruction.does == Does::fp_to_sp) {
        move(state, instruction.value);
      } else {
        move(state, kSlot);
        state.saved_fp = state.fp_depth = 0;
      }
      break;
    case Does::save_fp:
      if (state.saved_fp == 0 && state.depth && instruction.value % kSlot == 0)
        state.saved_fp = *state.depth - instruction.value / kSlot;
      break;
    case Does::set_sp:
      state.depth.reset();
      break;
    case Does::clear_fp:
      // The ABI asks for a frame pointer of 0 in the outermost frame; others save it before.
      state.is_outermost |= state.saved_fp == 0;
      state.fp_depth = 0;
      break;
    default:
      break;
  }
  if (state.depth && *state.depth < 1) state.depth.reset();  // it has left the stack that it began with
}

UnwindRule rule_of(const State& state) {
  if (state.is_outermost) return {OFFWAIT_UNWIND_STOP, OFFWAIT_UNWIND_FP_SAME, 0};
  const bool by_sp = state.depth.has_value();
  const std::int64_t cfa = by_sp ? *state.depth : state.fp_depth;
  if (cfa < 1 || cfa > std::numeric_limits<std::int16_t>::max()) return {};
  std::int8_t fp = OFFWAIT_UNWIND_FP_SAME;
  if (state.saved_fp != 0)
    fp = state.saved_fp > 1 && state.saved_fp < 127 ? static_cast<std::int8_t>(-state.saved_fp)
                                                    : static_cast<std::int8_t>(OFFWAIT_UNWIND_FP_LOST);
  return {static_cast<std::uint8_t>(by_sp ? OFFWAIT_UNWIND_SP : OFFWAIT_UNWIND_FP), fp,
          static_cast<std::uint16_t>(cfa)};
}

struct Placed {
  std::size_t at = 0;
  X86Instruction instruction;
};

class Rules {
 public:
  Rules(std::string_view code, std::uint32_t begin, const std::vector<std::uint32_t>& functions)
      : code_(code), begin_(begin) {
    for (const std::uint32_t function : functions) {
      if (function >= begin && function - begin < code.size()) functions_.insert(function - begin);
    }
    for (std::size_t at = 0; at < code.size(); at += std::max<std::size_t>(1, all_.back().instruction.size)) {
      all_.push_back(
          {at, x86_instruction(code.substr(at))});  // a byte that begins no instruction is passed over
      const std::optional<std::size_t> to = target(all_.back());
      // What is called, and what is passed on to be called by its address, such as a thread's function.
      const Does does = all_.back().instruction.does;
      if (to && (does == Does::call || does == Does::address)) functions_.insert(*to);
    }
  }

  bool has_frame_pointers() const {
    std::size_t with = 0, without = 0;
    for (const std::size_t function : functions_) {
      State state = kEntry;
      const std::size_t first = index_of(function);
      bool has_frame = false;
      bool keeps_fp = false;
      for (std::size_t i = first; i < std::min(first + kPrologue, all_.size()); ++i) {
        if (ends_flow(all_[i].instruction)) break;
        apply(all_[i].instruction, state);
        has_frame |= state != kEntry;
        keeps_fp |= state.fp_depth != 0;
      }
      with += keeps_fp ? 1 : 0;
      without += has_frame && !keeps_fp ? 1 : 0;
    }
    return with >= without;
  }

  /// Functions that no call leads to may be known by jumps: with the stack as it was at the start, a jump is
  /// a call whose return is the caller's.
  void find_jumped_to() {
    UnwindRows none;
    add_to(none);
    functions_.merge(jumped_to_);
  }

  void add_to(UnwindRows& rows) {
    State state = kEntry;
    bool known = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto& [at, instruction] = all_[i];
      if (functions_.contains(at)) {
        state = body_ = kEntry;
        known = true;
      } else if (!known) {
        if (is_padding(at)) continue;
        state = state_behind_end(i);
        known = true;
      }
      rows.add(begin_ + static_cast<std::uint32_t>(at), rule_of(state));
      apply(instruction, state);
      if (state.depth.value_or(0) > body_.depth.value_or(0)) body_ = state;
      const std::optional<std::size_t> to = target(all_[i]);
      const bool goes_on = instruction.does == Does::jump || instruction.does == Does::branch;
      if (to && *to > at && goes_on) reached_.try_emplace(*to, state);
      if (to && instruction.does == Does::jump && state == kEntry) jumped_to_.insert(*to);
      known = !ends_flow(instruction);
      reached_.erase(reached_.begin(), reached_.upper_bound(at));
    }
  }

 private:
  static constexpr std::size_t kPrologue = 12;  // instructions
  static constexpr std::size_t kMostLookedAhead = 256;
  static constexpr std::size_t kAlignment = 16;  // of functions

  std::size_t index_of(std::size_t at) const {
    const auto found = std::lower_bound(
        all_.begin(), all_.end(), at, [](const Placed& one, std::size_t wanted) { return one.at < wanted; });
    return static_cast<std::size_t>(found - all_.begin());
  }

  /// Where a call, jump or branch leads, or what has the address, if that is in this code.
  std::optional<std::size_t> target(const Placed& one) const {
    const Does does = one.instruction.does;
    if (does != Does::call && does != Does::jump && does != Does::branch && does != Does::address) {
      return std::nullopt;
    }
    const std::int64_t to = static_cast<std::int64_t>(one.at + one.instruction.size) + one.instruction.value;
    if (to < 0 || to >= static_cast<std::int64_t>(code_.size())) return std::nullopt;
    return static_cast<std::size_t>(to);
  }

  /// Between functions and blocks: `nop` of any length, zeros.
  bool is_padding(std::size_t at) const {
    std::string_view rest = code_.substr(at);
    while (rest.starts_with('\x66') || rest.starts_with('\x2e')) rest.remove_prefix(1);
    return rest.starts_with('\x90') || rest.starts_with("\x0f\x1f") || rest.starts_with('\0') ||
           rest.starts_with('\xcc');
  }

  /// The state of code that follows the end of a flow and that no earlier code leads to.
  State state_behind_end(std::size_t i) {
    const std::size_t at = all_[i].at;
    if (const auto reached = reached_.find(at); reached != reached_.end()) return reached->second;
    State ahead{1 << 20, 0, 0, false};  // deep enough to pop from
    const std::int64_t begin = *ahead.depth;
    bool makes_frame = false;  // before anything else is done to sp
    for (std::size_t j = i; j < std::min(i + kMostLookedAhead, all_.size()); ++j) {
      const X86Instruction& instruction = all_[j].instruction;
      if (j > i && functions_.contains(all_[j].at)) break;
      if (ends_flow(instruction)) {
        const std::optional<std::int64_t> end = depth_at_end(all_[j]);
        const std::int64_t depth = end && ahead.depth ? *end + begin - *ahead.depth : 0;
        if (depth < 1) break;
        if (depth == 1 && makes_frame) body_ = kEntry;
        return body_.depth == depth ? body_ : State{depth, depth == 1 ? 0 : body_.saved_fp, 0, false};
      }
      const bool untouched = ahead.depth == begin;
      apply(instruction, ahead);
      if (untouched) makes_frame = ahead.depth.value_or(begin) > begin;
    }
    // It is a function that is called by its address alone.
    if (makes_frame && (begin_ + at) % kAlignment == 0) body_ = kEntry;
    return body_;
  }

  std::optional<std::int64_t> depth_at_end(const Placed& end) const {
    if (end.instruction.does == Does::returns) return 1;
    if (end.instruction.does != Does::jump) return std::nullopt;
    const auto reached = reached_.find(target(end).value_or(0));
    return reached == reached_.end() ? std::nullopt : reached->second.depth;
  }

  std::string_view code_;
  std::uint32_t begin_;
  std::vector<Placed> all_;  ///< the instructions
  std::set<std::size_t> functions_;
  std::set<std::size_t> jumped_to_;
  std::map<std::size_t, State> reached_;  ///< where branches lead forward to
  State body_ = kEntry;                   ///< the deepest of the function so far
};

}  // namespace

void add_code_rules(std::string_view code, std::uint32_t begin, const std::vector<std::uint32_t>& functions,
                    UnwindRows& rows) {
  Rules rules(code, begin, functions);
  if (rules.has_frame_pointers()) return;
  rules.find_jumped_to();
  rules.add_to(rows);
}

}  // namespace offwait
