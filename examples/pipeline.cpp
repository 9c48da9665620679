// SPDX-License-Identifier: GPL-2.0-or-later
// Four stages connected by queues of 8. Stage 3 works 3 ms on each item, the others half a millisecond.
//
// Bottleneck: stage 3. The stages before it wait because the queue behind them is full, the stage after it
// because the queue before it is empty.
//
// Wait-for graph: stage-1 -> stage-2 -> stage-3 <- stage-4. No knot: stage-3 is a sink, and saturated; look
// at what it runs.
#include <array>
#include <atomic>
#include <thread>

#include "bounded_queue.h"
#include "run.h"

namespace {

using Queue = example::BoundedQueue<std::int64_t>;

[[gnu::noinline]] void parse() { example::work(500); }
[[gnu::noinline]] void check() { example::work(500); }
[[gnu::noinline]] void compress() { example::work(3000); }
[[gnu::noinline]] void store() { example::work(500); }

void first_stage(Queue& out) {
  example::name_thread("stage-1");
  for (std::int64_t item = 0;; ++item) {
    parse();
    out.enqueue(item);
  }
}

void middle_stage(const char* name, void (*process)(), Queue& in, Queue& out) {
  example::name_thread(name);
  for (;;) {
    const std::int64_t item = in.dequeue();
    process();
    out.enqueue(item);
  }
}

void last_stage(Queue& in, std::atomic<std::int64_t>& done) {
  example::name_thread("stage-4");
  for (;;) {
    in.dequeue();
    store();
    ++done;
  }
}

}  // namespace

int main(int argc, char** argv) {
  example::Arguments arguments(argc, argv);
  const long seconds = arguments.seconds();
  arguments.refuse_others("");
  example::block_stop_signals();

  std::array<Queue, 3> queues{Queue(8), Queue(8), Queue(8)};
  std::atomic<std::int64_t> done{0};
  std::thread(first_stage, std::ref(queues[0])).detach();
  std::thread(middle_stage, "stage-2", check, std::ref(queues[0]), std::ref(queues[1])).detach();
  std::thread(middle_stage, "stage-3", compress, std::ref(queues[1]), std::ref(queues[2])).detach();
  std::thread(last_stage, std::ref(queues[2]), std::ref(done)).detach();
  const double elapsed_s = example::wait_for_stop(seconds);
  example::report_and_exit("items", done, elapsed_s);
}
