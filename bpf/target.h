/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is the target: threads and processes that are named, or those that are in a cgroup, as long as they are
 * in it. */
#ifndef OFFWAIT_TARGET_H
#define OFFWAIT_TARGET_H

/* Settings, fixed before loading. */
const volatile bool target_is_cgroup = false; /* else target_tgids and target_tids */
const volatile __u64 target_cgroup = 0;       /* its id; 0: any, so that all of user space is the target */

/* Set before the tracepoints are attached. Neither it nor its children are in a cgroup's target. */
__u32 recorder_tgid = 0;

#define MAX_CGROUP_DEPTH 32

/* The target's depth below the root, 0 until somebody was found in it. Not told by user space, whose cgroup
 * namespace or mount may begin anywhere. */
__s32 target_level = 0;

/* `typed`: the verifier knows the type, so that a field is a load instead of a call. */
#define FIELD(typed, pointer, field) ((typed) ? (pointer)->field : BPF_CORE_READ(pointer, field))

static __always_inline __u64 cgroup_id(struct cgroup* cgroup, const bool typed) {
  struct kernfs_node* node = FIELD(typed, cgroup, kn);
  return FIELD(typed, node, id);
}

/* Is this cgroup the target, or below it? */
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

/* Kernel threads are in the root's cgroup, whomever they work for. */
static __always_inline bool in_target_cgroup(struct task_struct* task, const bool typed) {
  if (typed) task = UNTRUSTED(struct task_struct, task);
  if (FIELD(typed, task, flags) & PF_KTHREAD_BIT) return false;
  if ((__u32)FIELD(typed, task, tgid) == recorder_tgid) return false;
  struct task_struct* parent = FIELD(typed, task, real_parent);
  if ((__u32)FIELD(typed, parent, tgid) == recorder_tgid) return false;
  if (!target_cgroup) return true;
  struct css_set* cgroups = FIELD(typed, task, cgroups);
  return below_target(FIELD(typed, cgroups, dfl_cgrp), typed);
}

/* Of any task, when it is recorded for what it does to others. */
static __always_inline bool is_target(struct task_struct* task, __u32 tgid, __u32 tid) {
  if (target_is_cgroup) return in_target_cgroup(task, false);
  return bpf_map_lookup_elem(&target_tgids, &tgid) || bpf_map_lookup_elem(&target_tids, &tid);
}

#endif
