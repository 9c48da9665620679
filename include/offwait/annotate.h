/* SPDX-License-Identifier: MIT */
/*
 * Copyright (c) 2026 the offwait authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
 * associated documentation files (the "Software"), to deal in the Software without restriction, including
 * without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
 * following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial
 * portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
 * LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
 * EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
 * IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE
 * USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
/* Macros with which a program tells offwait what the kernel cannot see. They work in C and C++ and need no
 * library. Unless offwait records the program, each costs one `nop` and its argument in a register. offwait
 * finds them in the program's file by itself (USDT, provider "offwait").
 *
 *   offwait_spin_begin(&lock);              busy waiting begins
 *   while (!try_to_get(&lock)) pause();
 *   offwait_spin_end(&lock);                busy waiting ends
 *   ...
 *   offwait_spin_release(&lock);            optional, just before letting go: others waited until here
 *   let_go(&lock);                          (else they waited for the last thread that got through)
 *
 *   while (!condition) {
 *     wait();
 *     if (!condition) offwait_false_wakeup();   the thread that woke this one did not end its wait
 *   }
 *
 * On other architectures than x86-64 and arm64, and where programs are not ELF files, the macros do nothing.
 */
#ifndef OFFWAIT_ANNOTATE_H
#define OFFWAIT_ANNOTATE_H

#if defined(__ELF__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

/* A note in the file with owner "stapsdt" and type 3. It holds the addresses of the nop, of .stapsdt.base and
 * of a semaphore (none), then the provider, the name and the arguments. */
#define OFFWAIT_PROBE_NOTE(name, arguments)                               \
  "990: nop\n"                                                            \
  ".pushsection .note.stapsdt,\"?\",\"note\"\n"                           \
  ".balign 4\n"                                                           \
  ".4byte 992f-991f, 994f-993f, 3\n"                                      \
  "991: .asciz \"stapsdt\"\n"                                             \
  "992: .balign 4\n"                                                      \
  "993: .8byte 990b, _.stapsdt.base, 0\n"                                 \
  ".asciz \"offwait\", \"" name "\", \"" arguments                        \
  "\"\n"                                                                  \
  "994: .balign 4\n"                                                      \
  ".popsection\n"                                                         \
  ".ifndef _.stapsdt.base\n"                                              \
  ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
  ".weak _.stapsdt.base\n"                                                \
  ".hidden _.stapsdt.base\n"                                              \
  "_.stapsdt.base: .space 1\n"                                            \
  ".size _.stapsdt.base, 1\n"                                             \
  ".popsection\n"                                                         \
  ".endif\n"

#if defined(__x86_64__)
#define OFFWAIT_PROBE_OBJECT(name, object)                                                         \
  do {                                                                                             \
    const void* offwait_object_ = (object);                                                        \
    __asm__ __volatile__(OFFWAIT_PROBE_NOTE(name, "8@%%rdi") : : "D"(offwait_object_) : "memory"); \
  } while (0)
#else
#define OFFWAIT_PROBE_OBJECT(name, object)                                                      \
  do {                                                                                          \
    register const void* offwait_object_ __asm__("x0") = (object);                              \
    __asm__ __volatile__(OFFWAIT_PROBE_NOTE(name, "8@x0") : : "r"(offwait_object_) : "memory"); \
  } while (0)
#endif
#define OFFWAIT_PROBE(name) __asm__ __volatile__(OFFWAIT_PROBE_NOTE(name, "") : : : "memory")

#else
#define OFFWAIT_PROBE_OBJECT(name, object) ((void)(object))
#define OFFWAIT_PROBE(name) ((void)0)
#endif

#define offwait_spin_begin(object) OFFWAIT_PROBE_OBJECT("spin_begin", object)
#define offwait_spin_end(object) OFFWAIT_PROBE_OBJECT("spin_end", object)
#define offwait_spin_release(object) OFFWAIT_PROBE_OBJECT("spin_release", object)
#define offwait_false_wakeup() OFFWAIT_PROBE("false_wakeup")

#endif
