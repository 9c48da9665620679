// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/blocked_places.h"
#include "analysis/peer_hosts.h"
#include "report/canvas.h"
#include "report/code_places.h"
#include "report/fold.h"
#include "report/frame.h"
#include "report/names.h"
#include "report/quantity.h"
#include "report/wording.h"

namespace offwait {

namespace {

// One screen: how much of each part is shown unless more is asked for.
constexpr std::size_t kKnots = 4;
constexpr std::size_t kEdges = 6;
constexpr std::size_t kTitleActors = 6;
constexpr std::size_t kElsewhere = 3;
constexpr std::size_t kSinks = 5;
constexpr std::size_t kBackground = 4;
constexpr std::size_t kOpenWaits = 5;
constexpr std::size_t kDiskUsers = 3;
constexpr std::size_t kPeers = 3;
constexpr std::size_t kFalseWakeups = 3;
constexpr std::size_t kLossActors = 6;
constexpr double kMuchLost = 0.01;  // of the window
constexpr std::size_t kFrames = 6;
constexpr std::size_t kPlaces = 2;
constexpr std::size_t kPlacesVerbose = 8;
constexpr std::size_t kPlaceFrames = 3;
// What a place, and running at all, must be of the whole to be worth a line.
constexpr double kPlaceShare = 0.1;
// Fewer samples than these say little: their share is off by 10 % of the whole and more.
constexpr std::uint64_t kFewSamples = 30;
constexpr int kFrameColumns = 44;
// Complete user stacks for less than this part of the wait time are worth a word.
constexpr double kStacksComplete = 0.99;

class TextReport {
 public:
  TextReport(const Report& report, const TextStyle& style)
      : report_(report),
        verbose_(style.verbosity > 0),
        noise_(style.full_stacks ? StackNoise::kept : StackNoise::folded),
        canvas_(style.width, style.color, style.charset),
        names_(report) {}

  std::string render(bool explain) {
    head();
    losses();
    verdict();
    knots();
    limiting_sinks();
    elsewhere();
    background();
    cpu();
    disks();
    nics();
    false_wakeups();
    open_waits();
    stack_ends();
    if (explain) {
      refinement();
    }
    return canvas_.take();
  }

 private:
  std::string brief(ReportActorId actor) const { return names_.brief(actor); }
  std::string full(ReportActorId actor) const { return names_.full(report_, actor); }
  std::string share(double s) const { return format_percent(s, report_.window_s); }
  std::size_t limit(std::size_t shown, std::size_t all) const {
    return verbose_ ? all : std::min(shown, all);
  }

  /// Fields of a line, with dots between them.
  static std::vector<Word> fields(const std::vector<std::vector<Word>>& all) {
    std::vector<Word> out;
    for (const std::vector<Word>& field : all) {
      if (field.empty()) {
        continue;
      }
      if (!out.empty()) {
        out.push_back({"·", Ink::dim});
      }
      out.insert(out.end(), field.begin(), field.end());
    }
    return out;
  }

  void heading(const std::string& title, const std::string& meaning = "") {
    canvas_.gap();
    canvas_.put(title, Ink::strong);
    if (meaning.empty()) {
      canvas_.end();
    } else {
      canvas_.put("  ");
      canvas_.flow(words(meaning, Ink::dim), static_cast<int>(title.size()) + 2);
    }
  }

  /// The first word is the one that counts.
  static std::string plural(const std::string& noun, std::size_t count) {
    const std::size_t end = std::min(noun.find(' '), noun.size());
    return noun.substr(0, end) + (count == 1 ? "" : "s") + noun.substr(end);
  }

  void left_out(std::size_t count, const std::string& noun, int indent = 2) {
    if (count > 0) {
      canvas_.to(indent).put(format_count(count) + " more " + plural(noun, count) + " (-v)", Ink::dim).end();
    }
  }

  void head() {
    const Recording& recording = report_.recording;
    const ReportTotals& totals = report_.totals;
    // Short fields are not broken.
    const auto field = [](const std::string& text, Ink ink = Ink::plain) {
      return text.empty() ? std::vector<Word>{} : std::vector<Word>{{text, ink}};
    };
    canvas_.flow(
        fields({words("offwait" + (recording.offwait.empty() ? "" : " " + recording.offwait), Ink::strong),
                words(recording.target, Ink::actor),
                words(format_seconds(report_.window_s) +
                      (recording.start_time.empty() ? "" : " from " + recording.start_time)),
                words(recording.kernel.empty() ? "" : "Linux " + recording.kernel)}),
        2);
    const std::string outside = totals.outside_threads == 0
                                    ? ""
                                    : " and " + format_count(totals.outside_threads) + " outside the target";
    const std::string chosen = described(report_.options.filter);
    const std::uint64_t lost = total_lost(report_);
    canvas_.flow(fields({words(format_plural(totals.threads, "thread") + outside),
                         field(format_plural(totals.waits, "wait")),
                         field("ran " + format_seconds(totals.target.running_s) + " (" + cpus_used() + ")"),
                         field("runnable " + format_seconds(totals.target.runnable_s)), field(machine()),
                         lost == 0 ? field("nothing lost", Ink::good)
                                   : field(format_count(lost) + " lost", Ink::warn)}),
                 2);
    if (!chosen.empty()) {
      canvas_.flow(words("Of the target only " + chosen + "; its others count as outside."), 2);
    }
  }

  /// "threads called a* of processes called b or c"; empty for all.
  static std::string described(const ThreadFilter& filter) {
    const auto called = [](const std::string& what, const std::vector<std::string>& patterns) {
      std::string out;
      for (const std::string& pattern : patterns) out += (out.empty() ? what + " called " : " or ") + pattern;
      return out;
    };
    const std::string threads = called("threads", filter.threads);
    const std::string processes = called("processes", filter.comms);
    return threads + (threads.empty() || processes.empty() ? "" : " of ") + processes;
  }

