// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/document.h"

#include <fmt/format.h>

#include "base/escape.h"
#include "html/bundle.h"
#include "html/encode.h"

namespace offwait::html {

namespace {

/// Text that is no tag and no attribute.
std::string as_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string hash_of(std::string_view text) {
  const auto hash = sha256(text);
  return "'sha256-" + base64(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size())) + "'";
}

}  // namespace

std::string document_head(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src "
      "{}; "
      "base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>offwait: {}</title>\n<style>{}</style>\n</head>\n<body>\n",
      hash_of(script()), hash_of(style()), as_text(escape(title)), style());
}

std::string fallback(std::string_view text) {
  return fmt::format(
      "<div id=\"app\"><p>This page has a picture of the same, which needs JavaScript and a browser of 2023 "
      "or "
      "later.</p>\n<pre>{}</pre></div>\n",
      as_text(text));
}

std::string payload(std::string_view id, std::string_view bytes) {
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", id, base64(bytes));
}

std::string document_script() { return fmt::format("<script>{}</script>\n", script()); }

std::string document_end() { return "</body>\n</html>\n"; }

}  // namespace offwait::html
