// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/x86_instruction.h"

#include "unwind/cursor.h"

namespace offwait {
namespace {

using Does = X86Instruction::Does;

constexpr std::uint8_t kSp = 4;
constexpr std::uint8_t kFp = 5;

enum class Map : std::uint8_t { one, two, f38, f3a };

/// What stands before the opcode.
struct Prefixes {
  bool narrow = false;          // 66
  bool narrow_address = false;  // 67
  std::uint8_t rex = 0;
  Map map = Map::one;
  bool vector = false;  // VEX or EVEX

  bool wide() const { return (rex & 8U) != 0; }
};

struct ModRm {
  std::uint8_t mod = 3, reg = 0, rm = 0;  // with the bits of REX
  std::int64_t displacement = 0;
  bool is_sp_plus = false;  // memory at sp + displacement
  bool is_pc_plus = false;  // memory at the next instruction + displacement
};

bool is_one_of(std::uint8_t opcode, std::string_view opcodes) {
  return opcodes.find(static_cast<char>(opcode)) != std::string_view::npos;
}

bool has_modrm(Map map, std::uint8_t opcode) {
  using namespace std::string_view_literals;
  if (map == Map::f38 || map == Map::f3a) return true;
  if (map == Map::two) {
    if ((opcode & 0xf0U) == 0x80 || (opcode >= 0xc8 && opcode <= 0xcf)) return false;
    return !is_one_of(
        opcode, "\x05\x06\x07\x08\x09\x0b\x0e\x30\x31\x32\x33\x34\x35\x37\x77\xa0\xa1\xa2\xa8\xa9\xaa"sv);
  }
  if (opcode < 0x40) return (opcode & 7U) < 4;
  return is_one_of(opcode, "\x63\x69\x6b\x80\x81\x83\xc0\xc1\xc6\xc7\xd0\xd1\xd2\xd3\xf6\xf7\xfe\xff"sv) ||
         (opcode >= 0x84 && opcode <= 0x8f) || (opcode >= 0xd8 && opcode <= 0xdf);
}

/// Bytes of the immediate operand.
std::size_t immediate_size(const Prefixes& prefixes, std::uint8_t opcode, std::uint8_t reg) {
  using namespace std::string_view_literals;
  const std::size_t full = prefixes.narrow ? 2 : 4;
  if (prefixes.map == Map::f3a) return 1;
  if (prefixes.map == Map::f38) return 0;
  if (prefixes.map == Map::two) {
    if (!prefixes.vector && (opcode & 0xf0U) == 0x80) return 4;
    return is_one_of(opcode, "\x70\x71\x72\x73\xa4\xac\xba\xc2\xc4\xc5\xc6"sv) ? 1 : 0;
  }
  if (opcode < 0x40) return (opcode & 7U) == 4 ? 1 : (opcode & 7U) == 5 ? full : 0;
  if ((opcode & 0xf8U) == 0xb8) return prefixes.wide() ? 8 : full;
  if ((opcode & 0xfcU) == 0xa0) return prefixes.narrow_address ? 4 : 8;
  if (opcode == 0xf6) return reg < 2 ? 1 : 0;
  if (opcode == 0xf7) return reg < 2 ? full : 0;
  if (opcode == 0xc8) return 3;
  if (opcode == 0xe8 || opcode == 0xe9) return 4;
  if (is_one_of(opcode, "\x68\x69\x81\xa9\xc7"sv)) return full;
  if (is_one_of(opcode, "\xc2\xca"sv)) return 2;
  const bool byte =
      (opcode & 0xf0U) == 0x70 || (opcode & 0xf8U) == 0xb0 || (opcode >= 0xe0 && opcode <= 0xe7);
  return byte || is_one_of(opcode, "\x6a\x6b\x80\x83\xa8\xc0\xc1\xc6\xcd\xeb"sv) ? 1 : 0;
}

Prefixes read_prefixes(Cursor& code, std::uint8_t& opcode) {
  using namespace std::string_view_literals;
  Prefixes out;
  for (opcode = code.fixed<std::uint8_t>();
       !code.failed() && is_one_of(opcode, "\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65"sv);
       opcode = code.fixed<std::uint8_t>()) {
    out.narrow |= opcode == 0x66;
    out.narrow_address |= opcode == 0x67;
  }
  if ((opcode & 0xf0U) == 0x40) {
    out.rex = opcode;
    opcode = code.fixed<std::uint8_t>();
  }
  if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62) {
    out.vector = true;
    const auto first = code.fixed<std::uint8_t>();
    const unsigned map = opcode == 0xc5 ? 1 : first & 7U;
    (void)code.bytes(opcode == 0xc5 ? 0 : opcode == 0xc4 ? 1 : 2);
    out.map = map == 2 ? Map::f38 : map == 3 ? Map::f3a : Map::two;
    opcode = code.fixed<std::uint8_t>();
  } else if (opcode == 0x0f) {
    opcode = code.fixed<std::uint8_t>();
    out.map = opcode == 0x38 ? Map::f38 : opcode == 0x3a ? Map::f3a : Map::two;
    if (out.map != Map::two) opcode = code.fixed<std::uint8_t>();
  }
  return out;
}

ModRm read_modrm(Cursor& code, const Prefixes& prefixes) {
  const auto byte = code.fixed<std::uint8_t>();
  ModRm out;
  out.mod = byte >> 6U;
  out.reg = static_cast<std::uint8_t>((byte >> 3U & 7U) | (prefixes.rex & 4U) << 1U);
  out.rm = static_cast<std::uint8_t>((byte & 7U) | (prefixes.rex & 1U) << 3U);
  if (out.mod == 3) return out;
  std::uint8_t base = byte & 7U;
  if (base == kSp) {
    const auto sib = code.fixed<std::uint8_t>();
    base = sib & 7U;
    out.is_sp_plus = sib == 0x24 && (prefixes.rex & 3U) == 0;
  }
  out.is_pc_plus = out.mod == 0 && (byte & 7U) == kFp;
  if (out.mod == 1) out.displacement = code.fixed<std::int8_t>();
  if (out.mod == 2 || (out.mod == 0 && base == kFp)) out.displacement = code.fixed<std::int32_t>();
  return out;
}

/// What instructions of the first map do to sp; those whose operands are in `modrm`.
void set_effect(const Prefixes& prefixes, std::uint8_t opcode, const ModRm& modrm, X86Instruction& out) {
  const bool to_register = modrm.mod == 3;
  const std::uint8_t operation = modrm.reg & 7U;
  if (opcode == 0xff) {
    if (operation == 6) out.does = Does::push;
    if (operation == 4 || operation == 5) out.does = Does::goes_nowhere;
  } else if (opcode == 0x8f) {
    out.does = Does::pop;
  } else if (prefixes.wide() && (opcode == 0x81 || opcode == 0x83) && to_register && modrm.rm == kSp) {
    out.does = operation == 0 || operation == 5 ? Does::move_sp : operation == 7 ? Does::other : Does::set_sp;
    if (operation == 5) out.value = -out.value;
  } else if (opcode == 0x89 && !to_register && modrm.is_sp_plus && modrm.reg == kFp && prefixes.wide()) {
    out.does = Does::save_fp;
    out.value = modrm.displacement;
  } else if (opcode == 0x8d && modrm.reg == kFp && modrm.is_sp_plus) {
    out.does = Does::sp_to_fp;
    out.value = modrm.displacement;
  } else if (opcode == 0x8d && modrm.reg == kSp) {
    out.does = modrm.is_sp_plus ? Does::move_sp : modrm.rm == kFp ? Does::fp_to_sp : Does::set_sp;
    out.value = modrm.displacement;
  } else if (opcode == 0x8d && modrm.is_pc_plus) {
    out.does = Does::address;
    out.value = modrm.displacement;
  } else if ((opcode == 0x31 || opcode == 0x33) && to_register && modrm.rm == kFp && modrm.reg == kFp) {
    out.does = Does::clear_fp;
  } else if (opcode == 0x89 || opcode == 0x8b) {
    const std::uint8_t to = opcode == 0x89 ? modrm.rm : modrm.reg;
    const std::uint8_t from = opcode == 0x89 ? modrm.reg : modrm.rm;
    const bool writes_register = opcode == 0x8b || to_register;
    if (to_register && to == kFp && from == kSp) out.does = Does::sp_to_fp;
    if (writes_register && to == kSp) out.does = to_register && from == kFp ? Does::fp_to_sp : Does::set_sp;
    out.value = 0;
  } else if ((opcode == 0x29 || opcode == 0x01) && to_register && modrm.rm == kSp) {
    out.does = Does::set_sp;
  }
}

/// The same for instructions without such operands.
void set_flow(const Prefixes& prefixes, std::uint8_t opcode, X86Instruction& out) {
  const bool extended = (prefixes.rex & 1U) != 0;
  if (prefixes.map == Map::two) {
    if ((opcode & 0xf0U) == 0x80) out.does = Does::branch;
    if (opcode == 0x0b) out.does = Does::goes_nowhere;
  } else if ((opcode & 0xf0U) == 0x50) {
    const bool is_push = opcode < 0x58;
    const bool is_fp = (opcode & 7U) == kFp && !extended;
    out.does = is_push ? (is_fp ? Does::push_fp : Does::push) : (is_fp ? Does::pop_fp : Does::pop);
    if (opcode == 0x5c && !extended) out.does = Does::set_sp;
  } else if ((opcode & 0xf0U) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3)) {
    out.does = Does::branch;
  } else if (opcode == 0x68 || opcode == 0x6a) {
    out.does = Does::push;
  } else if (opcode == 0xe8) {
    out.does = Does::call;
  } else if (opcode == 0xe9 || opcode == 0xeb) {
    out.does = Does::jump;
  } else if (opcode == 0xc9) {
    out.does = Does::leave;
  } else if (opcode == 0xc2 || opcode == 0xc3) {
    out.does = Does::returns;
  } else if (opcode == 0xcc || opcode == 0xf4) {
    out.does = Does::goes_nowhere;
  }
}

}  // namespace

X86Instruction x86_instruction(std::string_view code) {
  Cursor cursor(code);
  X86Instruction out;
  std::uint8_t opcode = 0;
  const Prefixes prefixes = read_prefixes(cursor, opcode);
  const bool with_modrm =
      prefixes.vector ? prefixes.map != Map::two || opcode != 0x77 : has_modrm(prefixes.map, opcode);
  const ModRm modrm = with_modrm ? read_modrm(cursor, prefixes) : ModRm();
  const std::size_t immediate = immediate_size(prefixes, opcode, modrm.reg & 7U);
  if (immediate == 1) {
    out.value = cursor.fixed<std::int8_t>();
  } else if (immediate == 4) {
    out.value = cursor.fixed<std::int32_t>();
  } else {
    (void)cursor.bytes(immediate);
  }
  if (cursor.failed()) return {};
  if (prefixes.map == Map::one && with_modrm) set_effect(prefixes, opcode, modrm, out);
  if (!with_modrm && !prefixes.vector) set_flow(prefixes, opcode, out);
  out.size = static_cast<std::size_t>(cursor.position() - code.data());
  return out;
}

}  // namespace offwait