  /// "0.46 of 2 CPUs"
  std::string cpus_used() const {
    const std::string used = format_ratio(report_.totals.target.running_s / std::max(report_.window_s, 1e-9));
    const std::uint32_t cpus = report_.recording.cpus;
    return used + (cpus == 0 ? " CPUs" : " of " + format_plural(cpus, "CPU"));
  }

  std::string machine() const {
    const std::optional<double> busy = machine_busy(report_);
    return busy ? "machine " + format_percent(*busy, 1) + " busy" : "";
  }

  void losses() {
    const std::uint64_t lost = total_lost(report_);
    std::vector<ReportActorId> touched;
    for (std::size_t i = 0; i < report_.actors.size(); ++i) {
      if (report_.actors[i].lost_s > 0) {
        touched.push_back(static_cast<ReportActorId>(i));
      }
    }
    if (lost == 0 && touched.empty()) {
      return;
    }
    std::string text;
    for (const auto& [name, count] : report_.loss) {
      if (count > 0) {
        text += (text.empty() ? "" : ", ") + name + " " + format_count(count);
      }
    }
    canvas_.gap();
    canvas_.put(lost > 0 ? "LOST" : "GAPS", Ink::warn).put("  ");
    if (lost > 0) {
      text = format_plural(lost, "event") + ": " + text + ". ";
    }
    if (touched.empty()) {
      text += "It is not known whose; times and counts may be too small.";
    } else {
      std::stable_sort(touched.begin(), touched.end(), [&](ReportActorId a, ReportActorId b) {
        return report_.actors[a].lost_s > report_.actors[b].lost_s;
      });
      text += "Not known what they did for a while: ";
      // Who is touched most, and who else for a time that matters.
      const auto much = std::count_if(touched.begin(), touched.end(), [&](ReportActorId actor) {
        return report_.actors[actor].lost_s >= kMuchLost * report_.window_s;
      });
      const std::size_t most = std::clamp<std::size_t>(static_cast<std::size_t>(much), 1, kLossActors);
      const std::size_t shown = limit(most, touched.size());
      for (std::size_t i = 0; i < shown; ++i) {
        text +=
            (i == 0 ? "" : ", ") + full(touched[i]) + " " + format_seconds(report_.actors[touched[i]].lost_s);
      }
      text +=
          touched.size() > shown ? " and " + format_plural(touched.size() - shown, "more actor") + "." : ".";
    }
    canvas_.flow(words(text, Ink::warn), 6);
  }

  void verdict() {
    canvas_.gap();
    canvas_.flow(words(verdict_sentence(report_, names_), Ink::strong), 0);
  }

  // ---- knots

  std::string title(const ReportKnot& knot) const {
    if (knot.actors.size() == 1) {
      return full(knot.actors[0]) + " ↺";
    }
    if (knot.actors.size() == 2) {
      return full(knot.actors[0]) + " ⇄ " + full(knot.actors[1]);
    }
    if (const std::vector<ReportActorId> cycle = simple_cycle(knot); cycle.size() == knot.actors.size()) {
      std::string out;
      for (const ReportActorId actor : cycle) {
        out += full(actor) + " → ";
      }
      return out + brief(cycle[0]);
    }
    std::string out;
    const std::size_t shown = limit(kTitleActors, knot.actors.size());
    for (std::size_t i = 0; i < shown; ++i) {
      out += (i == 0 ? "" : ", ") + full(knot.actors[i]);
    }
    return out +
           (shown < knot.actors.size() ? " and " + format_count(knot.actors.size() - shown) + " more" : "");
  }

  /// The actors in order of waiting, if each waits for exactly one other and there are few; else empty.
  std::vector<ReportActorId> simple_cycle(const ReportKnot& knot) const {
    std::map<ReportActorId, ReportActorId> next;
    for (const ReportEdgeId edge : knot.edges) {
      if (!next.emplace(report_.edges[edge].from, report_.edges[edge].to).second) {
        return {};
      }
    }
    std::vector<ReportActorId> cycle;
    for (ReportActorId at = knot.actors[0]; cycle.size() < kTitleActors && next.contains(at); at = next[at]) {
      if (!cycle.empty() && at == cycle[0]) {
        return cycle;
      }
      cycle.push_back(at);
    }
    return cycle.size() == knot.actors.size() ? cycle : std::vector<ReportActorId>{};
  }

  bool shown_in_full(const ReportKnot& knot) const {
    return !knot.background || report_.verdict.kind() == ReportVerdict::Kind::background;
  }

  void knots() {
    std::size_t number = 0;
    std::size_t more = 0;
    for (const ReportKnot& knot : report_.knots) {
      if (!shown_in_full(knot)) {
        continue;
      }
      ++number;
      if (number > limit(kKnots, report_.knots.size())) {
        ++more;
        continue;
      }
      canvas_.gap();
      const std::string label = (knot.background ? "BACKGROUND KNOT " : "KNOT ") + std::to_string(number);
      const int indent = static_cast<int>(label.size()) + 2;
      canvas_.put(label, Ink::strong);
      canvas_.put("  ");
      canvas_.flow(words(title(knot), Ink::actor), indent);
      std::vector<Word> kind = words(pattern_title(knot), Ink::strong);
      const std::vector<Word> why = words(evidence(report_, knot));
      if (!why.empty()) {
        kind.push_back({":", Ink::plain, true});
      }
      kind.insert(kind.end(), why.begin(), why.end());
      canvas_.to(indent).flow(kind, indent);
      canvas_.to(indent).flow(words(advice(knot.pattern)), indent);
      edges(knot.edges);
    }
    if (more > 0) {
      canvas_.gap();
      left_out(more, "knot", 0);
    }
  }

