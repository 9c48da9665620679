/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network: the interface whose packet the running softirq delivers. */
#ifndef OFFWAIT_NET_H
#define OFFWAIT_NET_H

SEC("tp_btf/netif_receive_skb")
int on_netif_receive_skb(__u64* ctx) {
  struct cpu_context* context = cpu_context();
  struct sk_buff* skb = (void*)ctx[0];
  if (context) context->softirq_device = (__u64)skb->dev;
  return 0;
}

#endif
