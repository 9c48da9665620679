// SPDX-License-Identifier: GPL-2.0-or-later
#include "channels.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "die.h"

namespace {

// --- within a process ---

class QueueCaller : public Caller {
 public:
  explicit QueueCaller(Queue& queue) : queue_(queue) {}

  void call() override {
    LocalReply reply;
    queue_.put(&reply);
    reply.wait();
  }

 private:
  class LocalReply : public Reply {
   public:
    void give() override {
      const std::lock_guard lock(mutex_);
      given_ = true;
      // Under the lock, because the caller may return after it, and this object is on the caller's stack.
      changed_.notify_one();
    }
    void wait() {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return given_; });
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool given_ = false;
  };

  Queue& queue_;
};

// --- between processes ---

constexpr std::size_t kPage = 4096;
using Page = std::array<char, kPage>;

void make_pipe(int& read_end, int& write_end, std::size_t pages) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) die_of_errno("pipe");
  read_end = ends[0];
  write_end = ends[1];
  if (fcntl(write_end, F_SETPIPE_SZ, static_cast<int>(pages * kPage)) < 0) die_of_errno("F_SETPIPE_SZ");
}

void make_socket_pair(int& read_end, int& write_end) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) die_of_errno("socketpair");
  read_end = ends[0];
  write_end = ends[1];
}

void write_item(int pipe, Item item) {
  Page page{};
  std::memcpy(page.data(), &item, sizeof(Item));
  if (write(pipe, page.data(), page.size()) != static_cast<ssize_t>(page.size()))
    die_of_errno("writing to a pipe");
}

Item read_item(int pipe) {
  Page page{};
  if (read(pipe, page.data(), page.size()) != static_cast<ssize_t>(page.size()))
    die_of_errno("reading from a pipe");
  Item item = nullptr;
  std::memcpy(&item, page.data(), sizeof(Item));
  return item;
}

void send_item(int socket, Item item) {
  if (send(socket, &item, sizeof(Item), MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(Item)))
    die_of_errno("send");
}

Item receive_item(int socket) {
  Item item = nullptr;
  if (recv(socket, &item, sizeof(Item), 0) != static_cast<ssize_t>(sizeof(Item))) die_of_errno("recv");
  return item;
}

class PipeCaller : public Caller, private Reply {
 public:
  explicit PipeCaller(Pipe& pipe) : pipe_(pipe) { make_pipe(read_, write_, 1); }

  void call() override {
    pipe_.put(this);
    read_item(read_);
  }
  void give() override { write_item(write_, nullptr); }

 private:
  Pipe& pipe_;
  int read_ = -1;
  int write_ = -1;
};

class SocketCaller : public Caller, private Reply {
 public:
  explicit SocketCaller(SocketPair& socket) : socket_(socket) { make_socket_pair(read_, write_); }

  void call() override {
    socket_.put(this);
    receive_item(read_);
  }
  void give() override { send_item(write_, nullptr); }

 private:
  SocketPair& socket_;
  int read_ = -1;
  int write_ = -1;
};

// --- over TCP ---

constexpr std::size_t kMessage = 64;
using Message = std::array<char, kMessage>;

void send_message(int socket) {
  const Message message{};
  if (send(socket, message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size())) {
    die_of_errno("send");
  }
}

void receive_message(int socket) {
  Message message{};
  const ssize_t received = recv(socket, message.data(), message.size(), MSG_WAITALL);
  if (received == 0) std::_Exit(0);  // the other process has ended, and with it the program
  if (received != static_cast<ssize_t>(message.size())) die_of_errno("recv");
}

void send_at_once(int socket) {
  const int yes = 1;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) die_of_errno("TCP_NODELAY");
}

sockaddr_in local_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class PortCaller : public Caller {
 public:
  explicit PortCaller(std::uint16_t port) : port_(port) {}

  void call() override {
    if (socket_ < 0) connect_socket();
    send_message(socket_);
    receive_message(socket_);
  }

 private:
  void connect_socket() {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = local_address(port_);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      die_of_errno("connect");
    send_at_once(socket_);
  }

  const std::uint16_t port_;
  int socket_ = -1;
};

