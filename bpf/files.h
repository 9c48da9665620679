/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that threads wait for and that requests to disks are for. Each is stored once under an id; its path
 * is told at first sight, and again when it has another name. A file is known by its device, inode and
 * generation. The path comes from the kernel's directory entries, up to the root of the thread that is seen
 * to use it. What belongs to a device and to no file is journal if jbd2 submits it, else metadata. */
#ifndef OFFWAIT_FILES_H
#define OFFWAIT_FILES_H

#include "context.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"
#include "offwait/event.h"
#include "records.h"

#define PATH_PARTS 24
#define FORMAT_MASK 0170000
#define FORMAT_SOCKET 0140000
#define FORMAT_FILE 0100000
#define FORMAT_BLOCK 0060000
#define FORMAT_DIRECTORY 0040000
#define FORMAT_CHAR 0020000
#define FORMAT_PIPE 0010000

/* linux/magic.h */
#define MAGIC_OF_ANONYMOUS_INODES 0x09041934
#define MAGIC_OF_PIPES 0x50495045
#define MAGIC_OF_MEMORY 0x01021994
#define MAGIC_OF_HUGE_PAGES 0x958458f6

static __always_inline __u64 magic_of(const struct inode* inode) {
  const struct super_block* file_system = READ_ANY(inode, inode, i_sb);
  return READ_ANY(super_block, file_system, s_magic);
}
static __always_inline __u32 device_of(const struct inode* inode) {
  const struct super_block* file_system = READ_ANY(inode, inode, i_sb);
  return READ_ANY(super_block, file_system, s_dev);
}
static __always_inline struct block_device* block_device_of(const struct inode* inode) {
  const struct super_block* file_system = READ_ANY(inode, inode, i_sb);
  return READ_ANY(super_block, file_system, s_bdev);
}

/* A pointer as a number: the verifier forbids arithmetic with what it takes for a pointer. */
static __always_inline __u64 read_number(const void* address) {
  if (kernel_has_rdonly_cast) return (__u64)FIRST_LONG(address);
  __u64 number = 0;
  bpf_probe_read_kernel(&number, sizeof(number), address);
  return number;
}

struct known_file {
  __u32 id;
  __u32 pad;
  __u64 name; /* changes when the file gets another name or none; 0: it was not seen through a descriptor */
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct offwait_file_key);
  __type(value, struct known_file);
} files SEC(".maps");

#define NUMBER_IN(type, address, field) \
  read_number((const char*)(address) + bpf_core_field_offset(struct type, field))

/* Stores the names from `dentry` up. Without `mount` they end at the root of the file system. Pointers are
 * numbers here, and the length is read back from the record, so that the verifier finds all rounds alike. */
static __always_inline void put_path(struct offwait_file* record, __u64 dentry, __u64 mount) {
  struct task_struct* task = (void*)bpf_get_current_task();
  struct fs_struct* fs = BPF_CORE_READ(task, fs);
  __u64 root = fs ? (__u64)BPF_CORE_READ(fs, root.dentry) : 0;
  __u64 root_mount = fs ? (__u64)BPF_CORE_READ(fs, root.mnt) : 0;
  volatile __u32* total = &record->length;
#pragma clang loop unroll(disable)
  for (int i = 0; i < PATH_PARTS && dentry; ++i) {
    if (mount && dentry == root && mount == root_mount) {
      record->flags |= OFFWAIT_FILE_TO_ROOT;
      break;
    }
    __u64 parent = NUMBER_IN(dentry, dentry, d_parent);
    if (dentry == parent || (mount && dentry == NUMBER_IN(vfsmount, mount, mnt_root))) {
      if (!mount) {
        record->flags |= OFFWAIT_FILE_TO_FILE_SYSTEM;
        break;
      }
      __u64 mounted = mount - bpf_core_field_offset(struct mount, mnt);
      __u64 on = NUMBER_IN(mount, mounted, mnt_parent);
      if (!on || on == mounted) {
        record->flags |= OFFWAIT_FILE_TO_ROOT;
        break;
      }
      dentry = NUMBER_IN(mount, mounted, mnt_mountpoint);
      mount = on + bpf_core_field_offset(struct mount, mnt);
      continue;
    }
    __u32 length = *total;
    if (length > OFFWAIT_PATH_BYTES - OFFWAIT_PATH_PART) break;
    long taken = bpf_probe_read_kernel_str(record->parts + length, OFFWAIT_PATH_PART,
                                           (const void*)NUMBER_IN(dentry, dentry, d_name.name));
    if (taken <= 0) break;
    *total = length + (__u32)taken;
    dentry = parent;
  }
}