  std::string edge_text(const ReportEdge& edge) const { return brief(edge.from) + " → " + brief(edge.to); }

  void put_edge(const ReportEdge& edge, int columns) {
    const std::string from = canvas_.clean(brief(edge.from));
    const std::string to = canvas_.clean(brief(edge.to));
    const std::string arrow = canvas_.clean(" → ");
    if (display_width(from) + display_width(arrow) + display_width(to) <= columns) {
      canvas_.put(from, Ink::actor).put(arrow, Ink::dim).put(to, Ink::actor);
      return;
    }
    // The shorter of the two names keeps what it needs.
    const int room = columns - display_width(arrow);
    const int half = room / 2;
    const int from_columns = std::max(half, room - display_width(to));
    canvas_.put(canvas_.fit(from, from_columns), Ink::actor).put(arrow, Ink::dim);
    canvas_.put(canvas_.fit(to, room - std::min(from_columns, display_width(from))), Ink::actor);
  }

  int edge_columns(const std::vector<ReportEdgeId>& edges, std::size_t shown) const {
    int columns = 4;
    for (std::size_t i = 0; i < shown; ++i) {
      columns = std::max(columns, canvas_.columns(edge_text(report_.edges[edges[i]])));
    }
    return std::min(columns, std::max(canvas_.width() * 2 / 5, 16));
  }

  static std::string classes(const ReportEdge& edge) {
    if (edge.idle) {
      return "idle";
    }
    std::vector<std::pair<WaitClass, double>> by_time(edge.classes.begin(), edge.classes.end());
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (const auto& [wait_class, wait_s] : by_time) {
      if (out.empty() || wait_s >= 0.05 * edge.wait_s) {
        out += (out.empty() ? "" : ", ") + std::string(to_string(wait_class));
        out += wait_s < 0.95 * edge.wait_s ? " " + format_percent(wait_s, edge.wait_s) : "";
      }
    }
    return out;
  }

  /// Once: weights over the window, and of groups, need a word.
  void weight_explained(const std::vector<ReportEdgeId>& all) {
    const auto unusual = [this](ReportEdgeId id) {
      const ReportEdge& edge = report_.edges[id];
      return report_.actors[edge.from].tids.size() > 1 || edge.weight_s > report_.window_s;
    };
    if (explained_ || std::none_of(all.begin(), all.end(), unusual)) {
      return;
    }
    explained_ = true;
    canvas_.to(2);
    canvas_.flow(
        words("weight: waited, and what others waited behind it meanwhile, so it may exceed the window; of "
              "×N threads: for each of them, on average",
              Ink::dim),
        2);
  }

  /// "1,404 waits of 1.00 ms"; `edge` has waits.
  static std::string each_wait(const ReportEdge& edge) {
    return format_plural(edge.waits, "wait") + " of " + format_seconds(edge.each_s);
  }

  void edges(const std::vector<ReportEdgeId>& all) {
    const std::size_t shown = limit(kEdges, all.size());
    const int first = edge_columns(all, shown);
    // Narrow terminals go without the columns that follow from others.
    const bool each = canvas_.width() >= 2 + first + 54;
    const bool waits = canvas_.width() >= 2 + first + 44;
    const bool waited = canvas_.width() >= 2 + first + 34;
    canvas_.to(2).put("edge", Ink::dim).to(2 + first);
    canvas_.put_right("weight", 9, Ink::dim).put_right("window", 8, Ink::dim);
    if (waited) {
      canvas_.put_right("waited", 9, Ink::dim);
    }
    if (waits) {
      canvas_.put_right("waits", 10, Ink::dim);
    }
    if (each) {
      canvas_.put_right("each", 9, Ink::dim);
    }
    canvas_.put("  class", Ink::dim).end();
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportEdge& edge = report_.edges[all[i]];
      canvas_.to(2);
      put_edge(edge, first);
      canvas_.to(2 + first);
      canvas_.put_right(format_seconds(edge.weight_s), 9, Ink::strong)
          .put_right(share(edge.weight_s), 8, Ink::strong);
      if (waited) {
        canvas_.put_right(format_seconds(edge.wait_s), 9);
      }
      if (waits) {
        canvas_.put_right(edge.idle || edge.waits == 0 ? "" : format_count(edge.waits), 10);
      }
      if (each) {
        canvas_.put_right(edge.idle || edge.waits == 0 ? "" : format_seconds(edge.each_s), 9);
      }
      canvas_.put("  ").put(classes(edge)).end();
      when(edge);
      meanwhile(edge);
      peers(edge);
      stacks(edge);
    }
    left_out(all.size() - shown, "edge");
    weight_explained(all);
  }

  void label(const std::string& text) { canvas_.to(4).put(text, Ink::dim).to(15); }

  static std::string doing(double running_s, double waited_s, double runnable_s, double unknown_s) {
    std::string out;
    const auto add = [&](const char* verb, double s) {
      if (s > 0) {
        out += (out.empty() ? "" : ", ") + std::string(verb) + " " + format_seconds(s);
      }
    };
    add("ran", running_s);
    add("waited", waited_s);
    add("was runnable", runnable_s);
    add("unknown for", unknown_s);
    return out;
  }

  /// A write stall, a checkpoint, a burst.
  void when(const ReportEdge& edge) {
    if (!edge.phases) {
      return;
    }
    std::string ranges;
    for (const ReportPhases::Range& range : edge.phases->ranges) {
      ranges +=
          (ranges.empty() ? "" : ", ") + format_seconds(range.from_s) + " to " + format_seconds(range.to_s);
    }
    label("when");
    canvas_.flow(words(format_percent(edge.phases->share, 1) + " of it within " +
                       format_seconds(edge.phases->length_s) + " of " + format_seconds(report_.window_s) +
                       ": " + ranges + " after the beginning"),
                 15);
  }

