/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers: the other end of a socket where a call names one; for poll and epoll, which name none, the sender of
 * the packet that ended the wait. Each is an address and a port, stored once under an id. */
#ifndef OFFWAIT_PEER_H
#define OFFWAIT_PEER_H

#include "context.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"
#include "offwait/event.h"

#define FAMILY_INET 2
#define FAMILY_INET6 10
#define STATE_LISTEN 10
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

/* Hosts without ports, for peers that `peers` has no room for. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, struct offwait_peer);
  __type(value, __u32);
} peer_hosts SEC(".maps");

/* Reads words from an address whose type the verifier does not know. */
static __always_inline void read_words(__u32* words, __u32 count, const void* address) {
  if (kernel_has_rdonly_cast) {
    for (__u32 i = 0; i < count; ++i) words[i] = (__u32)FIRST_WORD((const __u32*)address + i);
    return;
  }
  bpf_probe_read_kernel(words, count * sizeof(*words), address);
}

static __always_inline void set_ipv4(struct offwait_peer* peer, __u32 address) {
  peer->address[2] = 0xffff0000; /* ::ffff:a.b.c.d, in network order */
  peer->address[3] = address;
}

/* The peer's id, a new one if it has none yet; 0 if there is no room. Interrupts are off, so that each CPU
 * can give out ids of its own. */
static __noinline __u32 id_of_peer(struct offwait_peer* peer) {
  struct cpu_notes* context = cpu_notes();
  if (!context) return 0;
  __u32* known = bpf_map_lookup_elem(&peers, peer);
  if (known) return *known;
  __u32 fresh = (context->peers + 1) * MAX_CPUS + (bpf_get_smp_processor_id() % MAX_CPUS);
  if (bpf_map_update_elem(&peers, peer, &fresh, BPF_NOEXIST) == 0) {
    ++context->peers;
    return fresh;
  }
  known = bpf_map_lookup_elem(&peers, peer); /* another CPU was faster */
  if (known) return *known;
  peer->port = 0;
  known = bpf_map_lookup_elem(&peer_hosts, peer);
  if (known) return *known;
  if (bpf_map_update_elem(&peer_hosts, peer, &fresh, BPF_NOEXIST) == 0) {
    ++context->peers;
    return fresh;
  }
  count_loss(OFFWAIT_LOSS_peer_table_full);
  return 0;
}

/* The id of the peer of the socket with this inode; 0 if the socket has none: it listens, is not connected,
 * or is no internet socket. */
static __noinline __u32 peer_of_socket(struct inode* inode) {
  const struct socket* socket =
      (const void*)((const char*)inode - bpf_core_field_offset(struct socket_alloc, vfs_inode) +
                    bpf_core_field_offset(struct socket_alloc, socket));
  struct offwait_peer peer = {};
  struct sock* sk;
  __u32 accepted_backlog;
  __u16 family, port;
  __u8 state;
  if (kernel_has_rdonly_cast) {
    sk = READABLE_AS(struct socket, socket)->sk;
    if (!sk) return 0;
    const struct sock* readable = READABLE_AS(struct sock, sk);
    family = readable->__sk_common.skc_family;
    state = readable->__sk_common.skc_state;
    port = readable->__sk_common.skc_dport;
    peer.local_port = readable->__sk_common.skc_num;
    accepted_backlog = readable->sk_max_ack_backlog;
  } else {
    sk = BPF_CORE_READ(socket, sk);
    if (!sk) return 0;
    family = BPF_CORE_READ(sk, __sk_common.skc_family);
    state = BPF_CORE_READ(sk, __sk_common.skc_state);
    port = BPF_CORE_READ(sk, __sk_common.skc_dport);
    peer.local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
    accepted_backlog = BPF_CORE_READ(sk, sk_max_ack_backlog);
  }
  if ((family != FAMILY_INET && family != FAMILY_INET6) || !port || state == STATE_LISTEN) return 0;
  if (family == FAMILY_INET) {
    __u32 address;
    read_words(&address, 1, (const char*)sk + bpf_core_field_offset(struct sock_common, skc_daddr));
    set_ipv4(&peer, address);
  } else {
    read_words(peer.address, 4, (const char*)sk + bpf_core_field_offset(struct sock_common, skc_v6_daddr));
  }
  peer.port = __builtin_bswap16(port);
  /* accept() returns a copy of the listening socket, backlog included. A socket that connected has no
   * backlog. */
  if (accepted_backlog) {
    peer.accepted = 1;
    peer.local_port = 0;
  }
  return id_of_peer(&peer);
}

/* Notes the address and port that sent this packet, as far as its linear part tells. */
static __always_inline void note_sender_address(struct sk_buff* skb, struct offwait_peer* peer) {
  const __u32 ipv4_words = 5;
  const __u32 ipv6_words = 10;
  __builtin_memset(peer, 0, sizeof(*peer));
  __u32 linear = skb->len - skb->data_len;
  const char* data = (const char*)skb->data;
  __u32 ip[10];
  __u32 protocol;
  __u32 header;
  if (skb->protocol == __builtin_bswap16(0x0800)) {
    if (linear < ipv4_words * 4) return;
    read_words(ip, ipv4_words, data);
    header = (ip[0] & 0xf) * 4;
    if (ip[1] & __builtin_bswap32(0x1fff)) return; /* a later fragment */
    protocol = ip[2] >> 8 & 0xff;
    set_ipv4(peer, ip[3]);
  } else if (skb->protocol == __builtin_bswap16(0x86dd)) {
    if (linear < ipv6_words * 4) return;
    read_words(ip, ipv6_words, data);
    header = ipv6_words * 4;
    protocol = ip[1] >> 16 & 0xff;
    for (int i = 0; i < 4; ++i) peer->address[i] = ip[2 + i];
  } else {
    return;
  }
  if ((protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP) || linear < header + 4) return;
  __u32 ports;
  read_words(&ports, 1, data + header);
  peer->port = __builtin_bswap16((__u16)ports);
  peer->local_port = __builtin_bswap16((__u16)(ports >> 16));
}

#endif