/* The id under which this key is known, a new one if it has none yet; 0 if there is no room. If the file's
 * name is new, its path is told. Interrupts are off, so that each CPU can give out ids of its own. */
static __noinline __u32 id_of_file(struct offwait_file_key* key, struct dentry* dentry,
                                   struct vfsmount* mount, __u64 name) {
  struct cpu_notes* context = cpu_notes();
  if (!context) return 0;
  struct known_file* known = bpf_map_lookup_elem(&files, key);
  __u32 id;
  if (known) {
    if (!name || known->name == name) return known->id;
    known->name = name;
    id = known->id;
  } else {
    struct known_file fresh = {};
    id = fresh.id = (context->files + 1) * MAX_CPUS + (bpf_get_smp_processor_id() % MAX_CPUS);
    fresh.name = name;
    if (bpf_map_update_elem(&files, key, &fresh, BPF_NOEXIST)) {
      known = bpf_map_lookup_elem(&files, key); /* another CPU may have been faster */
      if (!known) count_loss(OFFWAIT_LOSS_file_table_full);
      return known ? known->id : 0;
    }
    ++context->files;
  }
  struct offwait_file* record =
      new_record(OFFWAIT_RECORD_FILE, (__u32)bpf_get_current_pid_tgid(), sizeof(*record));
  if (!record) return id;
  record->id = id;
  record->dev = key->dev;
  record->inode = key->inode;
  record->at_ns = bpf_ktime_get_ns();
  record->generation = key->inode ? key->generation : 0;
  record->kind = key->inode ? OFFWAIT_FILE_OF_PATH : (__u8)key->generation;
  record->flags = name & 1 ? OFFWAIT_FILE_DELETED : 0;
  record->length = 0;
  put_path(record, (__u64)dentry, (__u64)mount);
  emit(record);
  return id;
}

static __always_inline void set_key(struct offwait_file_key* key, const struct inode* inode) {
  key->inode = READ_ANY(inode, inode, i_ino);
  key->dev = device_of(inode);
  key->generation = READ_ANY(inode, inode, i_generation);
}

/* The id of an open file. */
static __always_inline __u32 id_of_open_file(const struct file* file, const struct inode* inode) {
  struct offwait_file_key key;
  set_key(&key, inode);
  struct dentry* dentry = READ_ANY(file, file, f_path.dentry);
  if (!dentry) return 0;
  bool deleted = !READ_ANY(inode, inode, i_nlink);
  __u64 parent = NUMBER_IN(dentry, dentry, d_parent);
  __u64 name = (READ_ANY(dentry, dentry, d_name.hash_len) ^ parent) << 1 | deleted;
  return id_of_file(&key, dentry, READ_ANY(file, file, f_path.mnt), name ? name : 2);
}

/* The id of the file with this inode, or of what is on the device of which it is the inode. */
static __always_inline __u32 id_of_stored(const struct inode* inode) {
  struct offwait_file_key key = {};
  __u16 format = READ_ANY(inode, inode, i_mode) & FORMAT_MASK;
  if (format == FORMAT_FILE || format == FORMAT_DIRECTORY) {
    set_key(&key, inode);
    struct hlist_node* alias = READ_ANY(inode, inode, i_dentry.first);
    struct dentry* dentry = alias ? (struct dentry*)((char*)alias - offset_of_alias()) : NULL;
    return id_of_file(&key, dentry, NULL, 0);
  }
  static const char jbd2[4] = "jbd2";
  struct task_struct* task = (void*)bpf_get_current_task();
  char comm[16];
  bpf_get_current_comm(comm, sizeof(comm));
  bool journal = READ_ANY(task_struct, task, flags) & PF_KTHREAD_BIT && *(__u32*)comm == *(const __u32*)jbd2;
  key.dev = format == FORMAT_BLOCK ? READ_ANY(inode, inode, i_rdev) : device_of(inode);
  key.generation = journal ? OFFWAIT_FILE_JOURNAL : OFFWAIT_FILE_METADATA;
  return id_of_file(&key, NULL, NULL, 0);
}

#endif