  /// What the waker did while it was waited for.
  void meanwhile(const ReportEdge& edge) {
    if (edge.idle) {
      const ReportActor& actor = report_.actors[edge.to];
      const ReportTime& time = actor.time;
      const bool group = actor.tids.size() > 1;
      const double members = group ? static_cast<double>(actor.tids.size()) : 1;
      const std::string did = doing(time.running_s / members, time.blocked_s / members,
                                    time.runnable_s / members, time.unknown_s / members);
      label("idle");
      canvas_.flow(words(brief(edge.from) + " could have served more" +
                         (did.empty() ? ""
                                      : "; over the window " + std::string(group ? "each of " : "") +
                                            brief(edge.to) + " " + did + (group ? " on average" : ""))),
                   15);
      return;
    }
    const std::string did =
        doing(edge.waker_running_s, edge.waker_blocked_s, edge.waker_runnable_s, edge.waker_unknown_s);
    if (!did.empty()) {
      label("meanwhile");
      canvas_.flow(words(brief(edge.to) + " " + did), 15);
    }
    if (verbose_ || edge.waker_running_s >= kPlaceShare * edge.wait_s) {
      places(edge.waker_samples);
    }
  }

  /// `service 10.0.0.5:3306 ×312, client 10.0.0.9 ×40 (12 ports)`: the port of a client tells nothing.
  void peers(const ReportEdge& edge) {
    const std::vector<PeerHost> hosts = peer_hosts(edge.peers);
    std::string out;
    const std::size_t shown = limit(kPeers, hosts.size());
    std::uint64_t told = 0;
    for (std::size_t i = 0; i < shown; ++i) {
      const PeerHost& host = hosts[i];
      out += (i == 0 ? "" : ", ") + std::string(to_string(host.role)) + " " + host.name + " ×" +
             format_count(host.waits) +
             (host.ports > 1 ? " (" + format_plural(host.ports, "port") + ")" : "");
      told += host.ports;
    }
    if (told < edge.peers_known) {
      out += " and " + format_count(edge.peers_known - told) + " more";
    }
    if (!out.empty()) {
      label("peers");
      canvas_.flow(words(out), 15);
    }
  }

  void stacks(const ReportEdge& edge) {
    const std::size_t shown = limit(1, edge.stacks.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportStack& stack = edge.stacks[i];
      std::string part;
      if (edge.stacks.size() > 1) {
        part = format_percent(stack.weight_s, edge.weight_s) +
               (verbose_ ? "" : " of the weight, " + format_plural(edge.stacks.size() - 1, "other stack"));
      }
      const bool waker = !stack.waker_stack.empty();
      if (!stack.wait_stack.empty()) {
        stack_line("waits in", stack.wait_stack, waker ? "" : part);
      }
      if (waker) {
        stack_line("woken in", stack.waker_stack, part);
      }
    }
  }

  void stack_line(const std::string& name, const Backtrace& stack, const std::string& remark) {
    label(name);
    if (verbose_) {
      for (const std::string& line : to_lines(shown_whole(stack))) {
        canvas_.to(15).flow(words(line), 17);
      }
      if (!remark.empty()) {
        canvas_.to(15).put("(" + remark + ")", Ink::dim).end();
      }
      return;
    }
    canvas_.flow(chain(stack, remark), 15, 2);
  }

  Backtrace shown_whole(const Backtrace& stack) const {
    Backtrace out{{}, stack.cut};
    std::copy_if(stack.frames.begin(), stack.frames.end(), std::back_inserter(out.frames),
                 [](const Frame& frame) { return frame.kind != Frame::Kind::user; });
    const std::vector<Frame> user = user_frames(stack, noise_);
    out.frames.insert(out.frames.end(), user.begin(), user.end());
    return out;
  }

  /// `71% of 380 samples in funB ← threadB ← …2 more`
  void places(const ReportSamples& samples) {
    const std::vector<SampledPlace> all = code_places(samples, noise_);
    const std::size_t most = std::min(verbose_ ? kPlacesVerbose : kPlaces, all.size());
    for (std::size_t i = 0; i < most && (i == 0 || verbose_ || all[i].share >= kPlaceShare); ++i) {
      std::string share = format_percent(all[i].share, 1);
      if (i == 0) {
        share += std::string(samples.samples < kFewSamples ? " of only " : " of ") +
                 format_plural(samples.samples, "sample");
      }
      std::vector<Word> line = words(share + " in");
      const std::vector<Word> stack = chain(all[i].stack, "", kPlaceFrames);
      line.insert(line.end(), stack.begin(), stack.end());
      canvas_.to(15).flow(line, 17, 2);
    }
  }

  /// `kernel ┆ leaf ← caller ← … (remark)`
  std::vector<Word> chain(const Backtrace& stack, const std::string& remark,
                          std::size_t frames = kFrames) const {
    const FoldedStack folded = fold(stack, frames, noise_);
    std::vector<Word> out;
    const auto add = [&](const std::string& text, const char* joint, Ink ink) {
      const std::string fitting = canvas_.fit(text, kFrameColumns);
      out.push_back({out.empty() ? fitting : joint + (" " + fitting), ink});
    };
    const auto name = [&](const Frame& frame) {
      const std::string text = short_frame(frame);
      return canvas_.columns(text) > kFrameColumns ? narrow_frame(frame) : text;
    };
    for (const Frame& frame : folded.kernel) {
      add(name(frame), "←", Ink::dim);
    }
    for (std::size_t i = 0; i < folded.user.size(); ++i) {
      add(name(folded.user[i]), i == 0 ? "┆" : "←", Ink::plain);
    }
    if (folded.cut) {
      add(std::string(cut_frame(*folded.cut)), folded.user.empty() ? "┆" : "←", Ink::plain);
    }
    if (folded.left_out > 0) {
      out.push_back({"← …" + format_count(folded.left_out) + " more", Ink::dim});
    }
    if (!remark.empty()) {
      out.push_back({"(" + remark + ")", Ink::dim});
    }
    return out;
  }

