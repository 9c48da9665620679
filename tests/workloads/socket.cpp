// SPDX-License-Identifier: GPL-2.0-or-later
// Two processes hand a message to each other through a connection: TCP over loopback, TCP into another
// network namespace (--netns), or a UNIX socket pair. The message is the writer's tid, so the reader knows
// which thread sent it (and over TCP, the peer's address), even when another thread's CPU time delivered it.
// Processes of
// --flood provide such threads: each sends a hundred datagrams every millisecond. --ipv6 uses an IPv4 address
// through an IPv6 socket; --poll waits in poll.
#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

/// An IPv4 address in the form of an IPv6 socket (::ffff:a.b.c.d); `port` is in network order.
sockaddr_in6 place(const std::string& address, in_port_t port) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = port;
  const bool ipv6 = address.find(':') != std::string::npos;
  if (inet_pton(AF_INET6, ((ipv6 ? "" : "::ffff:") + address).c_str(), &out.sin6_addr) != 1)
    Options::refuse("--address is no address");
  return out;
}

sockaddr_in ipv4(const std::string& address, in_port_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = port;
  if (inet_pton(AF_INET, address.c_str(), &out.sin_addr) != 1)
    Options::refuse("--address is no IPv4 address");
  return out;
}

// The socket API takes an address of any family as sockaddr.
template <class Address>
const sockaddr* general(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

template <class Address>
int bound(int type, Address at, in_port_t& port) {
  const int listener = checked(socket(general(at)->sa_family, type, 0), "socket");
  checked(bind(listener, general(at), sizeof(at)), "bind");
  sockaddr_in6 bound_to{};
  socklen_t size = sizeof(bound_to);
  checked(getsockname(listener, reinterpret_cast<sockaddr*>(&bound_to), &size), "getsockname");
  port = bound_to.sin6_port;  // at the same place in both families
  return listener;
}

/// The address and port of the peer, in the form that offwait prints.
std::string name_of_peer(int connection) {
  sockaddr_storage at{};
  socklen_t size = sizeof(at);
  checked(getpeername(connection, reinterpret_cast<sockaddr*>(&at), &size), "getpeername");
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(general(at), size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    fail("getnameinfo");
  std::string name = host.data();
  constexpr std::string_view kMapped = "::ffff:";
  if (name.starts_with(kMapped))
    name = name.substr(kMapped.size());
  else if (name.find(':') != std::string::npos)
    name = "[" + name + "]";
  return name + ":" + port.data();
}

void enter(const std::string& network_namespace) {
  if (network_namespace.empty()) return;
  const int fd = checked(open(network_namespace.c_str(), O_RDONLY | O_CLOEXEC), "open the network namespace");
  checked(setns(fd, CLONE_NEWNET), "setns");
  close(fd);
}

/// Sends to a socket that no thread reads. The process ends with its parent.
void flood() {
  checked(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
  in_port_t port = 0;
  bound(SOCK_DGRAM, ipv4("127.0.0.1", 0), port);
  const int sender = checked(socket(AF_INET, SOCK_DGRAM, 0), "socket");
  const sockaddr_in to = ipv4("127.0.0.1", port);
  const char byte = 0;
  while (true) {
    for (int i = 0; i < 100; ++i) checked(sendto(sender, &byte, 1, 0, general(to), sizeof(to)), "sendto");
    usleep(1000);
  }
}

void play(ThreadTruth& truth, int connection, bool first, std::int64_t rounds, Nanos work_ns,
          bool poll_first) {
  const pid_t me = truth.tid();
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (round > 0 || !first) {
      truth.wait([&] {
        pid_t writer = 0;
        pollfd readable{connection, POLLIN, 0};
        if (poll_first) checked(poll(&readable, 1, -1), "poll");
        if (recv(connection, &writer, sizeof(writer), MSG_WAITALL) != sizeof(writer)) fail("recv");
        return thread_waker(writer);
      });
    }
    if (work_ns > 0) spin_cpu(work_ns);
    if (send(connection, &me, sizeof(me), MSG_NOSIGNAL) != sizeof(me)) fail("send");
  }
}

}  // namespace

void socket_ping_pong(Options& options) {
  const auto rounds = options.number("rounds", 300);
  const auto work_ns = options.number("work-us", 1500) * 1000;
  const bool same_cpu = options.text("cpus", "different") == "same";
  const auto cpu = static_cast<int>(options.number("cpu", 0));
  const bool local = options.text("over", "tcp") == "unix";
  const std::string address = options.text("address", "127.0.0.1");
  const std::string network_namespace = options.text("netns", "");
  const bool mapped = options.flag("ipv6") || address.find(':') != std::string::npos;
  const bool poll_first = options.flag("poll");
  const auto flooders = options.number("flood", 0);
  ready(options);

  std::array<int, 2> pair{};
  checked(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), "socketpair");
  std::array<int, 2> port_pipe{};
  checked(pipe(port_pipe.data()), "pipe");
  std::vector<pid_t> floods;
  for (std::int64_t i = 0; i < flooders; ++i) {
    floods.push_back(checked(fork(), "fork"));
    if (floods.back() == 0) flood();
  }
  for (const bool server : {true, false}) {
    if (checked(fork(), "fork") != 0) continue;
    checked(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
    pin_to_cpu(same_cpu || server ? cpu : 1 - cpu);
    if (same_cpu) let_wakers_run_on();
    int connection = pair[server ? 0 : 1];
    if (!local && server) {
      enter(network_namespace);
      in_port_t port = 0;
      const int listener =
          mapped ? bound(SOCK_STREAM, place(address, 0), port) : bound(SOCK_STREAM, ipv4(address, 0), port);
      checked(listen(listener, 1), "listen");
      if (write(port_pipe[1], &port, sizeof(port)) != sizeof(port)) fail("write");
      connection = checked(accept(listener, nullptr, nullptr), "accept");
    } else if (!local) {
      in_port_t port = 0;
      if (read(port_pipe[0], &port, sizeof(port)) != sizeof(port)) fail("read");
      connection = checked(socket(mapped ? AF_INET6 : AF_INET, SOCK_STREAM, 0), "socket");
      if (mapped) {
        const sockaddr_in6 to = place(address, port);
        checked(connect(connection, general(to), sizeof(to)), "connect");
      } else {
        const sockaddr_in to = ipv4(address, port);
        checked(connect(connection, general(to), sizeof(to)), "connect");
      }
    }
    const int yes = 1;
    if (!local) checked(setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)), "TCP_NODELAY");
    if (!local) {
      print_truth("connection", {{"tid", std::int64_t{current_tid()}},
                                 {"peer", (server ? "client:" : "service:") + name_of_peer(connection)}});
    }
    ThreadTruth truth(server ? "server" : "client");
    play(truth, connection, !server, rounds, work_ns, poll_first);
    truth.end();
    truth.print();
    _exit(0);
  }
  // Takes the processes in the order in which they end: if one fails, the other would wait for it forever.
  for (int left = 2; left > 0; --left) {
    int status = 0;
    checked(wait(&status), "wait");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  for (const pid_t pid : floods) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

}  // namespace workload
