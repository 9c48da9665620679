// SPDX-License-Identifier: GPL-2.0-or-later
// Waits as text, "offwait-waits 1": what `offwait report FILE` reads without a kernel and what `offwait dump`
// writes. trace/records.h lists the records and their keys, and says what each of them means. A short file:
//
//   offwait-waits 1
//   window 0 1000000
//   thread 11 tgid=10 comm=redis start=0 exit=-
//   disk vda bytes_per_s=5e+08 ios_per_s=20000 capacity=assumed
//   wait 11 block=100 wake=900 run=950 waker=disk:vda class=disk stack=io_schedule;fsync
//
// Lines. One record a line; fields are separated by blanks (spaces, tabs; a carriage return at the end of
// the line is one too); keys come in any order, each at most once. Blank lines and lines whose first
// character after blanks is `#` are skipped; `#` elsewhere is a character like any other. The first line is
// the header, the first record after it the window; everything else comes in any order, except that the
// waits of one thread are in order of time among each other, and so are its preempt, unknown and false lines.
// Every line, the last one too, ends with a newline: a file cut off inside a line is an error.
//
// Numbers are decimal without sign. Times are ns from 0 to 2^63-2; `-` stands for kNever. Capacities are
// decimal fractions > 0 (`5e+08` is one). A tid is 1 to 2^31-1, tgid 0 to 2^31-1 (0: not known).
//
// Text values (names, frames, the recording's) are bytes: printable ASCII stands for itself, except space,
// `%` and, in stacks, `;`; any byte may be written %XX. A frame or a name other than comm is never empty.
// Frames are leaf first, as in Stack. One that is `[cut:%20REASON]`, the last one, says why a user stack does
// not reach its outermost frame (model/stack_cut.h).
//
// Which actor a name means. Devices and interrupts are the same actor when kind and name are the same; a line
// of their own (at most one each) is needed by nothing but a disk's capacity, and keeps the order of actors.
// A tid may have several thread lines with disjoint lifetimes [start, exit). A wait, preempt or unknown line
// belongs to the life that began last at or before its begin, and must be over at its exit, unless its end is
// `-`; a waker and the thread of an io or on_cpu is the life that began last at or before the wake, the issue
// or `at` (an exiting thread still wakes its parent after its exit was recorded). A tid without any thread
// line that wakes, submits, is sampled or preempted is a thread of tgid 0 and empty name that lives from
// window.begin (or from its first record, if that is earlier) to kNever, outside=no, whose states are unknown
// (seen = window.end), or, when it has preempt lines, unknown until the first of them. A tid with wait or
// unknown lines needs a thread line.
//
// Limits, beyond which a line is an error: a line 1 MiB, a text value 4096 bytes, a stack 1024 frames, a disk
// on 64 others.
//
// Nothing is guessed. Whatever is not as above is an error `NAME:LINE: what is wrong and what is expected`:
// an unknown record or key, a key missing or twice, a value that is no number or out of range, times out of
// order (block <= wake <= run, from <= to, ...), waits of a thread that overlap or lie outside its lifetime,
// two lives of a tid at once, a waker that was not born yet, the same loss counter twice, and so on. What is
// read satisfies validate().
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

inline constexpr std::size_t kMaxTextLine = std::size_t{1} << 20;  ///< without its newline
inline constexpr std::size_t kMaxTextValue = 4096;                 ///< decoded
inline constexpr std::size_t kMaxTextFrames = 1024;
inline constexpr std::size_t kMaxTextDisksBelow = 64;

/// Whether a file that begins with `head` (16 bytes are enough) is to be read as text.
bool looks_like_text(std::string_view head);

/// Reads from `fd` to its end, in chunks; the memory used beside the Trace is 8 bytes a wait, and 40 more for
/// each wait that stands before the thread line of its thread or waker or whose waker has none; 12 bytes a
/// preempt, unknown or on_cpu line; and a bounded rest. `name` stands in front of the errors as it is: the
/// caller makes it fit for display. Actors, sites, stacks and frames are numbered in order of first
/// appearance, actors without a line of their own last. Unused frames, stacks and sites cannot come from
/// text.
Result<Trace> read_text(int fd, const std::string& name);

/// The same, from memory.
Result<Trace> parse_text(std::string_view text, const std::string& name);

/// Writes a trace that satisfies validate(). Reading it back gives an equal trace, with the same ids if they
/// were in the order that read_text() gives, except that
/// - a parent that was not alive at its child's start, or has its tid, is none;
// - times before 0 become 0, and a `seen` before start max(start, window.begin);
/// - capacities are in order of their disks;
/// - sites, stacks and frames that nothing refers to are gone, an empty stack is no stack;
/// - a frame over 4096 bytes is cut and ends with `[cut]`, a stack over 1024 frames or 256 KiB of text
///   has `[cut]` as its last frame.
/// Errors: a trace that does not satisfy validate(); one that cannot be said in text (a group actor, a tid
/// that is not > 0, two threads with one tid at the same time, a waker that was not born yet, a device or
/// interrupt without a name or with that of another, an empty frame, a name over 4096 bytes, two capacities
/// of one disk, a disk on more than 64 others or on one without a name, a peer without a name); and every
/// failure to write, such as a full disk. Flushes `file` and does not close it.
Status write_text(const Trace& trace, std::FILE* file);

}  // namespace offwait
