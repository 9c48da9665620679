// SPDX-License-Identifier: GPL-2.0-or-later
// Threads in poll, select and epoll_wait that always end by their timeout.
#include <array>
#include <optional>
#include <thread>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {

void timer_poll(Options& options) {
  const auto rounds = options.number("rounds", 100);
  const auto timeout_ms = static_cast<int>(options.number("timeout-ms", 5));
  ready(options);

  std::array<int, 2> ends{};
  checked(pipe(ends.data()), "pipe");
  const int epoll = checked(epoll_create1(0), "epoll_create1");
  epoll_event event{};
  event.events = EPOLLIN;
  checked(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");

  std::array<std::optional<ThreadTruth>, 3> truths;
  const auto repeat = [&](std::optional<ThreadTruth>& truth, const char* name, auto wait_once) {
    truth.emplace(name);
    for (std::int64_t round = 0; round < rounds; ++round) {
      truth->wait([&] {
        wait_once();
        return std::string("timer");
      });
    }
    truth->end();
  };
  std::thread by_poll([&] {
    repeat(truths[0], "poll", [&] {
      pollfd readable{.fd = ends[0], .events = POLLIN, .revents = 0};
      poll(&readable, 1, timeout_ms);
    });
  });
  std::thread by_select([&] {
    repeat(truths[1], "select", [&] {
      fd_set readable;
      FD_ZERO(&readable);
      FD_SET(ends[0], &readable);
      timeval timeout{.tv_sec = 0, .tv_usec = suseconds_t{timeout_ms} * 1000};
      select(ends[0] + 1, &readable, nullptr, nullptr, &timeout);
    });
  });
  std::thread by_epoll([&] {
    repeat(truths[2], "epoll_wait", [&] {
      epoll_event ready_event{};
      epoll_wait(epoll, &ready_event, 1, timeout_ms);
    });
  });
  by_poll.join();
  by_select.join();
  by_epoll.join();
  for (const auto& truth : truths) truth->print();
}

}  // namespace workload
