/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network: the interface whose packet the running softirq delivers and, over loopback and veth, the thread
 * that sent it. A packet that a softirq sends (an acknowledgement, a retransmission, data that the other
 * side's window held back) has no sender. */
#ifndef OFFWAIT_NET_H
#define OFFWAIT_NET_H

#include "context.h"
#include "cost.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "offwait/event.h"
#include "peer.h"

/* Packets between net_dev_queue and netif_receive_skb. Each is in one of PLACES places, counted from the hash
 * of its address, until it is received. Packets that were dropped on the way become the oldest; their places
 * are reused first. */
#define SENT_PACKETS 16384
#define PLACES 4

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SENT_PACKETS);
  __type(key, __u32);
  __type(value, struct sent_packet);
} sent_packets SEC(".maps");

static __always_inline struct sent_packet* place_of_packet(__u64 skb, __u32 place) {
  __u32 key = ((__u32)(skb * 0x9e3779b97f4a7c15ull >> 40) + place) % SENT_PACKETS;
  return bpf_map_lookup_elem(&sent_packets, &key);
}

static __always_inline void keep_packet(const struct sent_packet* packet) {
  struct sent_packet* oldest = NULL;
  for (__u32 i = 0; i < PLACES; ++i) {
    struct sent_packet* place = place_of_packet(packet->skb, i);
    if (!place) return;
    if (place->skb == packet->skb) {
      oldest = place;
      break;
    }
    if (!oldest || place->sent_ns < oldest->sent_ns) oldest = place;
  }
  if (oldest) *oldest = *packet;
}

/* Finds the packet and clears its place, because another packet may have the same address soon. */
static __always_inline bool take_packet(__u64 skb, struct sent_packet* packet) {
  for (__u32 i = 0; i < PLACES; ++i) {
    struct sent_packet* place = place_of_packet(skb, i);
    if (!place) return false;
    if (place->skb == skb) {
      *packet = *place;
      place->skb = 0;
      place->sent_ns = 0;
      return true;
    }
  }
  return false;
}

/* Whether a packet sent through this device arrives on this host as the same sk_buff. */
static __always_inline bool delivers_here(struct net_device* device) {
  if (device->flags & 0x8 /* IFF_LOOPBACK */) return true;
  const struct rtnl_link_ops* ops = device->rtnl_link_ops;
  if (!ops) return false;
  char kind[8] = {};
  bpf_probe_read_kernel_str(kind, sizeof(kind), ops->kind);
  return *(__u64*)kind == 'v' + ('e' << 8) + ('t' << 16) + ((__u64)'h' << 24);
}

static __always_inline int note_queued(__u64* ctx) {
  struct sk_buff* skb = (void*)ctx[0];
  __u32 count = preempt_count();
  struct cpu_notes* context = cpu_notes();
  if (!context || count & HARDIRQ_OR_NMI) return 0;
  __u64 address = as_number(context, skb);
  if (count & SOFTIRQ_SERVING) {
    if (context->softirq_packet.skb != address) return 0;
    /* A packet that a socket sent is a new one at the address of the packet just received. Any other is the
     * received packet itself, passed on by a bridge or a router. */
    if (skb->sk)
      context->softirq_packet.skb = 0;
    else if (context->softirq_packet.tid && delivers_here(skb->dev))
      keep_packet(&context->softirq_packet);
    return 0;
  }
  if (!delivers_here(skb->dev)) return 0;
  struct sent_packet packet = {};
  packet.skb = address;
  packet.sent_ns = bpf_ktime_get_ns();
  packet.task = bpf_get_current_task();
  packet.tid = (__u32)bpf_get_current_pid_tgid();
  keep_packet(&packet);
  return 0;
}

/* Soft interrupts are off here and in netif_receive_skb. */
SEC("tp_btf/net_dev_queue")
int on_net_dev_queue(__u64* ctx) {
  begin_cost(OFFWAIT_COST_PACKETS, COST_EVERY);
  note_queued(ctx);
  end_cost(OFFWAIT_COST_PACKETS);
  return 0;
}

/* Ports that a socket began to listen to during the recording. User space reads those before it from /proc.
 */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32); /* port */
  __type(value, __u8);
} listening_ports SEC(".maps");

SEC("tp_btf/inet_sock_set_state")
int on_inet_sock_set_state(__u64* ctx) {
  const struct sock* sk = (const void*)ctx[0];
  if ((int)ctx[2] != STATE_LISTEN) return 0;
  __u32 port = sk->__sk_common.skc_num;
  __u8 one = 1;
  bpf_map_update_elem(&listening_ports, &port, &one, BPF_ANY);
  return 0;
}

static __always_inline int note_delivered(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  struct sk_buff* skb = (void*)ctx[0];
  if (!context) return 0;
  context->softirq_device = (__u64)skb->dev;
  note_sender_address(skb, &context->softirq_peer);
  bool outside = skb->dev->dev.parent; /* hardware */
  __u64 address = as_number(context, skb);
  if (!outside && take_packet(address, &context->softirq_packet)) return 0;
  /* A bridge reports a packet for its own address as received a second time. */
  if (!outside && context->softirq_packet.skb == address) return 0;
  context->softirq_packet.skb = address;
  context->softirq_packet.tid = 0;
  return 0;
}

SEC("tp_btf/netif_receive_skb")
int on_netif_receive_skb(__u64* ctx) {
  begin_cost(OFFWAIT_COST_PACKETS, COST_EVERY);
  note_delivered(ctx);
  end_cost(OFFWAIT_COST_PACKETS);
  return 0;
}

#endif
