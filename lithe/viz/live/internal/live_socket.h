#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <memory>

#include "lithe/viz/live/internal/rate_limit.h"
#include "lithe/viz/live/internal/send_queue.h"
#include "lithe/viz/live/internal/server_events.h"

namespace lithe::internal {

// One client's socket. All of it happens in the server's thread.
class LiveSocket : public std::enable_shared_from_this<LiveSocket> {
 public:
  using Request = boost::beast::http::request<boost::beast::http::empty_body>;

  // `gone` is called once, when nothing more will come from it.
  LiveSocket(boost::beast::tcp_stream&& stream, int client, const ServerEvents& events,
             std::function<void(int client)> gone);

  void accept(const Request& request);
  // Puts something into the send_queue and sees that it is sent.
  template <class Put>
  void send(Put put) {
    put(send_queue_);
    write_next();
  }
  void shut();  // at once

  static constexpr std::size_t kMostBytes = 4096;  // of a message
  static constexpr int kMostComplaints = 100;

 private:
  void read_next();
  void on_message();
  void refuse(boost::beast::websocket::close_code code, const char* reason);
  void write_next();
  void end();

  boost::beast::websocket::stream<boost::beast::tcp_stream> socket_;
  const int client_;
  const ServerEvents& events_;
  std::function<void(int)> gone_;
  boost::beast::flat_buffer buffer_;
  SendQueue send_queue_;
  SendQueue::Message writing_;
  // Whether it was accepted and has not ended, whether it is closing, and whether a message is on its way.
  bool open_ = false, closing_ = false, busy_ = false;
  RateLimit rate_ = {200, 400};
  int complaints_ = 0;
};

}  // namespace lithe::internal
