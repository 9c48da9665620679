/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an interrupted system call waits on, told by its first argument: a file descriptor or an address. What
 * is at the address is locks.h's. */
#ifndef OFFWAIT_CALLS_H
#define OFFWAIT_CALLS_H

#define ANON_INODE_MAGIC 0x09041934
#define FORMAT_MASK 0170000
#define FORMAT_SOCKET 0140000
#define FORMAT_CHAR 0020000
#define FORMAT_PIPE 0010000

static __always_inline bool takes_fd(__s16 syscall) {
#if defined(__TARGET_ARCH_x86)
  return syscall == 0 /* read */ || syscall == 1 /* write */ || syscall == 3 /* close */ ||
         syscall == 16 /* ioctl */ ||
         (syscall >= 17 && syscall <= 20) /* pread64, pwrite64, readv, writev */ ||
         syscall == 40 /* sendfile */ || syscall == 72 /* fcntl */ || syscall == 275 /* splice */ ||
         syscall == 276 /* tee */ || syscall == 278 /* vmsplice */ || syscall == 295 /* preadv */ ||
         syscall == 296 /* pwritev */ || syscall == 327 /* preadv2 */ || syscall == 328 /* pwritev2 */;
#elif defined(__TARGET_ARCH_arm64)
  return syscall == 25 /* fcntl */ || syscall == 29 /* ioctl */ || syscall == 57 /* close */ ||
         (syscall >= 63 && syscall <= 71) /* read … sendfile */ ||
         (syscall >= 75 && syscall <= 77) /* vmsplice … tee */ || syscall == 286 /* preadv2 */ ||
         syscall == 287 /* pwritev2 */;
#endif
}

/* System calls that take nothing but sockets. */
static __always_inline bool takes_socket(__s16 syscall) {
#if defined(__TARGET_ARCH_x86)
  return (syscall >= 42 && syscall <= 48) /* connect … shutdown */ || syscall == 288 /* accept4 */ ||
         syscall == 299 /* recvmmsg */ || syscall == 307 /* sendmmsg */;
#elif defined(__TARGET_ARCH_arm64)
  return (syscall >= 202 && syscall <= 212) /* accept … recvmsg */ ||
         (syscall >= 242 && syscall <= 243) /* accept4, recvmmsg */ || syscall == 269 /* sendmmsg */;
#endif
}

static __always_inline bool is_futex(__s16 syscall) {
#if defined(__TARGET_ARCH_x86)
  return syscall == 202;
#elif defined(__TARGET_ARCH_arm64)
  return syscall == 98;
#endif
}

static __always_inline struct inode* inode_of(struct fdtable* table, __u32 fd) {
  if (kernel_has_rdonly_cast) {
    void* file = FIRST_POINTER(table->fd + fd);
    return file ? READABLE_AS(struct file, file)->f_inode : NULL;
  }
  struct file* file = NULL;
  bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
  return file ? BPF_CORE_READ(file, f_inode) : NULL;
}

/* The kind of the task's file descriptor; if it is a socket, its inode is stored in *socket. */
static __always_inline __u8 fd_kind_of(struct task_struct* task, __u32 fd, struct inode** socket) {
  /* Down to the table, the verifier knows the types: these reads need no helper call. */
  struct files_struct* files = UNTRUSTED(struct task_struct, task)->files;
  struct fdtable* table = files ? files->fdt : NULL;
  if (!table || fd >= table->max_fds) return OFFWAIT_FD_NONE;
  struct inode* inode = inode_of(table, fd);
  if (!inode) return OFFWAIT_FD_NONE;
  __u16 mode = kernel_has_rdonly_cast ? inode->i_mode : BPF_CORE_READ(inode, i_mode);
  switch (mode & FORMAT_MASK) {
    case FORMAT_SOCKET:
      *socket = inode;
      return OFFWAIT_FD_SOCKET;
    case FORMAT_PIPE:
      return OFFWAIT_FD_PIPE;
    case FORMAT_CHAR:
      return OFFWAIT_FD_CHAR;
    default:
      return BPF_CORE_READ(inode, i_sb, s_magic) == ANON_INODE_MAGIC ? OFFWAIT_FD_ANON : OFFWAIT_FD_FILE;
  }
}

#endif
