// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/redact.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/base_name.h"

namespace offwait {

namespace {

std::string last_part(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  // A path of slashes alone is the root.
  return end == std::string_view::npos ? std::string(path) : std::string(base_name(path.substr(0, end + 1)));
}

/// Each word that has a slash is a path: `python3 /srv/app.py`, `cgroup /system.slice/a.service`.
std::string without_directories(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out += last_part(text.substr(0, end));
    if (end < text.size()) out += ' ';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

/// What comes before the part that tells hosts apart: `10.0.3.` of 10.0.3.7, `2001:db8:` of 2001:db8::7.
/// Empty of what is neither.
std::string_view network_of(std::string_view address) {
  const bool is_ipv4 = std::count(address.begin(), address.end(), '.') == 3 &&
                       address.find_first_not_of("0123456789.") == std::string_view::npos;
  if (is_ipv4) return address.substr(0, address.rfind('.') + 1);
  if (address.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) return {};
  const std::size_t first = address.find(':');
  const std::size_t second = first == std::string_view::npos ? first : address.find(':', first + 1);
  return second == std::string_view::npos ? std::string_view{} : address.substr(0, second + 1);
}

void redact_peers(std::vector<Peer>& peers) {
  std::map<std::string, std::size_t> hosts;
  for (Peer& peer : peers) {
    if (peer.address.empty() || is_loopback(peer.address)) continue;
    const std::size_t host = hosts.try_emplace(peer.address, hosts.size() + 1).first->second;
    peer.address = std::string(network_of(peer.address)) + "x" + std::to_string(host);
  }
}

/// A report tells which cgroup is below which by their names, so every directory keeps one name.
void redact_cgroups(std::vector<MemoryUse>& memory) {
  std::map<std::string, std::string> names;
  for (const MemoryUse& use : memory) {
    if (use.has_target) names.emplace(use.cgroup, last_part(use.cgroup));
  }
  std::size_t numbered = 0;
  for (MemoryUse& use : memory) {
    std::string out;
    for (std::size_t end = 0; end < use.cgroup.size();) {
      end = std::min(use.cgroup.find('/', end + 1), use.cgroup.size());
      const auto [name, added] = names.try_emplace(use.cgroup.substr(0, end));
      if (added) name->second = "x" + std::to_string(++numbered);
      out += "/" + name->second;
    }
    use.cgroup = out;
  }
}

}  // namespace

Trace redacted(Trace trace) {
  trace.recording.target = without_directories(trace.recording.target);
  for (Actor& actor : trace.actors) {
    actor.program = last_part(actor.program);
    actor.title = without_directories(actor.title);
  }
  for (Object& object : trace.objects) object.path = last_part(object.path);
  for (Responses& responses : trace.responses) responses.path = last_part(responses.path);
  for (Frame& frame : trace.frames) frame.file = last_part(frame.file);
  for (CpuQuota& quota : trace.cpu_quotas) quota.cgroup = last_part(quota.cgroup);
  redact_cgroups(trace.memory);
  redact_peers(trace.peers);
  return trace;
}

}  // namespace offwait
