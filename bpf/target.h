/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target: the threads and processes that the user named, or the threads in a cgroup while they are in it.
 * No hook of the kernel tells of all moves between cgroups, so the cgroup is checked where a thread is seen
 * anyway, by going from its own cgroup upwards. A thread counts from its first switch inside to its first
 * switch outside. recorded_threads.h says which threads are recorded besides. */
#ifndef OFFWAIT_TARGET_H
#define OFFWAIT_TARGET_H

#include "context.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"

/* User space sets these before it loads the programs. */
const volatile bool target_is_cgroup = false; /* else target_tgids and target_tids say who is the target */
const volatile __u64 target_cgroup = 0;       /* the cgroup's id; 0: all of user space is the target */

/* offwait itself; set before the tracepoints are attached. If the target is a cgroup, neither offwait nor its
 * children belong to it. */
__u32 recorder_tgid = 0;

/* `typed`: the verifier knows the pointer's type, so that the field is read by a load instead of a call. */
#define FIELD(typed, pointer, field) ((typed) ? (pointer)->field : BPF_CORE_READ(pointer, field))

/* Whether it is a thread of offwait itself, or of a process that it started: a confined one, or the target. A
 * shell's children become children of the offwait that replaces the shell: offwait did not start those. */
static __always_inline bool is_of_recorder(struct task_struct* task, const bool typed) {
  struct task_struct* parent = FIELD(typed, task, real_parent);
  const __u32 own = (__u32)FIELD(typed, task, tgid) ^ recorder_tgid;
  const __u32 child = (__u32)FIELD(typed, parent, tgid) ^ recorder_tgid;
  const __u32 replaced =
      (__u32)FIELD(typed, task, parent_exec_id) ^ (__u32)FIELD(typed, parent, self_exec_id);
  /* One branch: the verifier follows each of them through all that comes after it. */
  return (__u64)own * (child | replaced) == 0;
}

#define MAX_CGROUP_DEPTH 32

/* The cgroup's depth below the root, 0 until a thread has been found in it. User space cannot tell it: its
 * cgroup namespace or mount may begin anywhere. */
__s32 target_level = 0;

static __always_inline __u64 cgroup_id(struct cgroup* cgroup, const bool typed) {
  struct kernfs_node* node = FIELD(typed, cgroup, kn);
  return FIELD(typed, node, id);
}

/* Whether this cgroup is the target or below it. */
static __always_inline bool below_target(struct cgroup* cgroup, const bool typed) {
  __s32 level = FIELD(typed, cgroup, level);
  if (level < target_level) return false;
  if (cgroup_id(cgroup, typed) != target_cgroup) {
    struct cgroup_subsys_state* css = FIELD(typed, cgroup, self.parent);
    for (__u32 i = 0;; ++i) {
      if (--level < target_level || i == MAX_CGROUP_DEPTH) return false;
      if (cgroup_id(FIELD(typed, css, cgroup), typed) == target_cgroup) break;
      css = FIELD(typed, css, parent);
    }
  }
  target_level = level;
  return true;
}

/* Kernel threads never belong to it: they are in the root's cgroup, whatever they work for. */
static __always_inline bool in_target_cgroup(struct task_struct* task, const bool typed) {
  if (typed) task = UNTRUSTED(struct task_struct, task);
  if (FIELD(typed, task, flags) & PF_KTHREAD_BIT) return false;
  if (is_of_recorder(task, typed)) return false;
  if (!target_cgroup) return true;
  struct css_set* cgroups = FIELD(typed, task, cgroups);
  return below_target(FIELD(typed, cgroups, dfl_cgrp), typed);
}

/* in_target_cgroup() of any task. The verifier goes through a global function once, and not again for every
 * call. */
__noinline int is_in_target_cgroup(__u64 task) { return in_target_cgroup((struct task_struct*)task, false); }

/* Whether a thread that is recorded because it ended another's wait belongs to the target itself. */
static __always_inline bool is_target(struct task_struct* task, __u32 tgid, __u32 tid) {
  if (target_is_cgroup) return is_in_target_cgroup((__u64)task);
  return bpf_map_lookup_elem(&target_tgids, &tgid) || bpf_map_lookup_elem(&target_tids, &tid);
}

#endif
