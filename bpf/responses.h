/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often each recorded thread responded to clients: that of a thread of the target is its progress, and a
 * thread outside of the target that responds is a service. A response is the first data sent on an accepted
 * connection after data was received there, so that requests received together have one response. Only sums
 * are kept, no record for each. */
#ifndef OFFWAIT_RESPONSES_H
#define OFFWAIT_RESPONSES_H

#include "context.h"
#include "cost.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"
#include "offwait/event.h"
#include "peer.h"
#include "records.h"

#define FAMILY_UNIX 1
#define RECEIVED_TO_PEEK 0x2 /* MSG_PEEK: the data stays in the socket */

struct connection {
  __u64 inode;    /* the socket's inode number, which no other socket had before */
  __u32 address;  /* as in offwait_responses_key */
  __u8 asked;     /* data was received since the last response */
  __u8 responded; /* in the window */
  __u16 pad;
  __u64 asked_ns;       /* when the first of that data was received; 0: before the window */
  __u64 unread_jiffies; /* for how long it was there before, at least */
};

/* By the address of the struct sock. The entry of a closed connection stays until a new socket has its
 * address, which is soon: the kernel uses the memory that was freed last. (Socket storage would need no
 * look-up, but Linux 7.2 has no memory for it in programs at sock_recv_length.) */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u64);
  __type(value, struct connection);
} connections SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct offwait_responses_key);
  __type(value, struct offwait_responses);
} responses SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, struct offwait_unix_address);
  __type(value, __u32); /* its id */
} unix_addresses SEC(".maps");

