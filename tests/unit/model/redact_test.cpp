// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/redact.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace offwait;

namespace {

Trace with_peers(const std::vector<std::string>& addresses) {
  Trace trace;
  for (const std::string& address : addresses) trace.peers.push_back({Peer::Role::service, address, 80});
  return trace;
}

}  // namespace

TEST_CASE("paths are their last part") {
  Trace trace;
  trace.recording.target = "cgroup /system.slice/db.service";
  trace.recording.labels = {{"path", "/keep/this"}};
  Actor actor;
  actor.name = "kworker/0:1";
  actor.program = "/opt/secret/bin/server";
  actor.title = "python3 /srv/customer/app.py";
  trace.actors = {actor};
  Object object;
  object.path = "/var/lib/customer/table.ibd";
  trace.objects = {object};
  Responses responses;
  responses.path = "/run/customer/db.sock";
  trace.responses = {responses};
  Frame frame;
  frame.function = "f";
  frame.file = "/home/me/src/db.cc";
  trace.frames = {frame};
  CpuQuota quota;
  quota.cgroup = "/tenants/customer/";
  trace.cpu_quotas = {quota};
  const Trace out = redacted(trace);
  CHECK(out.recording.target == "cgroup db.service");
  CHECK(out.recording.labels == trace.recording.labels);
  CHECK(out.actors[0].name == "kworker/0:1");
  CHECK(out.actors[0].program == "server");
  CHECK(out.actors[0].title == "python3 app.py");
  CHECK(out.objects[0].path == "table.ibd");
  CHECK(out.responses[0].path == "db.sock");
  CHECK(out.frames[0].file == "db.cc");
  CHECK(out.cpu_quotas[0].cgroup == "customer");
}

TEST_CASE("cgroups of memory stay below each other") {
  Trace trace;
  trace.memory = {{"", false, 9},
                  {"/tenants/customer/db", true, 3},
                  {"/tenants", false, 8},
                  {"/tenants/customer", false, 5},
                  {"/other/db", true, 4}};
  const Trace out = redacted(trace);
  std::vector<std::string> cgroups;
  for (const MemoryUse& use : out.memory) cgroups.push_back(use.cgroup);
  CHECK(cgroups == std::vector<std::string>{"", "/x1/x2/db", "/x1", "/x1/x2", "/x3/db"});
  CHECK(out.memory[1].limit_bytes == 3);
}

TEST_CASE("hosts are told apart by numbers in their network") {
  const Trace out = redacted(with_peers(
      {"10.0.3.7", "10.0.3.9", "10.0.3.7", "2001:db8::7", "db.example.org", "127.0.0.1", "::1", ""}));
  std::vector<std::string> addresses;
  for (const Peer& peer : out.peers) addresses.push_back(peer.address);
  CHECK(addresses == std::vector<std::string>{"10.0.3.x1", "10.0.3.x2", "10.0.3.x1", "2001:db8:x3", "x4",
                                              "127.0.0.1", "::1", ""});
  CHECK(out.peers[0].port == 80);
}
