/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disks: requests from submission to completion, and the disk whose request the running interrupt or thread
 * completes. */
#ifndef OFFWAIT_BLOCK_H
#define OFFWAIT_BLOCK_H

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u64); /* struct request */
  __type(value, struct offwait_request);
} requests SEC(".maps");

/* Commands of drivers and of user space (SCSI, NVMe passthrough) are not recorded: /proc/diskstats does not
 * count them either. Their operations are the last of enum req_op, from 32 on in every kernel. */
#define REQUEST_OPERATION 0xffu
#define FIRST_PASSTHROUGH 32

static __always_inline __u32 disk_of(struct request* rq) {
  struct gendisk* disk = request_disk(rq);
  return disk ? (__u32)(disk->major << 20 | disk->first_minor) : 0;
}

static __always_inline struct request* request_argument(__u64* ctx) {
  if (block_rq_has_queue) {
    struct request* second = (void*)ctx[1];
    barrier_var(second); /* or the compiler computes an address from ctx, which the verifier forbids */
    return second;
  }
  return (void*)ctx[0];
}

/* A request is inserted into a scheduler's queue or issued to the device. The first of the two happens in the
 * submitter's context, a later issue in any context. */
static __always_inline void submitted(__u64* ctx, bool issue) {
  struct request* rq = request_argument(ctx);
  if ((rq->cmd_flags & REQUEST_OPERATION) >= FIRST_PASSTHROUGH) return;
  __u64 key = (__u64)rq;
  __u64 now = bpf_ktime_get_ns();
  struct offwait_request* known = bpf_map_lookup_elem(&requests, &key);
  if (known && issue && !known->issue_ns) {
    known->issue_ns = now;
    known->bytes = rq->__data_len;
    return;
  }
  struct offwait_request request = {};
  request.issue_ns = issue ? now : 0;
  request.bytes = rq->__data_len;
  request.dev = disk_of(rq);
  if (!(preempt_count() & (HARDIRQ_OR_NMI | SOFTIRQ_SERVING)))
    request.tid = (__u32)bpf_get_current_pid_tgid();
  if (bpf_map_update_elem(&requests, &key, &request, BPF_ANY)) {
    count_loss(OFFWAIT_LOSS_request_table_full);
    return;
  }
  if (request.tid && bpf_map_lookup_elem(&disks, &request.dev)) record_current(request.tid, now);
}

SEC("tp_btf/block_rq_insert")
int on_block_rq_insert(__u64* ctx) {
  submitted(ctx, false);
  return 0;
}

SEC("tp_btf/block_rq_issue")
int on_block_rq_issue(__u64* ctx) {
  submitted(ctx, true);
  return 0;
}

/* The request was taken back from the device, or the device did not accept it. Whoever runs the queue will
 * issue it again. */
SEC("tp_btf/block_rq_requeue")
int on_block_rq_requeue(__u64* ctx) {
  __u64 key = (__u64)request_argument(ctx);
  struct offwait_request* request = bpf_map_lookup_elem(&requests, &key);
  if (request) request->issue_ns = 0;
  return 0;
}

/* A queued request became part of another one and is gone. Kernels before 5.11 do not report that; there the
 * entry stays until the kernel uses the request again. */
SEC("tp_btf/block_rq_merge")
int on_block_rq_merge(__u64* ctx) {
  __u64 key = (__u64)request_argument(ctx);
  bpf_map_delete_elem(&requests, &key);
  return 0;
}

SEC("tp_btf/block_rq_complete")
int on_block_rq_complete(__u64* ctx) {
  struct request* rq = (void*)ctx[0];
  __u32 disk = disk_of(rq);
  struct cpu_notes* context = cpu_notes();
  if (!context || !disk) return 0;
  __u32 count = preempt_count();
  if (count & HARDIRQ_OR_NMI) {
    context->irq_disk = disk;
  } else if (count & SOFTIRQ_SERVING) {
    context->softirq_disk = disk;
  } else {
    context->thread_disk = disk;
    context->thread_tid = (__u32)bpf_get_current_pid_tgid();
    context->thread_switches = current_switches();
  }

  __u64 key = (__u64)rq;
  struct offwait_request* request = bpf_map_lookup_elem(&requests, &key);
  if (!request) return 0; /* submitted before the recording began */
  /* A host may hide a completion from tracing. The entry then stays until the kernel uses the request again,
   * and is not about this use if the kernel made the request later than it was issued. */
  if (request->issue_ns && request->issue_ns >= rq->start_time_ns) {
    struct offwait_io* io = new_record(OFFWAIT_RECORD_IO, request->tid, sizeof(*io));
    if (io) {
      io->dev = disk;
      io->bytes = request->bytes;
      io->issue_ns = request->issue_ns;
      io->complete_ns = bpf_ktime_get_ns();
      emit(io);
    }
  }
  /* A request that completes in parts is emitted at its first part, with all its bytes. */
  bpf_map_delete_elem(&requests, &key);
  return 0;
}

#endif
