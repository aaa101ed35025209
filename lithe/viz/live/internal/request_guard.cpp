#include "lithe/viz/live/internal/request_guard.h"

#include <fmt/format.h>

#include <random>

namespace lithe::internal {

namespace {

// The value of ?name=…&…; tokens need no escapes.
std::string_view query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  return {};
}

}  // namespace

std::string WebGuard::address() const { return fmt::format("http://127.0.0.1:{}", port); }

// The host comes first: a foreign name that points at this machine learns nothing, not even which paths there are.
WebAnswer WebGuard::judge(const WebRequest& request) const {
  constexpr std::string_view kScheme = "http://";
  const std::string by_number = address(), by_name = fmt::format("http://localhost:{}", port);
  const auto ours = [&](std::string_view origin) { return origin == by_number || origin == by_name; };
  if (!ours(std::string(kScheme).append(request.host))) return WebAnswer::wrong_host;
  if (request.method != "GET") return WebAnswer::wrong_method;
  const std::size_t mark = request.target.find('?');
  const std::string_view path = request.target.substr(0, mark);
  const std::string_view query = mark == std::string_view::npos ? "" : request.target.substr(mark + 1);
  const bool socket = sockets && path == "/live";
  if (!socket && path != "/") return WebAnswer::no_such_path;
  if (!same_text(query_value(query, "token"), token)) return WebAnswer::wrong_token;
  if (!socket) return WebAnswer::page;
  if (!ours(request.origin)) return WebAnswer::wrong_origin;
  return request.upgrade ? WebAnswer::socket : WebAnswer::no_upgrade;
}

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

// Goes through all of it, whatever it finds, so that the time an answer takes tells nobody how much of a token was
// right.
bool same_text(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && !b.empty(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i % b.size()]);
  }
  return difference == 0;
}

}  // namespace lithe::internal
