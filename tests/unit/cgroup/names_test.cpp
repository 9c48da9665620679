// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/names.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

const std::string kA = "4f1a" + std::string(60, '0');
const std::string kB = "4f1b" + std::string(60, '1');
const std::string kC = "99aa" + std::string(60, '2');

std::string found(const Result<std::string>& result) {
  return result ? *result : "error: " + result.error().message;
}

TEST_CASE("a unit is found by its name, a service without its suffix, too") {
  const std::vector<std::string> cgroups = {"/",
                                            "/system.slice",
                                            "/system.slice/postgresql@15-main.service",
                                            "/system.slice/redis.service",
                                            "/system.slice/redis.socket",
                                            "/user.slice/redis"};
  CHECK(found(find_unit(cgroups, "redis")) == "/system.slice/redis.service");
  CHECK(found(find_unit(cgroups, "redis.service")) == "/system.slice/redis.service");
  CHECK(found(find_unit(cgroups, "redis.socket")) == "/system.slice/redis.socket");
  CHECK(found(find_unit(cgroups, "postgresql@15-main")) == "/system.slice/postgresql@15-main.service");
  CHECK(found(find_unit(cgroups, "system.slice")) == "/system.slice");
}

TEST_CASE("a unit that does not run, or runs several times, is not found") {
  const std::vector<std::string> cgroups = {"/", "/u/1/db.service", "/u/2/db.service", "/db.service"};
  CHECK(found(find_unit(cgroups, "nginx")) ==
        "error: there is no cgroup of a unit 'nginx.service': the unit is not running, or has another "
        "name ('systemctl list-units' lists those that run)");
  CHECK(found(find_unit(cgroups, "db")) ==
        "error: several units are called 'db.service': choose the cgroup of one with -c: /u/1/db.service, "
        "/u/2/db.service, /db.service");
  CHECK_FALSE(find_unit(cgroups, "").ok());
  CHECK_FALSE(find_unit({}, "db").ok());
}

TEST_CASE("each manager's containers are found, by the whole id and by its beginning") {
  const std::string pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/";
  for (const std::string& cgroup :
       {"/system.slice/docker-" + kA + ".scope", "/docker/" + kA, "/machine.slice/libpod-" + kA + ".scope",
        "/libpod_parent/libpod-" + kA, pod + "cri-containerd-" + kA + ".scope", pod + "crio-" + kA + ".scope",
        "/kubepods/burstable/pod1/" + kA, "/default/" + kA, "/user.slice/x/crun-" + kA + ".scope"}) {
    const std::vector<std::string> cgroups = {"/", "/system.slice", cgroup, cgroup + "/init.scope",
                                              "/docker/" + kC};
    CHECK(found(find_container(cgroups, kA)) == cgroup);
    CHECK(found(find_container(cgroups, "4f1a")) == cgroup);
    CHECK(found(find_container(cgroups, kA.substr(0, 12))) == cgroup);
  }
}

TEST_CASE("an id that is not a hexadecimal number has to be given whole") {
  const std::vector<std::string> cgroups = {"/system.slice/crun-web.scope", "/system.slice/crun-web2.scope"};
  CHECK(found(find_container(cgroups, "web")) == "/system.slice/crun-web.scope");
  CHECK_FALSE(find_container(cgroups, "we").ok());
}

TEST_CASE("a container's monitor is no container, and neither is a cgroup with an id inside its name") {
  const std::vector<std::string> cgroups = {"/machine.slice/libpod-conmon-" + kA + ".scope",
                                            "/system.slice/crio-conmon-" + kA + ".scope",
                                            "/docker",
                                            "/a/x" + kA,
                                            "/session-4f1a.scope",
                                            "/docker-4f1a"};
  for (const std::string& id : {kA, std::string("4f1a"), std::string("docker"), std::string()})
    CHECK_FALSE(find_container(cgroups, id).ok());
}

TEST_CASE("the error for a missing or ambiguous container says what to do") {
  const std::vector<std::string> cgroups = {"/docker/" + kA, "/docker/" + kB, "/docker/" + kC,
                                            "/nested/docker/" + kC};
  const std::string none =
      "' here: give its id or the first 4 characters of it or more ('docker ps', 'podman ps' and 'crictl ps' "
      "list them), or its cgroup with -c";
  CHECK(found(find_container(cgroups, "web")) == "error: there is no container 'web" + none);
  CHECK(found(find_container(cgroups, "4f1")) == "error: there is no container '4f1" + none);
  CHECK(found(find_container(cgroups, "4f1abc")) == "error: there is no container '4f1abc" + none);
  CHECK(found(find_container(cgroups, "99aa")) ==
        "error: container '99aa' has several cgroups: choose one with -c: /docker/" + kC +
            ", /nested/docker/" + kC);
  const std::vector<std::string> alike = {"/docker/4f1a" + std::string(60, '0'),
                                          "/docker/4f1a" + std::string(60, '1')};
  CHECK(found(find_container(alike, "4f1a")) ==
        "error: the ids of several containers begin with '4f1a': give more of one of " + alike[0].substr(8) +
            ", " + alike[1].substr(8));
}

TEST_CASE("crun's and runc's state files name the cgroup") {
  CHECK(cgroup_of_state(R"({"pid": 7, "cgroup-path": "/web", "scope": ""})") == "/web");
  CHECK(cgroup_of_state(R"({"id": "x", "cgroup_paths": {"": "/sys/fs/cgroup/system.slice/runc-x.scope"}})") ==
        "/sys/fs/cgroup/system.slice/runc-x.scope");
}

TEST_CASE("text that is no state file names no cgroup") {
  for (const char* text :
       {"", "{", "[]", "null", "\"cgroup-path\"", R"({"cgroup-path": 7})", R"({"cgroup-path": ""})",
        R"({"cgroup_paths": []})", R"({"cgroup_paths": {"": {}}})", R"({"cgroup_paths": {"memory": "/x"}})",
        "{\"cgroup-path\": \"\xff\"}"})
    CHECK_FALSE(cgroup_of_state(text).has_value());
  CHECK_FALSE(cgroup_of_state(std::string(1 << 20, '[')).has_value());
}

TEST_CASE("a container's name is not used as a path") {
  for (const char* id : {"", ".", "..", "../crun/x", "a/b", "/etc"})
    CHECK_FALSE(cgroup_in_runtime_state(id).has_value());
}

}  // namespace
}  // namespace offwait
