// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/called.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

TEST_CASE("a title without its client is what processes of one kind have in common") {
  CHECK(without_client("postgres: app app 10.0.0.7(4711) idle") == "postgres: app");
  CHECK(without_client("postgres: 15/main: app shop [local] UPDATE waiting") ==
        "postgres: 15/main: app shop");
  CHECK(without_client("postgres: app app ::1(4711) idle in transaction") == "postgres: app");
  CHECK(without_client("postgres: walsender copy 10.0.0.7(4711) streaming 0/3") ==
        "postgres: walsender copy");
  CHECK(without_client("postgres: walwriter") == "postgres: walwriter");
  CHECK(without_client("nginx: worker process") == "nginx: worker process");
  CHECK(without_client("sshd:  git [priv]") == "sshd: git");
  CHECK(without_client("a(b: c") == "a(b: c");
  CHECK(without_client("").empty());
}

TEST_CASE("a thread is called by its title, and found by both names") {
  Actor actor;
  actor.name = "postgres";
  CHECK(called(actor) == "postgres");
  CHECK(is_called(actor, "post*"));
  CHECK_FALSE(is_called(actor, "postgres: *"));
  actor.title = "postgres: app app [local] idle";
  CHECK(called(actor) == "postgres: app");
  CHECK(alike(actor) == "postgres: app");
  actor.title = "postgres: 15/main: app app [local] idle";
  CHECK(called(actor) == "postgres: app");
  CHECK(alike(actor) == "postgres: 0/main: app");
  CHECK(is_called(actor, "postgres"));
  CHECK(is_called(actor, "postgres: a*"));
  CHECK_FALSE(is_called(actor, "*idle"));
}

TEST_CASE("the threads of a script that have no name of their own have its title") {
  CHECK(names_script("python3 app.py"));
  CHECK_FALSE(names_script("nginx: worker process"));
  CHECK_FALSE(names_script(""));
  CHECK(has_title("python3 app.py", "python3", false));
  CHECK_FALSE(has_title("python3 app.py", "worker-1", false));
  CHECK(has_title("python3 app.py", "renamed", true));
  CHECK_FALSE(has_title("nginx: worker process", "nginx:", false));
  CHECK(has_title("nginx: worker process", "nginx", true));
}

TEST_CASE("names that differ at most in digits have one pattern") {
  CHECK(name_pattern("io-12/3") == name_pattern("io-4/56"));
  CHECK(name_pattern("io") != name_pattern("io1"));
  CHECK(name_pattern("") == "");
}

}  // namespace
}  // namespace offwait
