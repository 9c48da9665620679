// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/folded.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/nanos.h"
#include "graph/false_wakeups.h"
#include "graph/sweep.h"
#include "model/validate.h"
#include "report/frame.h"

namespace offwait {

namespace {

constexpr std::string_view kSeparator = "--";

std::string cell(std::string_view text) {
  std::string out = escape(text);
  std::replace(out.begin(), out.end(), ';', ':');
  if (const std::size_t space = out.find_last_not_of("0123456789.");
      space != std::string::npos && out[space] == ' ') {
    out[space] = '_';
  }
  return out;
}

class Folder {
 public:
  Folder(const Trace& trace, const FoldedOptions& options) : trace_(trace), options_(options) {}

  std::string waits(const Sweep& sweep) {
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      const SiteSum& sum = sweep.sites[id];
      if (trace_.actors[site.thread].outside) continue;
      std::string line = name(site.thread) + stack(site.wait_stack).root_first;
      if (options_.kind == FoldedKind::off_wake) {
        line.append(";").append(kSeparator).append(stack(site.waker_stack).leaf_first).append(";");
        line.append(waker(site));
      }
      counts_[line] += options_.weight == FoldedWeight::wait ? sum.wait_ns : sum.weight_ns;
    }
    constexpr Nanos kMicrosecond = 1000;
    return lines(kMicrosecond);
  }

  std::string samples() {
    for (const CpuSample& sample : trace_.cpu_samples) {
      if (sample.at < trace_.window.begin || sample.at >= trace_.window.end ||
          trace_.actors[sample.thread].outside) {
        continue;
      }
      ++counts_[name(sample.thread) + stack(sample.stack).root_first];
    }
    return lines(1);
  }

 private:
  std::string name(ActorId thread) const {
    const std::string& name = trace_.actors[thread].name;
    return name.empty() ? "[no name]" : cell(name);
  }

  /// Leaf first.
  std::vector<std::string> frames(StackId id) const {
    std::vector<std::string> out;
    if (id == kNoStack) return out;
    const Backtrace stack = backtrace_of(trace_, id);
    const auto add = [&out](const std::vector<Frame>& frames) {
      for (const Frame& frame : frames) {
        if (frame.kind != Frame::Kind::boundary) out.push_back(cell(short_frame(without_line(frame))));
      }
    };
    if (options_.noise == StackNoise::kept) {
      add(stack.frames);
    } else {
      const std::size_t all = stack.frames.size() + 1;
      const FoldedStack folded = fold(stack, all, StackNoise::folded, all);
      add(folded.kernel);
      add(folded.user);
    }
    if (stack.cut) out.push_back(cell(cut_frame(*stack.cut)));
    return out;
  }

  /// Each frame with `;` before it.
  struct Text {
    std::string leaf_first;
    std::string root_first;
  };
  const Text& stack(StackId id) {
    const auto [found, added] = stacks_.try_emplace(id);
    if (added) {
      for (const std::string& frame : frames(id)) {
        found->second.leaf_first += ";" + frame;
        found->second.root_first.insert(0, ";" + frame);
      }
    }
    return found->second;
  }

  std::string waker(const WaitSite& site) const {
    if (site.waker == kNoActor) return "[nobody seen]";
    const Actor& actor = trace_.actors[site.waker];
    if (actor.kind == ActorKind::thread) return name(site.waker);
    return cell(std::string(to_string(actor.kind)) + (actor.name.empty() ? "" : " " + actor.name));
  }

  std::string lines(Nanos unit) const {
    std::string out;
    for (const auto& [line, count] : counts_) {
      if (const Nanos units = (count + unit / 2) / unit; units > 0) {
        out.append(line).append(" ").append(std::to_string(units)).append("\n");
      }
    }
    return out;
  }

  const Trace& trace_;
  const FoldedOptions& options_;
  std::unordered_map<StackId, Text> stacks_;
  std::map<std::string, Nanos> counts_;
};

}  // namespace

Result<std::string> to_folded(Trace trace, const FoldedOptions& options) {
  OFFWAIT_TRY_STATUS(validate(trace));
  if (options.kind == FoldedKind::on_cpu) {
    return Folder(trace, options).samples();
  }
  if (!options.keep_false_wakeups) {
    if (const std::vector<FalseWakeup> found = find_false_wakeups(trace); !found.empty()) {
      trace = without_false_wakeups(trace, found);
    }
  }
  OFFWAIT_TRY(const Sweep swept, sweep(trace));
  return Folder(trace, options).waits(swept);
}

}  // namespace offwait
