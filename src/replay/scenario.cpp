// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/scenario.h"

#include <algorithm>
#include <limits>

namespace offwait {

std::string_view to_string(Resource resource) {
  switch (resource) {
    case Resource::cpu:
      return "cpu";
    case Resource::io:
      return "io";
    case Resource::disk:
      return "disk";
    case Resource::sleep:
      return "sleep";
    case Resource::remote:
      return "remote";
    case Resource::cpus:
      return "cpus";
    case Resource::held:
      return "held";
    case Resource::waited:
      return "lock";
    case Resource::threads:
      return "threads";
    case Resource::runnable:
      return "runnable";
    case Resource::sync:
      return "sync";
    case Resource::pause:
      return "pause";
  }
  return "cpu";
}

double factor_of_cpus(const Scenario& scenario) {
  double out = 1;
  for (const Change& change : scenario) out *= change.resource == Resource::cpus ? change.factor : 1;
  return out;
}

double most_gain(const Scenario& scenario) {
  double shortest = 1;
  for (const Change& change : scenario) shortest = std::min(shortest, change.factor);
  return shortest > 0 ? 1 / shortest - 1 : std::numeric_limits<double>::infinity();
}

namespace {

/// What the changes of functions leave of something that each function has a part of.
double factor_of_parts(const Scenario& scenario, const Code& code, Resource resource,
                       std::vector<double> CodePart::*parts, std::size_t id) {
  double out = 1;
  for (const Change& change : scenario) {
    if (change.code != kNoCode && change.resource == resource) {
      out *= 1 - (1 - change.factor) * (code.parts[change.code].*parts)[id];
    }
  }
  return out;
}

}  // namespace

double factor_of_work(const Scenario& scenario, const Code& code, PlaceId place) {
  return factor_of_parts(scenario, code, Resource::cpu, &CodePart::cpu, place);
}

double factor_of_wait(const Scenario& scenario, const Code& code, Resource resource, StackId stack) {
  double out = 1;
  for (const Change& change : scenario) {
    const bool is_meant = change.code != kNoCode && change.resource == resource && stack != kNoStack;
    if (is_meant && code.parts[change.code].stacks[stack]) out *= change.factor;
  }
  return out;
}

double factor_of_requests(const Scenario& scenario, const Code& code, GroupId group) {
  return factor_of_parts(scenario, code, Resource::io, &CodePart::requests, group);
}

Scenario with_parts_of_services(const Scenario& scenario, const Services& services, const Uses& uses) {
  Scenario out;
  for (const Change& change : scenario) {
    out.push_back(change);
    if (change.service == kNoService) continue;
    for (const GroupId group : services.all[change.service].behind) {
      for (const Resource resource : {Resource::cpu, Resource::sleep, Resource::remote}) {
        out.push_back({resource, group, kNoActor, change.factor});
      }
      for (const auto& [disk, ns] : uses.groups[group].disk_ns) {
        out.push_back({Resource::io, group, disk, change.factor});
      }
    }
  }
  return out;
}

}  // namespace offwait
