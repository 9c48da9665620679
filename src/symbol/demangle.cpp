// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/demangle.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#define HAVE_DECL_BASENAME 1  // without it libiberty.h declares basename() unlike <cstring>
#include <libiberty/demangle.h>

#include "sandbox/confined_batch.h"

namespace offwait {
namespace {

constexpr std::size_t kLongestMangled = 1024;  // libiberty itself refuses longer ones
constexpr std::size_t kLongestShown = 1024;
constexpr std::size_t kLongestAnswer = kLongestShown + 1;  // one more shows that it must be cut

std::string cut(std::string_view name) {
  if (name.size() <= kLongestShown) {
    return std::string(name);
  }
  std::size_t length = kLongestShown;
  // Does not cut inside a UTF-8 sequence, which has at most four bytes.
  while (length > kLongestShown - 3 && (static_cast<unsigned char>(name[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  return std::string(name.substr(0, length)) + "…";
}

std::string_view without_version(std::string_view symbol) {
  const std::size_t version = symbol.find('@');
  return version != 0 ? symbol.substr(0, version) : symbol;
}

bool is_mangled(std::string_view symbol) {
  return (symbol.starts_with("_Z") || symbol.starts_with("_R")) && symbol.size() <= kLongestMangled;
}

struct Answer {
  std::array<char, kLongestAnswer> text;
  std::size_t length;
  std::jmp_buf enough;
};

/// Receives libiberty's text. Nothing but a jump stops libiberty when there is enough; it holds nothing that
/// would have to be freed.
void take(const char* text, std::size_t length, void* opaque) {
  Answer& answer = *static_cast<Answer*>(opaque);
  const std::size_t kept = std::min(length, answer.text.size() - answer.length);
  std::memcpy(answer.text.data() + answer.length, text, kept);
  answer.length += kept;
  if (answer.length == answer.text.size()) {
    std::longjmp(answer.enough, 1);  // NOLINT(*-err52-cpp): jumps over C code only
  }
}

/// Returns 0 if it is no mangled name. No frame that the jump leaves has objects to destroy.
std::size_t write_name(const char* mangled, Answer& answer) {
  answer.length = 0;
  if (setjmp(answer.enough) == 0) {  // NOLINT(*-err52-cpp)
    // A legacy Rust name is also a C++ name whose last part is a hash.
    if (rust_demangle_callback(mangled, DMGL_PARAMS, &take, &answer) == 0) {
      answer.length = 0;
      if (cplus_demangle_v3_callback(mangled, DMGL_PARAMS, &take, &answer) == 0) {
        answer.length = 0;
      }
    }
  }
  return answer.length;
}

}  // namespace

Demangled demangle(const std::vector<std::string>& symbols) {
  Demangled result;
  std::vector<std::pair<std::size_t, std::string>> mangled;  // their places and names
  for (const std::string& symbol : symbols) {
    const std::string_view name = without_version(symbol);
    if (is_mangled(name)) {
      mangled.emplace_back(result.names.size(), name);
    }
    result.names.push_back(cut(name));
  }
  if (mangled.empty()) {
    return result;
  }
  ConfinedBatch batch;
  batch.items = mangled.size();
  batch.confinement.cpu_time = std::chrono::seconds(1);
  Answer answer{};
  batch.answer = [&mangled, &answer](std::size_t index) {
    return std::string(answer.text.data(), write_name(mangled[index].second.c_str(), answer));
  };
  const ConfinedAnswers answers = answer_confined(batch);
  for (std::size_t i = 0; i < mangled.size(); ++i) {
    if (answers.answers[i] && !answers.answers[i]->empty()) {
      result.names[mangled[i].first] = cut(*answers.answers[i]);
    }
  }
  result.given_up = answers.given_up || answers.lost >= batch.most_lost;
  return result;
}

}  // namespace offwait
