#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lithe {

struct ViewServerOptions {
  int port = 0;            // 0: any that is free
  std::string token = {};  // empty: a random one; else at least 16 letters, digits, '-' or '_'
};

// Serves the viewer's page, and sockets for what is live, on 127.0.0.1 (docs/live.md). It runs in a thread of its own;
// what it is given to send waits for nobody: a client that reads slowly misses frames.
class ViewServer {
 public:
  // What happens on sockets; called by the server's thread, so they must return soon.
  struct Events {
    std::function<void(int client)> opened;
    std::function<std::optional<std::string>(int client, std::string_view message)> message;  // returns a complaint
    std::function<void(int client)> closed;
  };

  // A port that is taken is an Error. Without events there are no sockets: the page is all there is.
  ViewServer(const ViewServerOptions& options, std::string page);
  ViewServer(const ViewServerOptions& options, std::string page, Events events);
  ~ViewServer();
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  // What to open in a browser.
  std::string address() const;

  // From any thread. A client that has left is no error.
  void send_scene(int client, std::string text);
  void send_error(int client, std::string text);
  void send_scene_to_all(std::string text);
  void send_error_to_all(std::string text);
  void send_values_to_all(std::string text);
  void send_frame_to_all(std::string bytes);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lithe
