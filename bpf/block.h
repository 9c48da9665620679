/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disks: requests from submission to completion, and the disk whose request the running interrupt or thread
 * completes. */
#ifndef OFFWAIT_BLOCK_H
#define OFFWAIT_BLOCK_H

#include "calls.h"
#include "context.h"
#include "files.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"
#include "offwait/event.h"
#include "recorded_threads.h"
#include "records.h"

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

/* The file that the current thread's system call writes to or reads from. Before 5.15, when the helper came
 * that finds the call, it is not known. */
static __always_inline __u32 file_of_call(void) {
  if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) return 0;
  struct task_struct* task = (void*)bpf_get_current_task_btf();
  if (task->flags & PF_KTHREAD_BIT) return 0;
  struct interrupted_call call = interrupted_call(task);
  if (call.number < 0 || call.number >= 0x7fff || !takes_fd((__s16)call.number)) return 0;
  struct file* file = file_of_fd(task, (__u32)call.argument);
  struct inode* inode = file ? READ_ANY(file, file, f_inode) : NULL;
  __u16 format = inode ? READ_ANY(inode, inode, i_mode) & FORMAT_MASK : 0;
  return format == FORMAT_FILE || format == FORMAT_BLOCK ? id_of_open_file(file, inode) : 0;
}

/* The file of direct I/O that the kernel does through iomap, whoever submits it. Nothing says that the bio is
 * one of those, so what it seems to refer to must be a file on the bio's own device. */
static __always_inline __u32 file_of_direct_io(const struct bio* bio) {
  if (!bpf_core_field_exists(bio->bi_bdev)) return 0;
  struct iomap_dio* io = READ_ANY(bio, bio, bi_private);
  struct kiocb* iocb = io ? READ_ANY(iomap_dio, io, iocb) : NULL;
  struct file* file = iocb ? READ_ANY(kiocb, iocb, ki_filp) : NULL;
  struct inode* inode = file ? READ_ANY(file, file, f_inode) : NULL;
  if (!inode || (READ_ANY(inode, inode, i_mode) & FORMAT_MASK) != FORMAT_FILE ||
      block_device_of(inode) != READ_ANY(bio, bio, bi_bdev))
    return 0;
  return id_of_open_file(file, inode);
}

/* The low bits of page.mapping: what it points to is no address_space. */
#define NO_MAPPING 3ul

/* The file to which the first page of a request belongs, also when a thread of the kernel writes the page
 * back. The pages of direct I/O are a program's memory; there the file is that of the kiocb (since 5.12) or
 * of the submitting call (since 5.15). */
static __noinline __u32 file_of_request(struct request* rq, __u32 tid) {
  struct bio* bio = READ_ANY(request, rq, bio);
  struct bio_vec* pages = bio ? READ_ANY(bio, bio, bi_io_vec) : NULL;
  if (!pages) return 0;
  __u32 index = READ_ANY(bio, bio, bi_iter.bi_idx);
  /* A number: the verifier lets no mask be applied to a pointer. */
  __u64 page = NUMBER_IN(bio_vec, (char*)pages + index * bpf_core_type_size(struct bio_vec), bv_page);
  if (!page) return 0;
  page = first_page(page, read_number((const char*)page + offset_of_compound_info()));
  __u64 mapping = NUMBER_IN(page, page, mapping);
  if (mapping && !(mapping & NO_MAPPING)) {
    struct inode* inode = READ_ANY(address_space, mapping, host);
    /* Pages that belong to no file use the field for other things. */
    if (!inode || NUMBER_IN(inode, inode, i_mapping) != mapping) return 0;
    __u64 magic = magic_of(inode);
    if (magic != MAGIC_OF_MEMORY && magic != MAGIC_OF_HUGE_PAGES) return id_of_stored(inode);
  } else if (!mapping) {
    return 0;
  }
  __u32 file = file_of_direct_io(bio);
  return file || !tid ? file : file_of_call();
}

/* These two have the same numbers in every kernel. */
static __always_inline __u8 operation_of(struct request* rq) {
  switch (rq->cmd_flags & REQUEST_OPERATION) {
    case REQ_OP_READ:
      return OFFWAIT_IO_READ;
    case REQ_OP_WRITE:
      return OFFWAIT_IO_WRITE;
    default:
      return OFFWAIT_IO_OTHER;
  }
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
  request.file = file_of_request(rq, request.tid);
  request.operation = operation_of(rq);
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

/* The request was taken back from the device, or the device did not accept it. Another thread may run the
 * queue and issue it again. */
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
      io->file = request->file;
      io->operation = request->operation;
      __builtin_memset(io->pad2, 0, sizeof(io->pad2));
      emit(io);
    }
  }
  /* A request that completes in parts is emitted at its first part, with all its bytes. */
  bpf_map_delete_elem(&requests, &key);
  return 0;
}

#endif
