#include <fmt/format.h>

#include <array>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/viz/live/internal/request_guard.h"

// Bytes are a request: as it comes from the network (the first byte is odd), or as four lines, method, target, host and
// origin. Whoever is let in has said the whole token, to a host of ours, and from a page of ours where it opens a
// socket.
namespace lithe {

using namespace internal;
namespace {

namespace http = boost::beast::http;

constexpr std::string_view kToken = "0123456789abcdef";

void require(bool condition, std::string_view what) {
  if (condition) return;
  fmt::print(stderr, "fuzz_web_request: {}\n", what);
  std::abort();
}

const WebGuard& guard() {
  static const WebGuard guard = {.port = 4711, .token = std::string(kToken)};
  return guard;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool says_token(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return false;
  for (const std::string_view part : split(target.substr(mark + 1), '&')) {
    if (part == fmt::format("token={}", kToken)) return true;
  }
  return false;
}

void judge(const WebRequest& request) {
  const WebAnswer answer = guard().judge(request);
  require(answer == guard().judge(request), "two answers to one request");
  if (answer != WebAnswer::page && answer != WebAnswer::socket) return;
  require(request.method == "GET", "another method was answered");
  require(request.host == "127.0.0.1:4711" || request.host == "localhost:4711", "a foreign host was answered");
  require(says_token(request.target), "one without the token was let in");
  if (answer == WebAnswer::page) {
    require(request.target.starts_with("/?"), "the page was given for another path");
    return;
  }
  require(request.target.starts_with("/live?"), "the socket was given for another path");
  require(request.upgrade, "a socket without an upgrade");
  require(request.origin == "http://127.0.0.1:4711" || request.origin == "http://localhost:4711",
          "a foreign page was given the socket");
}

// With the limits of the server.
void judge_bytes(std::string_view bytes) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(8192);
  parser.body_limit(std::uint64_t{0});
  boost::beast::error_code error;
  while (!bytes.empty() && !parser.is_header_done()) {
    const std::size_t taken = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (error || taken == 0) return;
    bytes.remove_prefix(taken);
  }
  if (!parser.is_header_done()) return;
  const auto view = [](boost::beast::string_view text) { return std::string_view(text.data(), text.size()); };
  const auto& request = parser.get();
  judge({.method = view(request.method_string()),
         .target = view(request.target()),
         .host = view(request[http::field::host]),
         .origin = view(request[http::field::origin]),
         .upgrade = boost::beast::websocket::is_upgrade(request)});
}

void fuzz(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 1) return judge_bytes(bytes);
  std::vector<std::string_view> lines = split(bytes, '\n');
  lines.resize(4);
  judge({.method = lines[0],
         .target = lines[1],
         .host = lines[2],
         .origin = lines[3],
         .upgrade = static_cast<bool>(data[0] & 2)});
  require(same_text(lines[0], lines[1]) == (lines[0] == lines[1]), "texts were compared wrongly");
}

}  // namespace
}  // namespace lithe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lithe::fuzz(data, size);
  return 0;
}
