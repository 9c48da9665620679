// SPDX-License-Identifier: GPL-2.0-or-later
// Figure 1 of the wPerf paper (OSDI '18, section 2).
//
//   client  sends requests as fast as they are taken. It is another process and no child of this one, so it
//   does
//           not belong to the target
//   A       receives a request, works 2 ms on it, puts it into a queue of 4
//   B       takes it from the queue, works 5 ms on it, and writes it to a log and syncs that for 5 ms
//
// Bottleneck: B and the disk, which never work at the same time: 10 ms a request, although no thread and no
// disk is saturated. Writing the log in another thread would double the throughput.
//
// Wait-for graph:  client -> A -> B <-> disk.  The knot is {B, disk}. A waits for B 80 % of its time, the
// program's longest wait, and is not in the knot: it has less work than B and is not the cause.
//
// The disk of a virtual machine syncs in a fraction of a millisecond, so sync_log() repeats write and sync
// until its 5 ms are over, as a slower disk would take them. --file PATH names the log, which has to be on a
// real disk (default ./figure1.log, removed at the end).
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bounded_queue.h"
#include "run.h"

namespace {

constexpr std::int64_t kSyncNs = 5'000'000;
constexpr off_t kLogBytes = 1 << 20;

using Request = std::array<char, 4096>;

[[noreturn]] void die(const std::string& what) {
  std::cerr << "figure1: " << what << ": " << std::generic_category().message(errno) << "\n";
  std::exit(1);
}

int open_log(const std::string& path) {
  const int log = open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
  if (log < 0) die(path);
  struct statfs status {};
  if (fstatfs(log, &status) != 0) die(path);
  if (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC) {
    unlink(path.c_str());
    std::cerr << "figure1: " << path
              << " is in memory; please choose a file on a real disk with --file PATH\n";
    std::exit(1);
  }
  // The blocks are allocated before, so that a sync only writes data and flushes.
  const Request zeros{};
  for (off_t offset = 0; offset < kLogBytes; offset += static_cast<off_t>(zeros.size()))
    if (pwrite(log, zeros.data(), zeros.size(), offset) != static_cast<ssize_t>(zeros.size())) die(path);
  if (fsync(log) != 0) die(path);
  return log;
}

[[noreturn]] void client(int socket) {
  example::name_thread("client");
  const Request request{};
  while (send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
  }
  _exit(0);
}

// The names are the paper's. NOLINTBEGIN(readability-identifier-naming)
[[gnu::noinline]] void funA() { example::work(2000); }
[[gnu::noinline]] void funB() { example::work(5000); }
// NOLINTEND(readability-identifier-naming)

[[gnu::noinline]] void sync_log(int log, const Request& request) {
  static off_t end_of_log = 0;
  const std::int64_t end = example::clock_ns(CLOCK_MONOTONIC) + kSyncNs;
  do {
    const ssize_t written = pwrite(log, request.data(), request.size(), end_of_log);
    if (written != static_cast<ssize_t>(request.size()) || fdatasync(log) != 0) die("writing the log");
    end_of_log = (end_of_log + written) % kLogBytes;
  } while (example::clock_ns(CLOCK_MONOTONIC) < end);
}

void thread_a(int socket, example::BoundedQueue<Request>& queue) {
  example::name_thread("A");
  Request request{};
  while (recv(socket, request.data(), request.size(), MSG_WAITALL) > 0) {
    funA();
    queue.enqueue(request);
  }
}

void thread_b(int log, example::BoundedQueue<Request>& queue, std::atomic<std::int64_t>& done) {
  example::name_thread("B");
  for (;;) {
    const Request request = queue.dequeue();
    funB();
    sync_log(log, request);
    ++done;
  }
}

}  // namespace

int main(int argc, char** argv) {
  example::Arguments arguments(argc, argv);
  const long seconds = arguments.seconds();
  const std::string path = arguments.value("--file", "figure1.log");
  arguments.refuse_others(" [--file PATH]");
  example::block_stop_signals();

  const int log = open_log(path);
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) != 0) die("socketpair");
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    if (fork() != 0) _exit(0);  // orphans the client, which ends when the socket does
    close(sockets[0]);
    client(sockets[1]);
  }
  waitpid(child, nullptr, 0);
  close(sockets[1]);

  example::BoundedQueue<Request> queue(4);
  std::atomic<std::int64_t> done{0};
  std::thread(thread_a, sockets[0], std::ref(queue)).detach();
  std::thread(thread_b, log, std::ref(queue), std::ref(done)).detach();
  const double elapsed_s = example::wait_for_stop(seconds);
  unlink(path.c_str());
  example::report_and_exit("requests", done, elapsed_s);
}