  // ---- what is not in a knot

  const ReportDisk* disk_of(ReportActorId actor) const {
    const auto disk = std::find_if(report_.disks.begin(), report_.disks.end(),
                                   [&](const ReportDisk& candidate) { return candidate.actor == actor; });
    return disk == report_.disks.end() ? nullptr : &*disk;
  }

  std::string sink_text(const ReportSink& sink) const {
    const ReportActor& actor = report_.actors[sink.actor];
    if (actor.kind == ActorKind::thread || actor.kind == ActorKind::group) {
      return std::string(sink.saturated && sink.limit == SinkLimit::cpu ? "lacks CPU: " : "") +
             (actor.short_lived                ? "one of them or another "
              : actor.kind == ActorKind::group ? "busiest thread "
                                               : "") +
             "ran " + format_seconds(sink.running_s) + " " + share(sink.running_s) + ", was runnable " +
             format_seconds(sink.runnable_s) + " " + share(sink.runnable_s) +
             (sink.paced
                  ? ", slept until a time for " + format_seconds(sink.asleep_s) + " " + share(sink.asleep_s)
                  : "");
    }
    if (sink.limit == SinkLimit::remote_service) {
      return "brings the answers of " + services(sink) + ", outside of this host: threads wait " +
             format_seconds(sink.remote_s) + " for them";
    }
    const auto nic = std::find_if(report_.nics.begin(), report_.nics.end(),
                                  [&](const ReportNic& candidate) { return candidate.actor == sink.actor; });
    if (nic != report_.nics.end() && nic->capacity_source) {
      return "used " + share(sink.busy_s) + " of its capacity (" +
             std::string(to_string(*nic->capacity_source)) + ")";
    }
    const ReportDisk* disk = disk_of(sink.actor);
    return "used " + share(sink.busy_s) + " of its capacity" +
           (disk == nullptr ? "" : " (" + capacity_source(*disk) + ")");
  }

  /// `10.0.0.5:3306, 10.0.0.6:3306 and 3 more`
  std::string services(const ReportSink& sink) const {
    std::string out;
    const std::size_t shown = limit(kPeers, sink.services.size());
    for (std::size_t i = 0; i < shown; ++i) {
      out += (i == 0 ? "" : ", ") + to_string(sink.services[i].peer);
    }
    const std::size_t more = sink.services.size() - shown;
    return out + (more > 0 ? " and " + format_count(more) + " more" : "");
  }

  void limiting_sinks() {
    sinks("SATURATED", "waits for nobody and is busy all the time: what it executes limits",
          [](const ReportSink& sink) { return sink.saturated; });
    sinks("PACED",
          "runs or sleeps until a time, and others wait for that: a limit on the rate, or something remote",
          [](const ReportSink& sink) { return sink.paced && sink.limit != SinkLimit::remote_service; });
    sinks("REMOTE SERVICE", "asked by the target, and not on this host: how long it takes limits",
          [](const ReportSink& sink) { return sink.paced && sink.limit == SinkLimit::remote_service; });
  }

  void sinks(const char* name, const char* meaning, bool (*belongs)(const ReportSink&)) {
    std::vector<const ReportSink*> all;
    for (const ReportSink& sink : report_.sinks) {
      if (belongs(sink)) {
        all.push_back(&sink);
      }
    }
    if (all.empty()) {
      return;
    }
    heading(name, meaning);
    const std::size_t shown = limit(kSinks, all.size());
    for (std::size_t i = 0; i < shown; ++i) {
      canvas_.to(2).put(full(all[i]->actor), Ink::actor).put("  ");
      canvas_.flow(words(sink_text(*all[i])), 4);
      if (all[i]->samples.samples > 0) {
        label("executes");
        places(all[i]->samples);
      }
      paced(*all[i]);
    }
    left_out(all.size() - shown, "sink");
  }

  /// Where it sleeps, how often, and what is usually done about it.
  void paced(const ReportSink& sink) {
    if (!sink.pattern) {
      return;
    }
    canvas_.to(4).flow(words(evidence(sink) + " " + std::string(advice(sink))), 4);
    for (const ReportEdge& edge : report_.edges) {
      if (edge.from == sink.actor && report_.actors[edge.to].kind == ActorKind::timer) {
        stacks(edge);
      }
    }
  }

