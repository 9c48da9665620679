// SPDX-License-Identifier: GPL-2.0-or-later
// The recording file, version 1: what `offwait record -o FILE` writes while it records, and `offwait report
// FILE` and the like read. This header is its specification; rows.h lists the fields of every table.
//
// Numbers are little-endian, of fixed width, and two's complement if they are signed. Times are
// CLOCK_MONOTONIC of the recorded host in ns. Names and paths are hostile bytes.
//
// A file is a header, then sections, one behind the other. Sections are only ever appended. Each is written
// as a whole and counts as a whole: a file that ends inside a section, or has a section whose checksum is
// wrong, is good up to the section before.
//
//   header      8 bytes   kMagic
//               u32       version, 1
//               u32       CRC-32 of these 12 bytes
//
//   section     u32       kind (SectionKind)
//               u32       flags (kOptionalSection, kZstdSection)
//               u64       size of the content as stored
//               u64       size of the content: equal, or with kZstdSection what it has uncompressed
//               u32       CRC-32 of the content as stored
//               u32       CRC-32 of these 28 bytes
//               …         the content as stored: with kZstdSection one zstd frame
//
// CRC-32 is that of zlib, gzip and IEEE 802.3. A reader refuses a version that it does not know. It skips a
// section of a kind that it does not know if kOptionalSection is set, and refuses the file if not.
//
// SectionKind::rows. Tables of names and numbers:
//
//   row         u8        table (Table)
//               u32       size of the fields
//               …         the fields, as rows.h lists them: numbers; texts and lists, which are a u32 with
//               the
//                         number of bytes or elements and then these; and values that may be missing, which
//                         are a u8 (0: missing) and then the value
//
// Rows come in any order, but Table::about comes before all that has numbers of an architecture: records and
// Table::thread. A row replaces an earlier one with the same key. A reader ignores tables that it does not
// know, and fields behind those that it knows.
//
// SectionKind::linked_records and drawn_records, and SectionKind::records, which earlier versions wrote.
// Waits, preemptions, samples, requests to disks and what else the kernel recorded (offwait/event.h), in the
// order in which it did. The first four are the most frequent, and are columns. A column of n numbers of w
// bytes is w planes of n bytes. The first plane has the lowest byte of each number.
//
//   keys        u32       number of keys; then columns: u8 record type, u8 waker_kind, u8 fd_kind, u8 flags,
//                         u32 tid, u32 waker_id, u16 syscall, u16 task_state, u32 wait_user, u32 wait_kernel,
//                         u32 waker_user, u32 waker_kernel (or waker_nic), u64 object, as in offwait_wait. Of
//                         a sample, wait_user and wait_kernel are `user` and `kernel`, waker_id is `tgid` and
//                         object `pc`; of a request, flags
//                         are `operation`, waker_id is `dev` and wait_user `file`; all else is 0.
//                         SectionKind::drawn_records has one column more, behind these: u32 draw. Only
//                         sections in which it is not 0 everywhere are of this kind.
//   intervals   u32       number of intervals; then columns: u32 index of the key; u64 run_ns less that of
//                         the interval before in this section, or less 0, in zigzag (0, -1, 1, -2, … are 0,
//                         1, 2, 3, …); u64 run_ns - wake_ns; u64 wake_ns - block_ns; u32 in_flight_ns or
//                         owner, or `bytes` of a request. A preemption has its out_ns as wake_ns and
//                         block_ns, a sample its at_ns as all three, a request its complete_ns as run_ns and
//                         wake_ns and its issue_ns as block_ns. Sums are modulo 2^64.
//               All but SectionKind::records have one column more, before that of wake_ns - block_ns: u32 how
//               many intervals back in this section is one whose run_ns is the block_ns of this one, because
//               the CPU switched from the one thread to the other; 0: none. Where it is not 0, wake_ns -
//               block_ns is given as 0. (A busy server's file is an eighth smaller for it.)
//   others      u32       number of other records, in order; then of each u32 the number of intervals before
//                         it in this section, u8 its type, u32 the size of its fields, and the fields as
//                         rows.h lists them. A reader ignores types and fields that it does not know.
//
// System calls have the numbers of the architecture that Table::about names.
//
// SectionKind::end, without content, says that the recording is complete. Without it the recording was
// interrupted: it ends at the last Table::window, as whose records and tables all before it count.
//
// Enumerators have the numbers of offwait/event.h, offwait/unwind.h (how stacks end), model/frame.h,
// model/stack_cut.h and device/capacity.h (types of disks). They are never given another meaning.
//
// What later versions may change without a new number: new tables, new types of records that are no
// intervals, new fields of both behind the others, new kinds of optional sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace offwait {

/// Bytes that no text begins with, and that a transfer as text would change.
inline constexpr std::string_view kMagic{"\x8foffw\r\n\x1a", 8};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kSectionHeaderBytes = 32;

/// `records` are read, and no longer written.
enum class SectionKind : std::uint32_t {
  rows = 1,
  records = 2,
  end = 3,
  linked_records = 4,
  drawn_records = 5
};
inline constexpr std::uint32_t kOptionalSection = 1U << 0;
inline constexpr std::uint32_t kZstdSection = 1U << 1;

/// More is not written, and refused when read.
inline constexpr std::uint64_t kMostSectionBytes = std::uint64_t{64} << 20;
inline constexpr std::size_t kMostIntervals = std::size_t{1} << 20;  ///< in one section
/// The kernel keeps 16,384. User space keeps 49,152 more, and adds one at most for each of 65,536 threads.
inline constexpr std::size_t kMostStacks = std::size_t{1} << 17;
inline constexpr std::size_t kMostKernelFrames = 64;  ///< at one address

enum class Table : std::uint8_t {
  about = 1,
  window,
  numbers,
  thread,
  thread_gone,
  blocked,
  stack,
  mapping,
  nics,
  peer,
  served_ports,
  unix_address,
  responses,
  calls,
  file,
  mounts,
  interrupts,
  disks,
  disks_below,
  disk_counters,
  nic_counters,
  cpus,
  cpu_quotas,
  other_processes,
  allowed_cpus,
  program,
  program_of,
  losses,
  frame,
  named_stack,
  named_spin,
  named_data,
  known_disk,
  known_nic,
  kernel_frame,
  build_id,
  cost,
  recorder,
  memory,
};

}  // namespace offwait
