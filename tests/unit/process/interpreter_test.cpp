// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/interpreter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

using namespace offwait;

namespace {

/// The title of a process with these words as its command line; by default it has the name of the first one.
std::string title(std::string words, const std::string& comm = "") {
  std::replace(words.begin(), words.end(), ' ', '\0');
  words.push_back('\0');
  const std::string first = words.substr(0, words.find('\0'));
  const std::string own = first.substr(first.rfind('/') + 1);
  return interpreter_title(words, [&] { return comm.empty() ? own : comm; });
}

}  // namespace

TEST_CASE("An interpreter is called by its script as well") {
  CHECK(title("/usr/bin/python3 -u /srv/consumer.py queue") == "python3 consumer.py");
  CHECK(title("python3.11 -W ignore -Bu app.py") == "python3.11 app.py");
  CHECK(title("python3 -Wignore -I app.py queue") == "python3 app.py");
  CHECK(title("python3 -m http.server 8000") == "python3 -m http.server");
  CHECK(title("python3 -um http.server") == "python3 -m http.server");
  CHECK(title("node --require ./trace.js --max-old-space-size=99 server.js") == "node server.js");
  CHECK(title("node server.js", "MainThread") == "node server.js");
  CHECK(title("/bin/bash -e /etc/run.sh") == "bash run.sh");
  CHECK(title("sh -ex run.sh a") == "sh run.sh");
  CHECK(title("bash -o pipefail --norc run.sh") == "bash run.sh");
  CHECK(title("bash --rcfile f run.sh") == "bash run.sh");
  CHECK(title("perl -w -I lib x.pl y") == "perl x.pl");
  CHECK(title("ruby -rset x.rb y") == "ruby x.rb");
  CHECK(title("php -c ini -f x.php") == "php x.php");
  CHECK(title("perl " + std::string(500, 'x')) == "perl " + std::string(122, 'x'));
}

TEST_CASE("Code of the command line is no script, and what is not known is not guessed") {
  for (const std::string_view words : {"sh -c echo",
                                       "bash -lc echo",
                                       "sh -ec echo",
                                       "bash -xc echo",
                                       "bash -s a",
                                       "bash +x x.sh",
                                       "perl -ne print f",
                                       "perl -le print",
                                       "perl -e print",
                                       "python3 -c pass",
                                       "python3 -uc pass x",
                                       "python3 - x",
                                       "python3",
                                       "python3 -m",
                                       "python3 dir/",
                                       "python3 --check-hash-based-pycs always x.py",
                                       "node -e 1 x",
                                       "node --eval 1",
                                       "php -r code a",
                                       "php -S host:80",
                                       "ruby -e 1 x",
                                       "cat file",
                                       "mypython3 x.py"}) {
    CHECK(title(std::string(words)) == "");
  }
  CHECK(interpreter_title("", [] { return std::string("python3"); }).empty());
  // The script is deeper than is looked.
  std::string many = "python3";
  for (int i = 0; i < 40; ++i) many += " -u";
  CHECK(title(many + " x.py").empty());
}

TEST_CASE("A process that has its own name keeps it, and that of no other program is asked for") {
  CHECK(title("/usr/bin/python3 /usr/bin/gunicorn app", "gunicorn").empty());
  CHECK(title("python3 server.py", "my-server").empty());
  bool asked = false;
  CHECK(interpreter_title(std::string("cat\0x\0", 6), [&] {
          asked = true;
          return std::string("cat");
        }).empty());
  CHECK_FALSE(asked);
}
