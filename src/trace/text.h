// SPDX-License-Identifier: GPL-2.0-or-later
// The text form of a trace, "offwait-waits 1". `offwait dump` writes it, and `offwait report FILE` reads it
// without a kernel. trace/records.h lists the records and their keys, and says what each of them means. A
// short file:
//
//   offwait-waits 1
//   window 0 1000000
//   thread 11 tgid=10 comm=redis start=0 exit=-
//   disk vda bytes_per_s=5e+08 ios_per_s=20000 capacity=assumed
//   wait 11 block=100 wake=900 run=950 waker=disk:vda class=disk stack=io_schedule;fsync
//
// Lines. Each line is one record. Fields are separated by blanks (spaces, tabs, and a carriage return at the
// end of the line). Keys come in any order, each at most once. Blank lines and lines whose first character
// after blanks is `#` are skipped; elsewhere `#` is a character like any other. The first line is the header,
// and the first record after it is the window. Everything else comes in any order, except that an object's
// line comes before the lines that name it, that the waits of one thread are in order of time, and so are its
// preempt lines, its unknown lines and its false lines. Every line, including the last one, ends with a
// newline: a file that is cut off inside a line is an error.
//
// Numbers are decimal without sign. Times are ns from 0 to 2^63-2; `-` stands for kNever. Capacities are
// decimal fractions > 0 (`5e+08` is one). A tid is 1 to 2^31-1, tgid 0 to 2^31-1 (0: not known).
//
// Text values (names, frames, the values of `recording`) are bytes. Printable ASCII stands for itself, except
// space,
// `%` and, in stacks, `;`. Any byte may be written %XX. A frame or a name other than comm is never empty.
// Frames are leaf first, as in Stack. If the last one is `[cut:%20REASON]`, it says why a user stack does not
// reach its outermost frame (model/stack_cut.h).
//
// Actors by name. Devices and interrupts are the same actor if kind and name are the same. They need no line
// of their own, except for a disk's or interface's capacity; a line (at most one each) also fixes their place
// in the order of actors.
//
// Threads by tid. A tid may have several thread lines with disjoint lifetimes [start, exit). A wait, preempt
// or unknown line belongs to the life that began last at or before its start, and must end by the life's
// exit, unless its end is `-`. A waker, or the thread of an io, on_cpu, responses or calls line, is the life
// that began last at or before the wake, the issue, `at` or `last`: an exiting thread still wakes its parent
// after its exit was recorded. A tid without any thread line may wake, submit, respond, call, be sampled or
// be preempted. It is then a thread of tgid 0 with an empty name and outside=no that lives from window.begin
// (or from its first record, if that is earlier) to kNever. Its states are unknown (seen = window.end) or, if
// it has preempt lines, unknown until the first of them. A tid with wait or unknown lines needs a thread
// line.
//
// Limits. A line may have 1 MiB, a text value 4096 bytes, a stack 1024 frames, and a disk 64 disks below it.
// More is an error.
//
// Errors. Nothing is guessed: any deviation is an error `NAME:LINE: what is wrong and what is expected`.
// Examples are an unknown record or key, a key that is missing or there twice, a value that is no number or
// out of range, times out of order (block <= wake <= run, from <= to, ...), waits of a thread that overlap or
// lie outside its lifetime, two lives of a tid at once, a waker that was not born yet, and the same loss
// counter twice. A trace that was read satisfies validate().
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

/// Whether a file that begins with `head` (16 bytes are enough) is in the text form.
bool looks_like_text(std::string_view head);

/// Reads `head`, which was read from `fd` before, and from `fd` to its end, in chunks. Errors begin with
/// `name` as it is: the caller makes it fit for display. Actors, objects, sites, stacks and frames are
/// numbered in order of first appearance, actors without a line of their own last. Text has no unused frames,
/// stacks and sites.
///
/// Memory in addition to the Trace: 8 bytes for each wait; 40 more for each wait that comes before the thread
/// line of its thread or waker, or whose waker has no thread line; 12 bytes for each preempt, unknown,
/// on_cpu, responses or calls line; and a bounded rest.
Result<Trace> read_text(int fd, const std::string& name, std::string head = {});

/// The same, from memory.
Result<Trace> parse_text(std::string_view text, const std::string& name);

/// Writes a trace that satisfies validate(). Reading it back gives an equal trace, with the same ids if they
/// were in the order that read_text() gives, except that
/// - a parent that was not alive at its child's start, or that has its child's tid, is left out;
/// - times before 0 become 0, and a `seen` before `start` becomes max(start, window.begin);
/// - capacities are in order of their disks;
/// - sites, stacks and frames that nothing refers to are left out, and an empty stack becomes no stack;
/// - a frame over 4096 bytes is cut and ends with `[cut]`; a stack over 1024 frames or 256 KiB of text is cut
///   and has `[cut]` as its last frame.
/// Errors: a trace that does not satisfy validate(); one that text cannot express (a group actor, a tid that
/// is not > 0, two threads with one tid at the same time, a waker that was not born yet, a device or
/// interrupt without a name or with that of another, an empty frame, a name over 4096 bytes, two capacities
/// of one disk, a disk on more than 64 others or on one without a name, a peer without a name); and every
/// failure to write, such as a full disk. Flushes `file` and does not close it.
Status write_text(const Trace& trace, std::FILE* file);

}  // namespace offwait