/// The server's end of a connection. It lives as long as its process.
class Connection : public Reply {
 public:
  Connection(int socket, int epoll) : socket_(socket), epoll_(epoll) { watch(EPOLL_CTL_ADD); }

  void receive() { receive_message(socket_); }
  void give() override {
    send_message(socket_);
    watch(EPOLL_CTL_MOD);
  }

 private:
  // One thread gets the next request, and no other one until it has replied.
  void watch(int how) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.ptr = this;
    if (epoll_ctl(epoll_, how, socket_, &event) != 0) die_of_errno("epoll_ctl");
  }

  int socket_;
  int epoll_;
};

}  // namespace

void Queue::put(Item item) {
  {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return items_.size() < capacity_; });
    items_.push_back(item);
  }
  not_empty_.notify_one();
}

Item Queue::take() {
  std::unique_lock lock(mutex_);
  not_empty_.wait(lock, [this] { return !items_.empty(); });
  const Item item = items_.front();
  items_.pop_front();
  lock.unlock();
  not_full_.notify_one();
  return item;
}

std::deque<Item> Queue::take_all() {
  std::unique_lock lock(mutex_);
  not_empty_.wait(lock, [this] { return !items_.empty(); });
  std::deque<Item> items;
  items.swap(items_);
  lock.unlock();
  not_full_.notify_all();
  return items;
}

std::unique_ptr<Caller> Queue::caller() { return std::make_unique<QueueCaller>(*this); }

Pipe::Pipe(std::size_t capacity) { make_pipe(read_, write_, capacity); }
void Pipe::put(Item item) { write_item(write_, item); }
Item Pipe::take() { return read_item(read_); }
std::unique_ptr<Caller> Pipe::caller() { return std::make_unique<PipeCaller>(*this); }

SocketPair::SocketPair() { make_socket_pair(read_, write_); }
void SocketPair::put(Item item) { send_item(write_, item); }
Item SocketPair::take() { return receive_item(read_); }
std::unique_ptr<Caller> SocketPair::caller() { return std::make_unique<SocketCaller>(*this); }

Port::Port() {
  listening_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address = local_address(0);
  socklen_t size = sizeof address;
  if (bind(listening_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(listening_, SOMAXCONN) != 0 ||
      getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    die_of_errno("listening on 127.0.0.1");
  }
  number_ = ntohs(address.sin_port);
}

void Port::put(Item) { die("nothing can be put into a port: call it"); }

Item Port::take() {
  std::call_once(epoll_made_, [this] {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLEXCLUSIVE;
    if (epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, listening_, &event) != 0) die_of_errno("epoll");
  });
  for (;;) {
    epoll_event event{};
    const int ready = epoll_wait(epoll_, &event, 1, -1);
    if (ready < 0 && errno != EINTR) die_of_errno("epoll_wait");
    if (ready != 1) continue;
    if (auto* connection = static_cast<Connection*>(event.data.ptr); connection != nullptr) {
      connection->receive();
      return connection;
    }
    accept_one();
  }
}

void Port::accept_one() {
  const int accepted = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0 && errno == EAGAIN) return;  // another thread was first
  if (accepted < 0) die_of_errno("accept");
  send_at_once(accepted);
  new Connection(accepted, epoll_);  // owned by `epoll_`, which knows it by its address
}

std::unique_ptr<Caller> Port::caller() { return std::make_unique<PortCaller>(number_); }

void Barrier::meet() {
  std::unique_lock lock(mutex_);
  const std::uint64_t round = round_;
  if (++arrived_ == threads_) {
    arrived_ = 0;
    ++round_;
    lock.unlock();
    all_here_.notify_all();
    return;
  }
  all_here_.wait(lock, [&] { return round_ != round; });
}
