/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an interrupted system call waits on, told by its first argument: a file descriptor or an address.
 * locks.h reads what is at the address. */
#ifndef OFFWAIT_CALLS_H
#define OFFWAIT_CALLS_H

#include "files.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "offwait/event.h"
#include "peer.h"

#if defined(__TARGET_ARCH_x86)
/* The same for calls of 32-bit programs, by their own numbers. */
static __always_inline bool takes_fd_in_32_bits(__u32 call) {
  return call == 3 /* read */ || call == 4 /* write */ || call == 6 /* close */ || call == 54 /* ioctl */ ||
         call == 55 /* fcntl */ || call == 93 /* ftruncate */ || call == 118 /* fsync */ ||
         (call >= 143 && call <= 148 && call != 144 && call != 147) /* flock, readv, writev, fdatasync */ ||
         (call >= 180 && call <= 181) /* pread64, pwrite64 */ || call == 187 /* sendfile */ ||
         call == 220 /* getdents64 */ || call == 221 /* fcntl64 */ || call == 239 /* sendfile64 */ ||
         (call >= 313 && call <= 316) /* splice … vmsplice */ || call == 324 /* fallocate */ ||
         (call >= 333 && call <= 334) /* preadv, pwritev */ || call == 344 /* syncfs */ ||
         (call >= 377 && call <= 379) /* copy_file_range, preadv2, pwritev2 */;
}

/* socketcall has its socket in user space. */
static __always_inline bool takes_socket_in_32_bits(__u32 call) {
  return call == 337 /* recvmmsg */ || call == 345 /* sendmmsg */ || call == 362 /* connect */ ||
         call == 364 /* accept4 */ || (call >= 369 && call <= 373) /* sendto … shutdown */ ||
         call == 417 /* recvmmsg_time64 */;
}
#endif

static __always_inline bool takes_fd(__s16 syscall) {
#if defined(__TARGET_ARCH_x86)
  if (syscall & OFFWAIT_CALL_OF_32_BITS) return takes_fd_in_32_bits(syscall - OFFWAIT_CALL_OF_32_BITS);
  return syscall == 0 /* read */ || syscall == 1 /* write */ || syscall == 3 /* close */ ||
         syscall == 16 /* ioctl */ ||
         (syscall >= 17 && syscall <= 20) /* pread64, pwrite64, readv, writev */ ||
         syscall == 40 /* sendfile */ ||
         (syscall >= 72 && syscall <= 75) /* fcntl, flock, fsync, fdatasync */ ||
         syscall == 77 /* ftruncate */ || syscall == 78 /* getdents */ || syscall == 187 /* readahead */ ||
         syscall == 217 /* getdents64 */ || syscall == 221 /* fadvise64 */ ||
         (syscall >= 275 && syscall <= 278) /* splice, tee, sync_file_range, vmsplice */ ||
         syscall == 285 /* fallocate */ || syscall == 295 /* preadv */ || syscall == 296 /* pwritev */ ||
         syscall == 306 /* syncfs */ || (syscall >= 326 && syscall <= 328) /* copy_file_range … pwritev2 */;
#elif defined(__TARGET_ARCH_arm64)
  return syscall == 25 /* fcntl */ || syscall == 29 /* ioctl */ || syscall == 32 /* flock */ ||
         syscall == 46 /* ftruncate */ || syscall == 47 /* fallocate */ || syscall == 57 /* close */ ||
         syscall == 61 /* getdents64 */ || (syscall >= 63 && syscall <= 71) /* read … sendfile */ ||
         (syscall >= 75 && syscall <= 77) /* vmsplice … tee */ ||
         (syscall >= 82 && syscall <= 84) /* fsync, fdatasync, sync_file_range */ ||
         syscall == 213 /* readahead */ || syscall == 223 /* fadvise64 */ || syscall == 267 /* syncfs */ ||
         (syscall >= 285 && syscall <= 287) /* copy_file_range, preadv2, pwritev2 */;
#endif
}

/* System calls that take nothing but sockets. */
static __always_inline bool takes_socket(__s16 syscall) {
#if defined(__TARGET_ARCH_x86)
  if (syscall & OFFWAIT_CALL_OF_32_BITS) return takes_socket_in_32_bits(syscall - OFFWAIT_CALL_OF_32_BITS);
  return (syscall >= 42 && syscall <= 48) /* connect … shutdown */ || syscall == 288 /* accept4 */ ||
         syscall == 299 /* recvmmsg */ || syscall == 307 /* sendmmsg */;
#elif defined(__TARGET_ARCH_arm64)
  return (syscall >= 202 && syscall <= 212) /* accept … recvmsg */ ||
         (syscall >= 242 && syscall <= 243) /* accept4, recvmmsg */ || syscall == 269 /* sendmmsg */;
#endif
}

static __always_inline bool is_futex(__s16 syscall) {
#if defined(__TARGET_ARCH_x86)
  return syscall == 202 || syscall == (240 | OFFWAIT_CALL_OF_32_BITS) ||
         syscall == (422 | OFFWAIT_CALL_OF_32_BITS) /* futex_time64 */;
#elif defined(__TARGET_ARCH_arm64)
  return syscall == 98;
#endif
}

static __always_inline struct file* file_of_fd(struct task_struct* task, __u32 fd) {
  /* Down to the table, the verifier knows the types: these reads need no helper call. */
  struct files_struct* files = UNTRUSTED(struct task_struct, task)->files;
  struct fdtable* table = files ? files->fdt : NULL;
  if (!table || fd >= table->max_fds) return NULL;
  if (kernel_has_rdonly_cast) return FIRST_POINTER(table->fd + fd);
  struct file* file = NULL;
  bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
  return file;
}

/* Notes what the descriptor of a system call refers to: its kind, and the socket's peer, the pipe or the
 * file. */
static __always_inline void note_file(struct offwait_thread* thread, struct task_struct* task, __u32 fd) {
  struct file* file = file_of_fd(task, fd);
  struct inode* inode = file ? READ_ANY(file, file, f_inode) : NULL;
  if (!inode) return;
  switch (READ_ANY(inode, inode, i_mode) & FORMAT_MASK) {
    case FORMAT_SOCKET:
      thread->fd_kind = OFFWAIT_FD_SOCKET;
      thread->object = peer_of_socket(inode);
      if (thread->object) thread->object_kind = OFFWAIT_OBJECT_PEER;
      return;
    case FORMAT_CHAR:
      thread->fd_kind = OFFWAIT_FD_CHAR;
      return;
    case FORMAT_PIPE:
      thread->fd_kind = OFFWAIT_FD_PIPE;
      if (magic_of(inode) != MAGIC_OF_PIPES) break;
      thread->object = READ_ANY(inode, inode, i_ino);
      thread->object_kind = OFFWAIT_OBJECT_PIPE;
      return;
    default:
      if (magic_of(inode) == MAGIC_OF_ANONYMOUS_INODES) {
        thread->fd_kind = OFFWAIT_FD_ANON;
        return;
      }
      thread->fd_kind = OFFWAIT_FD_FILE;
  }
  thread->object = id_of_open_file(file, inode);
  if (thread->object) thread->object_kind = OFFWAIT_OBJECT_FILE;
}

#endif
