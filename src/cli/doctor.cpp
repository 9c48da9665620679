// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doctor.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/escape.h"
#include "calibrate/calibration.h"
#include "capture/host.h"
#include "cgroup/hierarchy.h"
#include "cli/version.h"
#include "process/program_path.h"
#include "report/canvas.h"

namespace offwait {
namespace {

constexpr int kNameColumn = 10;
constexpr int kValueColumn = 36;

const char* name_of(FeatureState state) {
  constexpr std::array kNames = {"ok", "degraded", "missing", "unknown"};
  return kNames[static_cast<std::size_t>(state)];
}

HostFeature program(const std::string& name, const std::string& meaning) {
  const Result<std::string> path = program_path(name);
  if (!path) return {name, FeatureState::degraded, "not installed", meaning};
  return {name, FeatureState::ok, *path, ""};
}

HostFeature calibrations() {
  const Result<std::vector<Calibration>> stored = stored_calibrations();
  if (!stored) return {"disk calibrations", FeatureState::degraded, "unusable", stored.error().message};
  if (stored->empty()) {
    return {"disk calibrations", FeatureState::degraded, "none",
            "disk capacities are assumed: 'offwait calibrate' measures them"};
  }
  std::vector<std::string> disks;
  for (const Calibration& one : *stored) disks.push_back(fmt::format("{} {}", one.disk, one.measured_on));
  return {"disk calibrations", FeatureState::ok, fmt::format("{}", fmt::join(disks, ", ")), ""};
}

HostFeature cgroups() {
  const Result<std::string> mount = cgroup_mount();
  if (mount) return {"cgroup v2", FeatureState::ok, *mount, ""};
  return {"cgroup v2", FeatureState::degraded, "none", mount.error().message};
}

/// Whether this host can be recorded, in one sentence.
std::string verdict(const Host& host) {
  if (!host.recording) return "Recording is impossible: " + host.recording.error().message;
  const auto degraded =
      std::count_if(host.features.begin(), host.features.end(),
                    [](const HostFeature& feature) { return feature.state == FeatureState::degraded; });
  return degraded == 0 ? "Recording is possible."
                       : "Recording is possible, except for what is degraded above.";
}

std::string to_text(const Host& host, const TextStyle& style) {
  Canvas canvas(style.width, style.color, style.charset);
  for (const HostFeature& feature : host.features) {
    const bool good = feature.state == FeatureState::ok;
    canvas.put(name_of(feature.state), good ? Ink::good : Ink::warn)
        .to(kNameColumn)
        .put(feature.name)
        .to(kValueColumn);
    canvas.flow(words(feature.meaning.empty() ? feature.value : feature.value + "; " + feature.meaning),
                kValueColumn);
  }
  canvas.gap();
  canvas.flow(words(verdict(host), Ink::strong), 2);
  return canvas.take();
}

std::string to_json(const Host& host) {
  nlohmann::ordered_json features = nlohmann::ordered_json::array();
  for (const HostFeature& feature : host.features) {
    features.push_back({{"name", feature.name},
                        {"state", name_of(feature.state)},
                        {"value", escape(feature.value)},
                        {"meaning", escape(feature.meaning)}});
  }
  const nlohmann::ordered_json json = {{"schema", "offwait-doctor/1"},
                                       {"offwait", kVersion},
                                       {"can_record", host.recording.ok()},
                                       {"verdict", escape(verdict(host))},
                                       {"features", std::move(features)}};
  return json.dump(2) + "\n";
}

}  // namespace

Diagnosis diagnose(const TextStyle& style, bool json) {
  Host host = examine_host();
  host.features.push_back(cgroups());
  host.features.push_back(program("jcmd", "no names for what a JVM has compiled (--java)"));
  host.features.push_back(program("debuginfod-find", "no debug files from servers (--debuginfod)"));
  host.features.push_back(calibrations());
  return {json ? to_json(host) : to_text(host, style), host.recording.ok()};
}

}  // namespace offwait
