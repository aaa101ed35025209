#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lithe/viz/live/internal/server_events.h"

namespace lithe::internal {

struct ViewServerOptions {
  int port = 0;            // 0: any that is free
  std::string token = {};  // empty: a random one; else at least 16 letters, digits, '-' or '_'
};

// Serves the viewer's page, and sockets for what is live, on 127.0.0.1 (docs/live.md). It runs in a thread of its own;
// what it is given to send waits for nobody: a client that reads slowly misses frames.
class ViewServer {
 public:
  // A port that is taken is an Error. Without events there are no sockets: the page is all there is.
  ViewServer(const ViewServerOptions& options, std::string page);
  ViewServer(const ViewServerOptions& options, std::string page, ServerEvents events);
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

}  // namespace lithe::internal