/* Most often the current thread is the one that was last seen to get this CPU, which takes no look-up. */
static __always_inline bool current_is_recorded(void) {
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  const struct cpu_notes* context = cpu_notes();
  return (context && context->recorded_tid == tid) || bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline __u64 inode_of_socket(const struct sock* sk) {
  const struct socket_alloc* socket = (const void*)UNTRUSTED(struct sock, sk)->sk_socket;
  if (!socket) return 0;
  if (kernel_has_rdonly_cast) return READABLE_AS(struct socket_alloc, socket)->vfs_inode.i_ino;
  return BPF_CORE_READ(socket, vfs_inode.i_ino);
}

/* The id of a unix socket's address, with OFFWAIT_UNIX_ADDRESS; 0 if the socket was not accepted, or if there
 * is no room. An accepted socket shares its address with the listening one; a socket that was bound before it
 * connected has one of its own. Only one program calls this, and it does not run twice at once on a CPU, so
 * that each CPU can give out ids of its own. */
static __noinline __u32 accepted_unix_address(const struct sock* sk) {
  const __u32 family_bytes = 2;
  struct unix_address* bound = BPF_CORE_READ((const struct unix_sock*)sk, addr);
  if (!bound || BPF_CORE_READ(bound, refcnt.refs.counter) < 2) return 0;
  struct offwait_unix_address address = {};
  __u32 length = (__u32)BPF_CORE_READ(bound, len) - family_bytes;
  if (length > sizeof(address.path)) return 0;
  address.length = length;
  const char* path = (const char*)bound + bpf_core_field_offset(struct unix_address, name) + family_bytes;
  bpf_probe_read_kernel(address.path, length, path);
  __u32* known = bpf_map_lookup_elem(&unix_addresses, &address);
  if (known) return *known;
  struct cpu_notes* context = cpu_notes();
  if (!context) return 0;
  __u32 fresh =
      OFFWAIT_UNIX_ADDRESS | (context->unix_addresses * MAX_CPUS + (bpf_get_smp_processor_id() % MAX_CPUS));
  if (bpf_map_update_elem(&unix_addresses, &address, &fresh, BPF_NOEXIST) == 0) {
    ++context->unix_addresses;
    return fresh;
  }
  known = bpf_map_lookup_elem(&unix_addresses, &address); /* another CPU was faster */
  if (known) return *known;
  count_loss(OFFWAIT_LOSS_response_table_full);
  return 0;
}

/* False if the socket was not accepted, which for most sockets takes no look-up. As in peer.h, an accepted
 * TCP socket has the backlog of the listening one. */
static __always_inline bool may_be_accepted(const struct sock* sk) {
  const struct sock* readable = UNTRUSTED(struct sock, sk);
  __u16 family = readable->__sk_common.skc_family;
  if (family == FAMILY_UNIX) return true;
  return (family == FAMILY_INET || family == FAMILY_INET6) && readable->sk_max_ack_backlog;
}

/* The local address of a socket that may be accepted, as in offwait_responses_key; 0 if it is not. */
static __always_inline __u32 accepted_address(const struct sock* sk) {
  const struct sock* readable = UNTRUSTED(struct sock, sk);
  if (readable->__sk_common.skc_family == FAMILY_UNIX) return accepted_unix_address(sk);
  return readable->__sk_common.skc_num;
}

/* For how long the last packet with data has been there. Unix sockets do not know it. */
static __always_inline __u64 unread_jiffies(const struct sock* sk, __u32 address) {
  if (address & OFFWAIT_UNIX_ADDRESS) return 0;
  __s32 jiffies = (__s32)((__u32)bpf_jiffies64() - READ_ANY(inet_connection_sock, sk, icsk_ack.lrcvtime));
  return jiffies > 0 ? jiffies : 0;
}

/* The client asks for something: before this data was received, all that was asked for had its response. */
static __always_inline void note_request(const struct sock* sk, struct connection* connection) {
  connection->asked = 1;
  connection->asked_ns = window_begun ? bpf_ktime_get_ns() : 0;
  connection->unread_jiffies = unread_jiffies(sk, connection->address);
}

/* The current thread received data. */
static __always_inline void note_received(const struct sock* sk) {
  if (!may_be_accepted(sk) || !current_is_recorded()) return;
  __u64 key = (__u64)sk;
  __u64 inode = inode_of_socket(sk);
  struct connection* known = bpf_map_lookup_elem(&connections, &key);
  if (known && known->inode == inode) {
    if (!known->asked) note_request(sk, known);
    return;
  }
  struct connection fresh = {};
  fresh.address = accepted_address(sk);
  if (!fresh.address || !inode) return;
  fresh.inode = inode;
  note_request(sk, &fresh);
  if (bpf_map_update_elem(&connections, &key, &fresh, BPF_ANY)) count_loss(OFFWAIT_LOSS_response_table_full);
}

/* The current thread, which is recorded, responded. */
static __always_inline void count_response(const struct connection* connection) {
  struct task_struct* task = (void*)bpf_get_current_task();
  struct offwait_responses_key key = {};
  key.start_ns = READ_ANY(task_struct, task, start_time);
  key.tid = (__u32)bpf_get_current_pid_tgid();
  key.address = connection->address;
  __u64 now = bpf_ktime_get_ns();
  __u64 jiffies = bpf_jiffies64();
  __u64 under_way_ns = connection->asked_ns ? now - connection->asked_ns : 0;
  struct offwait_responses* known = bpf_map_lookup_elem(&responses, &key);
  if (known) {
    ++known->count;
    known->connections += !connection->responded;
    known->last_ns = now;
    known->last_jiffies = jiffies;
    known->under_way_ns += under_way_ns;
    known->unread_jiffies += connection->unread_jiffies;
    return;
  }
  struct offwait_responses fresh = {};
  fresh.count = 1;
  fresh.connections = !connection->responded;
  fresh.first_ns = now;
  fresh.last_ns = now;
  fresh.first_jiffies = jiffies;
  fresh.last_jiffies = jiffies;
  fresh.under_way_ns = under_way_ns;
  fresh.unread_jiffies = connection->unread_jiffies;
  if (bpf_map_update_elem(&responses, &key, &fresh, BPF_NOEXIST))
    count_loss(OFFWAIT_LOSS_response_table_full);
}

/* The current thread sent data. */
static __always_inline void note_sent(const struct sock* sk) {
  if (!may_be_accepted(sk)) return;
  __u64 key = (__u64)sk;
  struct connection* connection = bpf_map_lookup_elem(&connections, &key);
  if (!connection || !connection->asked || connection->inode != inode_of_socket(sk)) return;
  if (!current_is_recorded()) return;
  connection->asked = 0;
  if (!window_open) return;
  count_response(connection);
  connection->responded = 1;
}

static __always_inline int sent(const struct sock* sk) {
  begin_cost(OFFWAIT_COST_SOCKETS, COST_EVERY);
  note_sent(sk);
  end_cost(OFFWAIT_COST_SOCKETS);
  return 0;
}

static __always_inline int received(const struct sock* sk) {
  begin_cost(OFFWAIT_COST_SOCKETS, COST_EVERY);
  note_received(sk);
  end_cost(OFFWAIT_COST_SOCKETS);
  return 0;
}

/* All calls that send and receive on a socket come here (6.3 and later). ctx[1] is what the call returns. */
SEC("tp_btf/sock_send_length")
int on_sock_send_length(__u64* ctx) { return (int)ctx[1] > 0 ? sent((const void*)ctx[0]) : 0; }

SEC("tp_btf/sock_recv_length")
int on_sock_recv_length(__u64* ctx) {
  return (int)ctx[1] > 0 && !((int)ctx[2] & RECEIVED_TO_PEEK) ? received((const void*)ctx[0]) : 0;
}

/* Earlier kernels have no such tracepoints. There, functions are traced where they begin: tracing their end
 * as well would keep a thread that sleeps in them on a trampoline, which kernels before 5.12 free too early
 * (e21aa341785c). A send that fails counts, but it is tried again, and the second one is no response. */
SEC("fentry/tcp_sendmsg")
int on_tcp_sendmsg(__u64* ctx) { return sent((const void*)ctx[0]); }

/* Data was copied to the receiving thread. */
SEC("tp_btf/tcp_rcv_space_adjust")
int on_tcp_rcv_space_adjust(__u64* ctx) { return received((const void*)ctx[0]); }

SEC("fentry/unix_stream_sendmsg")
int on_unix_stream_sendmsg(__u64* ctx) {
  const struct socket* socket = (const void*)ctx[0];
  return sent(socket->sk);
}

/* Data is copied to the receiving thread. */
SEC("fentry/unix_stream_read_actor")
int on_unix_stream_read_actor(__u64* ctx) {
  const struct unix_stream_read_state* state = (const void*)ctx[3];
  return state->flags & RECEIVED_TO_PEEK ? 0 : received(state->socket->sk);
}

#endif
