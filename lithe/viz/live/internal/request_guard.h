#pragma once

#include <string>
#include <string_view>

namespace lithe::internal {

// Who may come in. Any page of any site can make a browser send requests to 127.0.0.1, so an address that was handed out
// is not enough: the token shows that the visitor was told it, Host that no foreign name was pointed at this machine,
// and Origin that the page that opens a socket is ours.

// The parts of a request that are judged. They are views into the request, which has to outlive them.
struct WebRequest {
  std::string_view method, target, host, origin;
  bool upgrade = false;  // to a WebSocket
};

// What a request is answered with: the page, a socket, or the reason why neither.
enum class WebAnswer { page, socket, no_such_path, wrong_method, wrong_host, wrong_token, wrong_origin, no_upgrade };

struct WebGuard {
  int port = 0;
  std::string token;
  bool sockets = true;  // whether there is anything live

  WebAnswer judge(const WebRequest& request) const;
  // Origins of this server: what a browser calls pages that it got from here.
  std::string address() const;  // http://127.0.0.1:PORT
};

// 128 bits that nobody guesses, as 32 hexadecimal digits.
std::string random_token();

// Takes the same time wherever the texts differ.
bool same_text(std::string_view a, std::string_view b);

}  // namespace lithe::internal
