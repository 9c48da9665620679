// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text.h"

#include <catch2/catch.hpp>
#include <random>
#include <sstream>

#include "unit/report/sample.h"
#include "unit/report/text_checks.h"

using namespace offwait;

namespace {

std::string without_color(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Every string of the report becomes hostile.
void poison(Findings& findings, const std::string& name) {
  findings.recording = {name, name, name, 2, name};
  findings.loss[name] = 3;
  findings.verdict.remote = {{Peer::Role::service, name}, 1, 1};
  for (FoundActor& actor : findings.actors) {
    actor.name = name;
    actor.lost_s = 0.5;
  }
  for (FoundEdge& edge : findings.edges) {
    for (FoundStack& stack : edge.stacks) {
      const Frame user{.function = name, .offset = 1, .module = name, .file = name, .line = 1};
      stack.wait_stack = {{{.function = name, .kind = Frame::Kind::kernel}, user, user}, StackCut::deep};
      stack.waker_stack = {{{.function = name}}, {}};
    }
    for (FoundPeer& peer : edge.peers) {
      peer.peer.address = name;
    }
  }
  findings.deadlocks = {{{{0, 11, name}, {1, 12, name}}}};
  findings.open_waits[0].wait_stack = {{{.offset = 1, .module = name}}, {}};
}

const std::vector<std::string> hostile_names = {
    std::string("\x1b]0;owned\x07\n\r\t\x7f\0", 15),
    "\xff\xfe\xc3(\xf0\x9f\x92",
    "\xe2\x80\xae..evil\xe2\x80\x8b\xe2\x81\xa6",  // NOLINT(misc-misleading-bidirectional)
    std::string(5000, 'x'),
    "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語",
    "\u009b2J",
    "",
};

}  // namespace

TEST_CASE("The sample report, in full") {
  CHECK(to_text(sample_findings(), {}) ==
        R"(offwait 0.1.0 · pid 10 · 10.0 s · 3 threads · ran 0.70 of 2 CPUs · machine 75% busy · nothing lost

One knot limits throughput: at least one wait in it must get shorter before throughput can rise.

KNOT 1  B (tid 12) ⇄ disk vda
        blocking I/O: Disk vda was busy for 60% of the window, with 1.25 requests at a time, 3.75 ms
        each (latency-bound).
        Threads and a device take turns waiting for each other: usually requests are batched, sent
        ahead or asynchronously, or by more threads, so that the device always has work; or the
        device is replaced by a faster one.
  edge           weight  window   waited     waits     each  class
  B → disk vda   9.50 s     95%   5.00 s     1,000  5.00 ms  disk
    waits in   fdatasync ← sync_it (log.cc:7) (68% of the weight, 1 other stack)
  disk vda → B   5.00 s     50%   5.00 s                     spare
    spare      disk vda could have served more, by the capacity that is assumed for it (500 MB/s,
               400 IO/s); over the window B ran 5.00 s, waited 5.00 s

RUNNABLE  500 ms ready to run without a CPU, all threads together: A (tid 11) 500 ms

DISK  vda  busy 60% (something under way) · 1.25 requests at a time, 3.75 ms each: latency-bound ·
      200 IO/s, 100 MB/s · capacity assumed: 500 MB/s, 400 IO/s (raised to the highest rate seen;
      offwait calibrate measures it) · 1 request left out whose completion was not seen
      traffic: B 75%, others 25%

LONG WAITS OUTSIDE THE KNOTS  long, but shortening them alone does not raise throughput
  A → B  8.00 s 80% futex 75%, pipe 25%, 800 waits of 10.0 ms
    Not in a knot: A waits for the knot, but nothing there waits for A.
    meanwhile  B ran 3.90 s, waited 4.00 s, was runnable 100 ms
    peers      service 10.0.0.5:3306 ×500, client 10.0.0.9 ×300 and 68 more
    waits in   pthread_cond_wait
    woken in   pthread_cond_signal ← dequeue

BACKGROUND  does not limit: little CPU and no disk, or waits for nobody and is not always busy
  idler (tid 13) busy 0%

BLOCKED THROUGHOUT  never woken in the window
  idler (tid 13)  10.0 s  poll  epoll_wait
)");
}

TEST_CASE("Many waits keep their column apart from the one before") {
  Findings findings = sample_findings();
  findings.edges[findings.knots[0].edges[0]].waits = 1'234'567'890;
  CHECK_THAT(to_text(findings, {}),
             Catch::Contains("  edge           weight  window   waited          waits     each  class\n"
                             "  B → disk vda   9.50 s     95%   5.00 s  1,234,567,890  5.00 ms  disk\n"));
}

TEST_CASE("The standard error of a stack's weight is told where it matters") {
  Findings findings = sample_findings();
  FoundStack& heaviest = findings.edges[findings.knots[0].edges[0]].stacks[0];
  const double edge_s = findings.edges[findings.knots[0].edges[0]].weight_s;
  heaviest.weight_error_s = 0.07 * edge_s;
  CHECK_THAT(to_text(findings, {}), Catch::Contains("(68% ± 7.0% of the weight, 1 other stack)"));
  heaviest.weight_error_s = 0.04 * edge_s;
  CHECK_THAT(to_text(findings, {}), Catch::Contains("(68% of the weight, 1 other stack)"));
}

TEST_CASE("A thread of a container is called by both its numbers") {
  Findings findings = sample_findings();
  findings.actors[1].ns_tids = {7};
  CHECK_THAT(to_text(findings, {false, Charset::utf8, 120, 0, false}),
             Catch::Contains("KNOT 1  B (tid 12, 7 in its namespace) ⇄ disk vda\n"));
  findings.open_waits = {{0, 11, 10, true, WaitClass::futex, stack_of({"pthread_mutex_lock"})}};
  findings.open_waits[0].holder = {1, 12, "B", 7};
  CHECK_THAT(
      to_text(findings, {false, Charset::utf8, 120, 0, false}),
      Catch::Contains("for the pthread mutex held by B (tid 12, 7 in its namespace), which is not blocked"));
}

TEST_CASE("The holder of the mutex that a blocked thread waits for, and where the holder is blocked") {
  Findings findings = sample_findings();
  const auto shown = [&findings] {
    const std::string text = to_text(findings, {false, Charset::utf8, 120, 0, false});
    return text.substr(text.find("BLOCKED THROUGHOUT"));
  };
  findings.open_waits = {{0, 11, 10, true, WaitClass::futex, stack_of({"pthread_mutex_lock", "first"})},
                         {1, 12, 10, true, WaitClass::futex, stack_of({"pthread_mutex_lock", "second"})}};
  findings.open_waits[0].holder = {1, 12, "B"};
  CHECK(shown() == R"(BLOCKED THROUGHOUT  never woken in the window
  A (tid 11)  10.0 s  futex  pthread_mutex_lock ← first
      for the pthread mutex held by B (tid 12), which is blocked (futex) in pthread_mutex_lock ← second
  B (tid 12)  10.0 s  futex  pthread_mutex_lock ← second
)");
  findings.open_waits[1].holder = {0, 11, "A"};
  findings.open_waits[0].deadlock = findings.open_waits[1].deadlock = true;
  CHECK(shown() == R"(BLOCKED THROUGHOUT  never woken in the window
  A (tid 11)  10.0 s  futex  pthread_mutex_lock ← first
      for the pthread mutex held by B (tid 12), which waits for it in turn: a deadlock
  B (tid 12)  10.0 s  futex  pthread_mutex_lock ← second
      for the pthread mutex held by A (tid 11), which waits for it in turn: a deadlock
)");
  findings.open_waits.resize(1);
  findings.open_waits[0].deadlock = false;
  CHECK(shown() == R"(BLOCKED THROUGHOUT  never woken in the window
  A (tid 11)  10.0 s  futex  pthread_mutex_lock ← first
      for the pthread mutex held by B (tid 12), which is not blocked
)");
  findings.open_waits[0].holder = {0, 11, "A"};
  findings.open_waits[0].deadlock = true;
  CHECK(shown() == R"(BLOCKED THROUGHOUT  never woken in the window
  A (tid 11)  10.0 s  futex  pthread_mutex_lock ← first
      for a pthread mutex that it holds itself: a deadlock
)");
}

TEST_CASE("No line is wider than asked for, and nothing hostile gets through") {
  for (const std::string& name : hostile_names) {
    Findings findings = sample_findings();
    poison(findings, name);
    for (const int width : {40, 41, 60, 79, 80, 100, 132, 400}) {
      for (const Charset charset : {Charset::utf8, Charset::ascii}) {
        for (const int verbosity : {0, 1}) {
          const std::string text = to_text(findings, {false, charset, width, verbosity, true});
          INFO(text);
          REQUIRE(widest(text) <= width);
          std::string without_newlines = text;
          without_newlines.erase(std::remove(without_newlines.begin(), without_newlines.end(), '\n'),
                                 without_newlines.end());
          REQUIRE(escape(without_newlines, charset) == without_newlines);
        }
      }
    }
  }
}

TEST_CASE("A width below 40 is taken as 40") {
  TextStyle style;
  style.width = 1;
  CHECK(widest(to_text(sample_findings(), style)) <= 40);
}

TEST_CASE("Color changes nothing but the color") {
  TextStyle color;
  color.color = true;
  const std::string text = to_text(sample_findings(), color);
  CHECK(has(text, "\x1b["));
  CHECK(without_color(text) == to_text(sample_findings(), {}));
}

TEST_CASE("Losses that matter are a line above the answer; -v names whom they touch") {
  Findings findings = sample_findings();
  findings.loss["ringbuf_full"] = 1234;
  findings.actors[1].lost_s = 0.5;
  const std::string text = to_text(findings, {});
  CHECK(has(text, "1.7% of time lost\n"));
  CHECK_FALSE(has(text, "nothing lost"));
  const std::string line = "\nLOST  1,234 dropped records: 1.7% of the recorded time is unknown (-v)\n";
  CHECK(has(text, line));
  CHECK(text.find(line) < text.find("knot limits"));
  TextStyle verbose;
  verbose.verbosity = 1;
  CHECK(has(to_text(findings, verbose),
            "\nLOST  records dropped because the ring buffer was full (1,234): no figure counts what the "
            "threads\n      did meanwhile. Unknown time: B (tid 12) 500 ms.\n"));
  findings.actors[1].lost_s = 0;
  CHECK(has(to_text(findings, {}), " · records lost\n"));
  CHECK(has(to_text(findings, {}),
            "\nLOST  1,234 dropped records: how much time that is, is not known (-v)\n"));
  CHECK(has(to_text(findings, verbose), "It is not known which threads this concerns."));
}

TEST_CASE("Losses that are minor are the last line; -v says all about them") {
  Findings findings = sample_findings();
  findings.loss["switch_unseen"] = 5;
  findings.loss["waker_unknown"] = 1;
  findings.actors[1].lost_s = 0.008;
  const std::string text = to_text(findings, {});
  CHECK(has(text, "less than 0.1% of time lost\n"));
  const std::string last = text.substr(text.find("\nLOST"));
  CHECK(last ==
        "\nLOST  5 unseen context switches, 1 unseen waker: less than 0.1% of the recorded time is unknown "
        "(-v)\n");
  TextStyle verbose;
  verbose.verbosity = 1;
  CHECK(has(to_text(findings, verbose),
            "\nLOST  context switches that the kernel did not report (5): no figure counts what"));
  CHECK(has(to_text(findings, verbose), "Unknown time: B (tid 12) 8.00 ms.\n"));
  CHECK_FALSE(has(to_text(findings, verbose), "unseen"));
}

TEST_CASE("Verbose: every edge, every stack with all frames") {
  TextStyle style;
  style.verbosity = 1;
  const std::string text = to_text(sample_findings(), style);
  CHECK(has(text,
            "    waits in   io_schedule+0x1\n"
            "               --\n"
            "               fdatasync+0x1b (libc.so.6)\n"
            "               sync_it()+0x2 (server) at src/log.cc:7\n"
            "               (68%)\n"));
  CHECK(has(text, "pwrite+0x2 (libc.so.6)\n"));
}

TEST_CASE("More than fits on a screen is counted") {
  Findings findings = sample_findings();
  for (int i = 0; i < 20; ++i) {
    findings.knots[0].edges.push_back(0);
  }
  CHECK(has(to_text(findings, {}), "  16 more edges (-v)\n"));
  TextStyle style;
  style.verbosity = 1;
  CHECK_FALSE(has(to_text(findings, style), "more edges"));
}

TEST_CASE("Explain gives the steps in words; noise is summed up unless verbose") {
  TextStyle style;
  style.explain = true;
  CHECK(has(to_text(sample_findings(), style),
            "HOW IT WAS FOUND  noise floor 100 ms (1.0%), --min-weight 2.00 s (20%), similar threads merged\n"
            "  1 edge under the noise floor set aside, 10.0 ms together\n"
            "     2 removed idler (tid 13): waits for nobody that is left and is busy only 0 s (0%)\n"));
  style.verbosity = 1;
  CHECK(has(to_text(sample_findings(), style),
            "     1 set aside A → B: weight 10.0 ms (0.1%), under the noise floor\n"));
  CHECK_FALSE(has(to_text(sample_findings(), {}), "HOW IT WAS FOUND"));
}

TEST_CASE("Actors: outside, groups, names used twice, no name") {
  Findings findings = sample_findings();
  findings.actors[0].name = "B";
  findings.actors[1].outside = true;
  findings.actors[3].kind = ActorKind::group;
  findings.actors[3].tids = {13, 14, 15};
  std::string text = to_text(findings, {});
  CHECK(has(text, "KNOT 1  B (tid 12, outside) ⇄ disk vda\n"));
  CHECK(has(text, "  B/11 → B/12  8.00 s 80% futex 75%, pipe 25%, 800 waits of 10.0 ms\n"));
  CHECK(has(text, "  idler×3 (in tgid 10) 1 thread  10.0 s  poll  epoll_wait\n"));
  findings.actors[1].name = "";
  CHECK(has(to_text(findings, {}), "KNOT 1  tid 12 (outside) ⇄ disk vda\n"));
  findings.actors[3].short_lived = true;
  CHECK(has(to_text(findings, {}), "  idler×3 (in tgid 10) 1 thread"));
  findings.actors[3].tgid = 13;
  CHECK(has(to_text(findings, {}), "  idler×3 (short-lived processes) 1 thread"));
}

TEST_CASE("The title says how the actors of a knot wait") {
  Findings findings = sample_findings();
  const auto edge = [&](FoundActorId from, FoundActorId to) {
    FoundEdge out = findings.edges[1];
    out.from = from;
    out.to = to;
    findings.edges.push_back(out);
    return static_cast<FoundEdgeId>(findings.edges.size() - 1);
  };
  FoundKnot& knot = findings.knots[0];
  knot.actors = {0, 1, 3};
  knot.edges = {edge(0, 3), edge(3, 1), edge(1, 0)};
  CHECK(has(to_text(findings, {}), "KNOT 1  A (tid 11) → idler (tid 13) → B (tid 12) → A\n"));
  knot.edges.push_back(edge(3, 0));
  CHECK(has(to_text(findings, {}), "KNOT 1  A (tid 11), B (tid 12), idler (tid 13)\n"));
  knot.actors = {0};
  knot.edges = {edge(0, 0)};
  CHECK(has(to_text(findings, {}), "KNOT 1  A (tid 11) ↺\n"));
}

TEST_CASE(
    "Beside answers a knot is shown that explains one, without spare time and advice; -v has the others") {
  Findings findings = sample_findings();
  findings.progress = {{{{"B", 1}}, Progress::How::inferred, {1}, std::nullopt, 0.9}};
  FoundAnswer answer;
  answer.gain = 0.8;
  answer.what = Resource::disk;
  answer.device = 2;
  answer.knot = 0;
  findings.answers = {answer};
  TextStyle verbose;
  verbose.verbosity = 1;
  for (const bool background : {false, true}) {
    findings.knots[0].background = background;
    const std::string text = to_text(findings, {});
    CHECK(
        has(text, "\nKNOT 1, explains answer 1  B (tid 12) ⇄ disk vda\n        blocking I/O: Disk vda was"));
    CHECK(has(text, "\n  B → disk vda   9.50 s"));
    CHECK_FALSE(has(text, "disk vda → B"));
    CHECK_FALSE(has(text, "Threads and a device take turns"));
    CHECK_FALSE(has(text, "more knot"));
    CHECK(has(to_text(findings, verbose), "disk vda → B"));
    CHECK_FALSE(has(to_text(findings, verbose), "Threads and a device take turns"));
  }
  findings.knots[0].background = false;
  findings.answers[0].knot.reset();
  CHECK_FALSE(has(to_text(findings, {}), "\nKNOT"));
  CHECK(has(to_text(findings, {}), "\n-v also shows 1 more knot, and what limits nothing: "));
  CHECK(has(to_text(findings, verbose), "\nKNOT 1  B (tid 12) ⇄ disk vda\n"));
  findings.open_waits[0].holder = FoundThread{0, 11, "A", 11};
  CHECK(has(to_text(findings, {}), "\n-v also shows 1 more knot.\n"));
  // An answer that the screen has no line for explains nothing on it.
  findings.answers[0].knot = 0;
  findings.answers[0].gain = 0.01;
  CHECK_FALSE(has(to_text(findings, {}), "\nKNOT"));
  CHECK(has(to_text(findings, verbose), "\nKNOT 1, explains answer 1"));
}

TEST_CASE("Beside answers a knot has its three heaviest edges") {
  Findings findings = sample_findings();
  findings.progress = {{{{"B", 1}}, Progress::How::inferred, {1}, std::nullopt, 0.9}};
  FoundAnswer answer;
  answer.gain = 0.8;
  answer.actor = 1;
  answer.knot = 0;
  findings.answers = {answer};
  findings.knots[0].edges = {0, 2, 0, 0, 2, 0, 0};
  CHECK(has(to_text(findings, {}), "\n  2 more edges (-v)\n"));
}

TEST_CASE("Only lost time counts as lost in the first line") {
  Findings findings = sample_findings();
  CHECK(has(to_text(findings, {}), " · nothing lost\n"));
  findings.loss["file_table_full"] = 29539;
  findings.loss["switch_unseen"] = 1;
  CHECK(has(to_text(findings, {}), " · no time lost\n"));
  findings.actors[0].lost_s = 1.2;
  INFO(to_text(findings, {}));
  CHECK(has(to_text(findings, {}), "4.0% of time lost\n"));
}

TEST_CASE("RUNNABLE is there if a thread lacked a CPU for a twentieth of its life") {
  Findings findings = sample_findings();
  FoundActor& actor = findings.actors[0];
  actor.time = {1, 0.05, 0, 0, 1.05};
  CHECK_FALSE(has(to_text(findings, {}), "\nRUNNABLE"));
  actor.time = {0.95, 0.05, 0, 0, 1};
  CHECK(has(to_text(findings, {}), "\nRUNNABLE"));
  actor.outside = true;
  CHECK_FALSE(has(to_text(findings, {}), "\nRUNNABLE"));
}

TEST_CASE("Beside answers, only a disk that one of them names has a mismatch") {
  Findings findings = sample_findings();
  findings.disks[0].check->mismatch = true;
  CHECK(has(to_text(findings, {}), "\n      MISMATCH"));
  findings.progress = {{{{"B", 1}}, Progress::How::inferred, {1}, std::nullopt, 0.9}};
  FoundAnswer answer;
  answer.gain = 0.8;
  answer.actor = 1;
  findings.answers = {answer};
  TextStyle verbose;
  verbose.verbosity = 1;
  CHECK_FALSE(has(to_text(findings, {}), "MISMATCH"));
  CHECK(has(to_text(findings, verbose), "\n      MISMATCH"));
  findings.answers[0].what = Resource::disk;
  findings.answers[0].device = 2;
  CHECK(has(to_text(findings, {}), "\n      MISMATCH"));
}

TEST_CASE("Devices that nobody in the target used are shown with -v") {
  Findings findings = sample_findings();
  REQUIRE(findings.disks.size() == 1);
  findings.disks[0].users = {{0, 4096, 1}};
  for (FoundActor& actor : findings.actors) actor.outside = true;
  findings.knots.clear();
  findings.sinks.clear();
  TextStyle verbose;
  verbose.verbosity = 1;
  CHECK_FALSE(has(to_text(findings, {}), "\nDISK"));
  CHECK(has(to_text(findings, verbose), "\nDISK"));
}

TEST_CASE("Background knots are short unless they are the answer") {
  Findings findings = sample_findings();
  findings.knots[0].background = true;
  CHECK(has(to_text(findings, {}),
            "  B (tid 12) ⇄ disk vda  knot, weight 14.5 s, busy 5.00 s, looks like: blocking I/O\n"));
  findings.verdict.rule = Verdict::Rule::background;
  CHECK(has(to_text(findings, {}), "\nKNOT 1  B (tid 12) ⇄ disk vda\n"));
}

TEST_CASE("A saturated sink shows its running and runnable share") {
  Findings findings = sample_findings();
  findings.sinks = {{1, true, false, 9, 0.5, 9.5, 0}, {2, true, false, 0, 0, 9.6, 0}};
  const std::string text = to_text(findings, {});
  CHECK(has(text, "\n  B (tid 12)  ran 9.00 s 90%, was runnable 500 ms 5.0%\n"));
  CHECK(has(text, "\n  disk vda  did as much as is assumed to be its capacity (500 MB/s, 400 IO/s)\n"));
}

TEST_CASE("What ran meanwhile: the places with most samples, few said to be few") {
  Findings findings = sample_findings();
  findings.sinks = {{1, true, false, 9, 0.5, 9.5, 0}};
  FoundSamples& samples = findings.edges[1].waker_samples;
  samples = {380,
             4,
             {{0.71, 270, stack_of({"funB(int)+0x1 (p)", "threadB+0x2 (p)"})},
              {0.2, 76, stack_of({"copy_page+0x1", "--", "write+0x2 (libc.so.6)", "log+0x2 (p)"})},
              {0.06, 23, stack_of({"other+0x1 (p)"})},
              {0.03, 11, {}}}};
  samples.places = {{stack_of({"funB(int)+0x1 (p)", "threadB+0x1 (p)"}), 0.71, 270, 1},
                    {stack_of({"write+0x1 (libc.so.6)", "log+0x1 (p)"}), 0.2, 76, 1, 0.85, "write"}};
  findings.sinks[0].samples = {29, 1, {{1, 29, stack_of({"funB(int)+0x1 (p)"})}}};
  findings.sinks[0].samples.places = {{stack_of({"funB(int)+0x1 (p)"}), 1, 29, 1}};
  CHECK(has(to_text(findings, {}),
            "    meanwhile  B ran 3.90 s, waited 4.00 s, was runnable 100 ms\n"
            "               71% of 380 samples in funB ← threadB\n"
            "               20% in write ← log, 85% of that in the kernel\n"
            "    peers"));
  CHECK(has(to_text(findings, {}),
            "was runnable 500 ms 5.0%\n"
            "    executes   100% of only 29 samples in funB\n"));
  findings.sinks[0].samples.places.clear();
  findings.sinks[0].samples.spread = true;
  CHECK(has(to_text(findings, {}), "    executes   spread over many functions\n"));
  // One that hardly ran was not what it was waited for.
  findings.edges[1].waker_running_s = 0.5;
  CHECK_FALSE(has(to_text(findings, {}), "380 samples"));
}

TEST_CASE("Noise in stacks is folded unless asked for, in lines and in whole stacks") {
  Findings findings = sample_findings();
  findings.edges[1].stacks[0].wait_stack =
      stack_of({"futex_do_wait+0x1", "--", "__futex_abstimed_wait_common64+0x1 (libc.so.6)",
                "___pthread_cond_wait+0x1 (libc.so.6)", "threadA+0x2 (app)", "start_thread+0x1 (libc.so.6)"});
  TextStyle style;
  CHECK(has(to_text(findings, style), "    waits in   futex_do_wait ┆ ___pthread_cond_wait ← threadA\n"));
  style.verbosity = 1;
  CHECK(has(to_text(findings, style),
            "    waits in   futex_do_wait+0x1\n"
            "               --\n"
            "               ___pthread_cond_wait+0x1 (libc.so.6)\n"
            "               threadA+0x2 (app)\n"
            "    woken in"));
  style.full_stacks = true;
  CHECK(has(to_text(findings, style),
            "               threadA+0x2 (app)\n               start_thread+0x1 (libc.so.6)\n    woken in"));
  style.verbosity = 0;
  CHECK(has(to_text(findings, style),
            "    waits in   futex_do_wait ┆ __futex_abstimed_wait_common64 ← ___pthread_cond_wait ← threadA\n"
            "               ← start_thread\n"));
}

TEST_CASE("Stacks that are cut are said to be, from one percent of the wait time on, with what to do") {
  Findings findings = sample_findings();
  TextStyle style;
  style.width = 160;
  findings.stack_ends = {95, 1, {{StackCut::deep, 1}, {StackCut::no_frame_pointer, 3}}};
  CHECK(has(
      to_text(findings, style),
      "\nSTACKS  95% of the target's wait time has complete user stacks; 3.0% is cut in code without unwind "
      "table and frame pointers (a JIT's: java\n"
      "        -XX:+PreserveFramePointer; or built without both: -fno-omit-frame-pointer); 1.0% has more "
      "frames than are kept; 1.0% has none.\n"));
  findings.stack_ends = {99, 0, {{StackCut::no_rule, 1}}};
  CHECK_FALSE(has(to_text(findings, style), "STACKS"));
  findings.stack_ends = {0, 100, {}};
  CHECK_FALSE(has(to_text(findings, style), "STACKS"));
}

TEST_CASE("Whatever the numbers, something is written") {
  Findings empty;
  CHECK_FALSE(to_text(empty, {}).empty());
}
