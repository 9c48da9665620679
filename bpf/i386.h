/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of 32-bit programs on x86_64, which have numbers of their own. */
#ifndef OFFWAIT_BPF_I386_H
#define OFFWAIT_BPF_I386_H

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT_BIT 0x2u
#define FIRST_COMMON_CALL 424 /* from here on all architectures have the same numbers */
#define I386_CALLS 512        /* a power of two, above FIRST_COMMON_CALL */

/* One more than the number of the 64-bit call for which threads wait alike, in the order of arch/x86/entry/
 * syscalls/syscall_32.tbl; 0: another call. */
static const volatile __u16 native_calls[I386_CALLS] = {
    [2] = 58 /* fork */,
    [3] = 1 /* read */,
    [4] = 2 /* write */,
    [6] = 4 /* close */,
    [7] = 62 /* waitpid: wait4 */,
    [29] = 35 /* pause */,
    [36] = 163 /* sync */,
    [54] = 17 /* ioctl */,
    [55] = 73 /* fcntl */,
    [72] = 131 /* sigsuspend: rt_sigsuspend */,
    [82] = 24 /* select */,
    [91] = 12 /* munmap */,
    [93] = 78 /* ftruncate */,
    [102] = 46 /* socketcall: recvfrom, but its argument is no descriptor */,
    [114] = 62 /* wait4 */,
    [118] = 75 /* fsync */,
    [120] = 57 /* clone */,
    [125] = 11 /* mprotect */,
    [142] = 24 /* _newselect: select */,
    [143] = 74 /* flock */,
    [144] = 27 /* msync */,
    [145] = 20 /* readv */,
    [146] = 21 /* writev */,
    [148] = 76 /* fdatasync */,
    [162] = 36 /* nanosleep */,
    [168] = 8 /* poll */,
    [177] = 129 /* rt_sigtimedwait */,
    [179] = 131 /* rt_sigsuspend */,
    [180] = 18 /* pread64 */,
    [181] = 19 /* pwrite64 */,
    [187] = 41 /* sendfile */,
    [190] = 59 /* vfork */,
    [192] = 10 /* mmap2: mmap */,
    [220] = 218 /* getdents64 */,
    [221] = 73 /* fcntl64 */,
    [225] = 188 /* readahead */,
    [239] = 41 /* sendfile64 */,
    [240] = 203 /* futex */,
    [247] = 209 /* io_getevents */,
    [256] = 233 /* epoll_wait */,
    [267] = 231 /* clock_nanosleep */,
    [284] = 248 /* waitid */,
    [308] = 271 /* pselect6 */,
    [309] = 272 /* ppoll */,
    [313] = 276 /* splice */,
    [314] = 278 /* sync_file_range */,
    [315] = 277 /* tee */,
    [316] = 279 /* vmsplice */,
    [319] = 282 /* epoll_pwait */,
    [324] = 286 /* fallocate */,
    [333] = 296 /* preadv */,
    [334] = 297 /* pwritev */,
    [337] = 300 /* recvmmsg */,
    [344] = 307 /* syncfs */,
    [345] = 308 /* sendmmsg */,
    [362] = 43 /* connect */,
    [364] = 289 /* accept4 */,
    [369] = 45 /* sendto */,
    [370] = 47 /* sendmsg */,
    [371] = 46 /* recvfrom */,
    [372] = 48 /* recvmsg */,
    [373] = 49 /* shutdown */,
    [377] = 327 /* copy_file_range */,
    [378] = 328 /* preadv2 */,
    [379] = 329 /* pwritev2 */,
    [385] = 334 /* io_pgetevents */,
    [407] = 231 /* clock_nanosleep_time64 */,
    [413] = 271 /* pselect6_time64 */,
    [414] = 272 /* ppoll_time64 */,
    [416] = 334 /* io_pgetevents_time64 */,
    [417] = 300 /* recvmmsg_time64 */,
    [421] = 129 /* rt_sigtimedwait_time64 */,
    [422] = 203 /* futex_time64 */,
};

/* Whether the call that interrupted the task came in by the 32-bit entry. */
static __always_inline bool in_call_of_32_bits(struct task_struct* task) {
  return task->thread_info.status & TS_COMPAT_BIT;
}

/* The number of the 64-bit call; a negative one, which is no call's, stays. */
static __always_inline __s64 number_of_i386(__s64 number) {
  __u32 call = (__u32)number;
  if (number < 0 || call >= FIRST_COMMON_CALL) return number;
  __u32 native = native_calls[call & (I386_CALLS - 1)];
  return native ? (__s64)native - 1 : OFFWAIT_SYSCALL_UNKNOWN;
}

/* The first argument. That of socketcall says which call it is; the descriptor is in user space. */
static __always_inline __u64 argument_of_i386(__s64 number, __u64 bx) { return number == 102 ? ~0ull : bx; }

#endif

#endif