  void elsewhere() {
    const std::vector<ReportElsewhere>& all = report_.elsewhere;
    if (all.empty()) {
      return;
    }
    if (report_.verdict.kind() == ReportVerdict::Kind::knot) {
      heading("LONG WAITS OUTSIDE THE KNOTS", "long, but shortening them alone does not raise throughput");
    } else {
      heading("LONGEST WAITS");
    }
    // The target's come first; the others' are not to crowd the screen.
    const auto own =
        static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [this](const ReportElsewhere& item) {
          return !report_.actors[report_.edges[item.edge].from].outside;
        }));
    const std::size_t shown = limit(kElsewhere, verbose_ ? all.size() : own);
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportEdge& edge = report_.edges[all[i].edge];
      canvas_.to(2);
      put_edge(edge, std::max(canvas_.width() * 2 / 5, 16));
      canvas_.put("  " + format_seconds(edge.wait_s) + " ")
          .put(share(edge.wait_s) + " ")
          .put(classes(edge))
          .put(", " + each_wait(edge))
          .end();
      canvas_.to(4);
      canvas_.flow(words(elsewhere_sentence(report_, all[i], names_)), 4);
      when(edge);
      meanwhile(edge);
      peers(edge);
      if (i == 0 || verbose_) {
        stacks(edge);
      }
    }
    if (!verbose_) {
      left_out(own - shown, "wait");
      left_out(all.size() - own, "wait outside the target");
    }
  }

  void background() {
    std::vector<const ReportKnot*> knots;
    for (const ReportKnot& knot : report_.knots) {
      if (!shown_in_full(knot)) {
        knots.push_back(&knot);
      }
    }
    std::vector<const ReportSink*> sinks;
    for (const ReportSink& sink : report_.sinks) {
      if (!sink.limits()) {
        sinks.push_back(&sink);
      }
    }
    if (knots.empty() && sinks.empty()) {
      return;
    }
    heading("BACKGROUND",
            "does not limit: little CPU and no disk, or waits for nobody and is not always busy");
    const std::size_t knots_shown = limit(kBackground, knots.size());
    for (std::size_t i = 0; i < knots_shown; ++i) {
      canvas_.to(2).put(title(*knots[i]), Ink::actor).put("  ");
      canvas_.flow(
          words("knot, weight " + format_seconds(knots[i]->weight_s) + ", busy " +
                format_seconds(knots[i]->cpu_s) + ", looks like: " + std::string(pattern_title(*knots[i]))),
          4);
    }
    left_out(knots.size() - knots_shown, "knot");
    if (sinks.empty()) {
      return;
    }
    const std::size_t sinks_shown = limit(kBackground, sinks.size());
    std::vector<Word> line;
    for (std::size_t i = 0; i < sinks_shown; ++i) {
      line.push_back({full(sinks[i]->actor), Ink::actor});
      line.push_back({"busy " + share(sinks[i]->busy_s)});
      line.push_back({i + 1 < sinks.size() ? "," : "", Ink::plain, true});
    }
    if (sinks_shown < sinks.size()) {
      line.push_back({format_count(sinks.size() - sinks_shown) + " more (-v)", Ink::dim});
    }
    canvas_.to(2);
    canvas_.flow(line, 4);
  }

  void cpu() {
    const double runnable_s = report_.totals.target.runnable_s;
    if (!(runnable_s >= 0.01 * report_.window_s)) {
      return;
    }
    std::vector<ReportActorId> by_runnable;
    for (std::size_t i = 0; i < report_.actors.size(); ++i) {
      if (!report_.actors[i].outside && report_.actors[i].time.runnable_s > 0) {
        by_runnable.push_back(static_cast<ReportActorId>(i));
      }
    }
    std::stable_sort(by_runnable.begin(), by_runnable.end(), [&](ReportActorId a, ReportActorId b) {
      return report_.actors[a].time.runnable_s > report_.actors[b].time.runnable_s;
    });
    const std::size_t shown = std::min<std::size_t>(limit(3, by_runnable.size()), by_runnable.size());
    std::string text = format_seconds(runnable_s) + " ready to run without a CPU, all threads together";
    for (std::size_t i = 0; i < shown; ++i) {
      text += (i == 0 ? ": " : ", ") + full(by_runnable[i]) + " " +
              format_seconds(report_.actors[by_runnable[i]].time.runnable_s);
    }
    text += shown < by_runnable.size() ? ", " + format_count(by_runnable.size() - shown) + " more" : "";
    canvas_.gap();
    canvas_.put("RUNNABLE", Ink::strong).put("  ");
    canvas_.flow(words(text), 10);
  }

  /// Who sent it what, if it was more than one.
  void disk_users(const ReportDisk& disk) {
    if (disk.users.size() < 2 || disk.bytes == 0) {
      return;
    }
    const std::size_t shown = limit(kDiskUsers, disk.users.size());
    std::string text = "used by ";
    double all = 0;
    for (const ReportDiskUser& user : disk.users) {
      all += static_cast<double>(user.bytes);
    }
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportDiskUser& user = disk.users[i];
      text += (i == 0 ? "" : ", ") + (user.actor ? brief(*user.actor) : std::string("others")) + " " +
              format_percent(static_cast<double>(user.bytes), all);
    }
    text += shown < disk.users.size() ? ", " + format_count(disk.users.size() - shown) + " more" : "";
    canvas_.to(6);
    canvas_.flow(words(text), 6);
  }

  static std::string capacity_source(const ReportDisk& disk) {
    const std::string source(to_string(disk.capacity_source));
    return disk.capacity_measured_on.empty() ? source : source + " " + disk.capacity_measured_on;
  }

  void disk_check(const ReportDisk& disk) {
    if (!disk.check || !disk.check->mismatch) {
      return;
    }
    const ReportDiskCheck& check = *disk.check;
    canvas_.to(6).put("MISMATCH", Ink::warn).put("  ");
    canvas_.flow(words("/proc/diskstats counted " + format_plural(check.counted_ios, "request") + " of " +
                       format_scaled(static_cast<double>(check.counted_bytes)) + "B, the tracepoints saw " +
                       format_count(check.seen_ios) + " of " +
                       format_scaled(static_cast<double>(check.seen_bytes)) + "B: trust neither"),
                 6);
  }

  void disks() {
    if (report_.disks.empty()) {
      return;
    }
    canvas_.gap();
    for (const ReportDisk& disk : report_.disks) {
      canvas_.put("DISK", Ink::strong).put("  ");
      const std::string on = disks_below(report_.actors[disk.actor]);
      canvas_.put(canvas_.fit(report_.actors[disk.actor].name, ActorNames::kNameColumns), Ink::actor)
          .put(on)
          .put("  ");
      const std::string source =
          capacity_source(disk) + (disk.capacity_raised ? ", raised to the highest rate seen" : "");
      canvas_.flow(
          fields({words("idle " + share(disk.idle_s)),
                  words(format_count(static_cast<std::uint64_t>(std::llround(disk.ios_per_s))) + " IO/s, " +
                        format_scaled(disk.bytes_per_s) + "B/s"),
                  words(disk.service_s > 0 ? format_seconds(disk.service_s) + " each, " +
                                                 format_ratio(disk.in_flight) + " in flight"
                                           : ""),
                  words("capacity " + format_scaled(disk.capacity_bytes_per_s) + "B/s, " +
                        format_count(static_cast<std::uint64_t>(std::llround(disk.capacity_ios_per_s))) +
                        " IO/s (" + source + ")")}),
          6);
      disk_users(disk);
      disk_check(disk);
    }
  }

  static std::string direction(const char* name, const ReportNicDirection& use, double window_s) {
    return name + (" " + format_scaled(use.bytes_per_s)) + "B/s" +
           (use.capacity_bytes_per_s > 0 ? ", idle " + format_percent(use.idle_s, window_s) : "");
  }

  /// `10 Gbit/s each way`, `1 Gbit/s in, 100 Mbit/s out`
  static std::string capacity(const ReportNic& nic) {
    constexpr double kBits = 8;
    const std::string received = format_scaled(nic.received.capacity_bytes_per_s * kBits) + "bit/s";
    const std::string sent = format_scaled(nic.sent.capacity_bytes_per_s * kBits) + "bit/s";
    return received == sent ? received + " each way" : received + " in, " + sent + " out";
  }

  void nics() {
    if (report_.nics.empty()) {
      return;
    }
    canvas_.gap();
    for (const ReportNic& nic : report_.nics) {
      canvas_.put("NIC", Ink::strong).put("  ");
      canvas_.put(canvas_.fit(report_.actors[nic.actor].name, ActorNames::kNameColumns), Ink::actor)
          .put("  ");
      canvas_.flow(
          fields(
              {words(direction("received", nic.received, report_.window_s)),
               words(direction("sent", nic.sent, report_.window_s)),
               words(!nic.capacity_source
                         ? "no capacity known (--nic-capacity)"
                         : "capacity " + capacity(nic) + " (" + std::string(to_string(*nic.capacity_source)) +
                               (nic.capacity_raised ? ", raised to the highest rate seen)" : ")"))}),
          5);
    }
  }

  void false_wakeups() {
    const ReportFalseWakeups& all = report_.false_wakeups;
    if (all.count == 0) {
      return;
    }
    std::string text = format_count(all.count) + ": ";
    const std::size_t shown = limit(kFalseWakeups, all.edges.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportFalseWakeups::Edge& edge = all.edges[i];
      text +=
          (i == 0 ? "" : ", ") + brief(edge.from) + " by " + brief(edge.to) + " " + format_count(edge.count);
    }
    const std::size_t more = all.edges.size() - shown;
    text += (more > 0 ? ", " + format_count(more) + " more" : "") + "; they found nothing and waited again";
    const std::string ran = format_seconds(all.ran_s);
    text += all.removed ? ": the waits around each count as one, with the " + ran +
                              " that ran in between (--keep-false-wakeups counts them apart)."
                        : ", after having run " + ran + " together.";
    canvas_.gap();
    canvas_.put("FALSE WAKEUPS", Ink::strong).put("  ");
    canvas_.flow(words(text), 15);
  }

  static std::string_view in_words(StackCut cut) {
    switch (cut) {
      case StackCut::deep:
        return "has more frames than are kept";
      case StackCut::no_mapping:
        return "is cut where no code was known to be mapped";
      case StackCut::no_rule:
        return "is cut in code that its file's unwind table (.eh_frame) leaves out";
      case StackCut::no_frame_pointer:
        return "is cut in code without unwind table and frame pointers (a JIT's: java "
               "-XX:+PreserveFramePointer; "
               "or built without both: -fno-omit-frame-pointer)";
      case StackCut::unreadable:
        return "could not be read to its end";
    }
    return "";
  }

  /// Whose stacks are not to be trusted to show the program's own frames.
  void stack_ends() {
    const ReportStackEnds& ends = report_.stack_ends;
    double cut_s = 0;
    for (const auto& [cut, wait_s] : ends.cut_s) {
      cut_s += wait_s;
    }
    const double all_s = ends.complete_s + ends.missing_s + cut_s;
    // A known stack is not walked again; if some were wrong, so may be others that were not looked at.
    const StackReuse& reuse = report_.recording.stack_reuse;
    if (reuse.wrong != 0) {
      canvas_.gap();
      canvas_.put("STACKS", Ink::strong).put("  ");
      canvas_.flow(
          words(format_count(reuse.wrong) + " of " + format_count(reuse.verified) +
                " known stacks that were walked again were others: about " +
                format_percent(static_cast<double>(reuse.wrong), static_cast<double>(reuse.verified)) +
                " of all stacks are wrong."),
          8);
    }
    // Without any the recording was asked for none.
    if (all_s - ends.missing_s <= 0 || ends.complete_s >= kStacksComplete * all_s) {
      return;
    }
    std::string text =
        format_percent(ends.complete_s, all_s) + " of the target's wait time has complete user stacks";
    std::vector<std::pair<StackCut, double>> cuts(ends.cut_s.begin(), ends.cut_s.end());
    std::stable_sort(cuts.begin(), cuts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [cut, wait_s] : cuts) {
      text += "; " + format_percent(wait_s, all_s) + " " + std::string(in_words(cut));
    }
    text += ends.missing_s > 0 ? "; " + format_percent(ends.missing_s, all_s) + " has none" : "";
    canvas_.gap();
    canvas_.put("STACKS", Ink::strong).put("  ");
    canvas_.flow(words(text + "."), 8);
  }

  void open_waits() {
    const BlockedThreads blocked = blocked_threads(report_);
    const std::vector<BlockedPlace>& places = blocked.throughout;
    if (!places.empty()) {
      heading("BLOCKED THROUGHOUT", "never woken in the window");
    }
    const std::size_t shown = limit(kOpenWaits, places.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportOpenWait& open = report_.open_waits[places[i].open_wait];
      const bool group = report_.actors[open.actor].kind == ActorKind::group;
      canvas_.to(2).put(full(open.actor), Ink::actor);
      if (group) {
        canvas_.put(" " + format_plural(places[i].threads, "thread"));
      }
      canvas_.put("  " + format_seconds(open.wait_s) + "  " + std::string(to_string(open.wait_class)) + "  ");
      if (verbose_ && !open.wait_stack.empty()) {
        canvas_.end();
        stack_line("waits in", open.wait_stack, "");
      } else {
        canvas_.flow(chain(open.wait_stack, ""), 4, 2);
      }
      if (open.holder) {
        holder_line(open);
      }
    }
    left_out(places.size() - shown, "place");
    std::string rest;
    if (blocked.outside > 0) {
      rest = format_plural(blocked.outside, "thread") + " outside the target blocked throughout";
    }
    if (blocked.later > 0) {
      rest += (rest.empty() ? "" : "; ") + format_plural(blocked.later, "more thread") +
              " blocked at the end, the longest for " + format_seconds(blocked.longest_later_s);
    }
    if (!places.empty() && !rest.empty()) {
      canvas_.to(2);
      canvas_.flow(words(rest, Ink::dim), 2);
    }
  }

  void holder_line(const ReportOpenWait& open) {
    const auto other =
        std::find_if(report_.open_waits.begin(), report_.open_waits.end(),
                     [&open](const ReportOpenWait& candidate) { return candidate.tid == open.holder->tid; });
    std::vector<Word> line =
        words("for the pthread mutex held by " +
              thread_name(open.holder->name, open.holder->tid, open.holder->ns_tid) + ", who ");
    if (open.holder->tid == open.tid) {
      line = words("for a pthread mutex that it holds itself: a deadlock");
    } else if (other == report_.open_waits.end()) {
      const std::vector<Word> rest = words("is not blocked");
      line.insert(line.end(), rest.begin(), rest.end());
    } else if (open.deadlock) {
      const std::vector<Word> rest = words("waits for it in turn: a deadlock");
      line.insert(line.end(), rest.begin(), rest.end());
    } else {
      const std::vector<Word> rest =
          words("is blocked (" + std::string(to_string(other->wait_class)) + ") in");
      const std::vector<Word> stack = chain(other->wait_stack, "");
      line.insert(line.end(), rest.begin(), rest.end());
      line.insert(line.end(), stack.begin(), stack.end());
    }
    canvas_.to(6).flow(line, 8, 2);
  }

  // ---- --explain

  std::string explanation(const ReportStep& step) const {
    std::string what = step.edge    ? edge_text(report_.edges[*step.edge])
                       : step.actor ? full(*step.actor)
                                    : std::string();
    const std::string weight = format_seconds(step.weight_s) + " (" + share(step.weight_s) + ")";
    switch (step.reason) {
      case ReportStep::Reason::noise:
        return "set aside " + what + ": weight " + weight + ", under the noise floor";
      case ReportStep::Reason::to_pseudo:
        return "set aside " + what + ": waits for a time or an interrupt, not for somebody";
      case ReportStep::Reason::requests:
        return "set aside " + what + ": waits for requests from outside of the target, not for anybody in it";
      case ReportStep::Reason::always_running:
        return "set aside " + what + ": " + full(report_.edges[*step.edge].from) +
               " is busy nearly all the time besides: this wait cannot limit";
      case ReportStep::Reason::apart:
        return "set aside " + what + ": nothing in the target waits for it";
      case ReportStep::Reason::light:
        return "dropped " + what + ": weight " + weight +
               " is the lightest in its knot and under --min-weight";
      case ReportStep::Reason::background_sink:
        return "removed " + what + ": waits for nobody that is left and is busy only " + weight;
      case ReportStep::Reason::background_knot:
        return "removed " + what + ": its knot uses less than one CPU and no disk";
      case ReportStep::Reason::kept:
        return "went back to the last knot" + (what.empty() ? "" : " (" + what + ")") +
               ": going on would have left nothing but background";
    }
    return what;
  }

  void refinement() {
    heading("HOW IT WAS FOUND",
            "noise floor " + format_seconds(report_.options.noise_s) + " (" + share(report_.options.noise_s) +
                "), --min-weight " + format_seconds(report_.options.min_weight_s) + " (" +
                share(report_.options.min_weight_s) + "), " +
                (report_.options.merge ? "similar threads merged" : "threads kept apart"));
    std::size_t noise = 0;
    double noise_weight_s = 0;
    for (const ReportStep& step : report_.refinement) {
      if (step.reason == ReportStep::Reason::noise) {
        ++noise;
        noise_weight_s += step.weight_s;
      }
    }
    if (noise > 0 && !verbose_) {
      canvas_.to(2)
          .put(format_plural(noise, "edge") + " under the noise floor set aside, " +
               format_seconds(noise_weight_s) + " together")
          .end();
    }
    for (std::size_t i = 0; i < report_.refinement.size(); ++i) {
      const ReportStep& step = report_.refinement[i];
      if (step.reason == ReportStep::Reason::noise && !verbose_) {
        continue;
      }
      canvas_.to(2).put_right(std::to_string(i + 1), 4, Ink::dim).put(" ");
      canvas_.flow(words(explanation(step)), 8);
    }
    if (report_.refinement.empty()) {
      canvas_.to(2).put("nothing had to be removed").end();
    }
  }

  const Report& report_;
  bool verbose_;
  StackNoise noise_;
  bool explained_ = false;
  Canvas canvas_;
  ActorNames names_;
};

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  return TextReport(report, style).render(style.explain);
}

}  // namespace offwait
