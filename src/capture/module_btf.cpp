// SPDX-License-Identifier: GPL-2.0-or-later
// Before 1.4 libbpf looks for a kfunc that the kernel lacks (bpf_rdonly_cast before 6.2) in the BTF of
// modules, too. Listing that takes CAP_SYS_ADMIN, which offwait can do without; without it libbpf does not
// load the programs. No kfunc that offwait uses is in a module, so the function here reports the end of the
// list instead. The linker puts it before libbpf's own (--wrap).

#include <cerrno>

#include <linux/types.h>

extern "C" {

int __real_bpf_btf_get_next_id(__u32 start_id, __u32* next_id);  // NOLINT(bugprone-reserved-identifier)

int __wrap_bpf_btf_get_next_id(__u32 start_id, __u32* next_id) {  // NOLINT(bugprone-reserved-identifier)
  const int error = __real_bpf_btf_get_next_id(start_id, next_id);
  if (error == 0 || errno != EPERM) return error;
  errno = ENOENT;  // the end of the list
  return -ENOENT;
}
}
