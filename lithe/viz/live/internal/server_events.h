#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lithe::internal {

// What happens on sockets; called by the server's thread, so they must return soon.
struct ServerEvents {
  std::function<void(int client)> opened;
  std::function<std::optional<std::string>(int client, std::string_view message)> message;  // returns a complaint
  std::function<void(int client)> closed;
};

}  // namespace lithe::internal
