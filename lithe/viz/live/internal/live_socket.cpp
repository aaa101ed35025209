#include "lithe/viz/live/internal/live_socket.h"

#include <boost/asio/buffer.hpp>

#include "lithe/viz/live/internal/live_messages.h"

namespace lithe::internal {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

LiveSocket::LiveSocket(beast::tcp_stream&& stream, int client, const ServerEvents& events,
                       std::function<void(int client)> gone)
    : socket_(std::move(stream)), client_(client), events_(events), gone_(std::move(gone)) {}

void LiveSocket::accept(const Request& request) {
  // Pings keep a quiet client; one that neither answers nor sends is given up.
  socket_.set_option(websocket::stream_base::timeout{.handshake_timeout = std::chrono::seconds(10),
                                                     .idle_timeout = std::chrono::seconds(30),
                                                     .keep_alive_pings = true});
  beast::get_lowest_layer(socket_).expires_never();  // the socket has timeouts of its own
  socket_.read_message_max(kMostBytes);
  socket_.auto_fragment(false);
  socket_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
    if (error) return self->end();
    self->open_ = true;
    self->events_.opened(self->client_);
    self->write_next();
    self->read_next();
  });
}

void LiveSocket::read_next() {
  socket_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return self->end();
    self->on_message();
  });
}

// Judges a message before anything is done with it: its kind, how many there have been, and whether it is a command.
// The next one is read only then.
void LiveSocket::on_message() {
  const boost::asio::const_buffer data = buffer_.data();
  const std::string message(static_cast<const char*>(data.data()), data.size());
  buffer_.consume(buffer_.size());
  if (!socket_.got_text()) return refuse(websocket::close_code::unknown_data, "commands are text");
  if (!rate_.allow(std::chrono::steady_clock::now())) {
    return refuse(websocket::close_code::policy_error, "too many messages per second");
  }
  if (const std::optional<std::string> complaint = events_.message(client_, message)) {
    if (++complaints_ >= kMostComplaints) return refuse(websocket::close_code::policy_error, "too many bad commands");
    send(
        [&](SendQueue& send_queue) { send_queue.put_error(std::make_shared<std::string>(error_message(*complaint))); });
  }
  read_next();
}

// Closes politely, with a reason that the browser can show. Nothing is read or sent after this.
void LiveSocket::refuse(websocket::close_code code, const char* reason) {
  closing_ = true;
  socket_.async_close({code, reason}, [self = shared_from_this()](beast::error_code) { self->end(); });
}

// One message is on its way at a time; when it has left, the queue decides what goes next.
void LiveSocket::write_next() {
  if (!open_ || closing_ || busy_) return;
  std::optional<SendQueue::Message> message = send_queue_.next();
  if (!message) return;
  writing_ = std::move(*message);
  busy_ = true;
  socket_.binary(writing_.binary);
  socket_.async_write(boost::asio::buffer(*writing_.bytes),
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        self->busy_ = false;
                        if (error) return self->end();
                        self->write_next();
                      });
}

void LiveSocket::shut() {
  closing_ = true;
  beast::get_lowest_layer(socket_).close();
}

// The end of the socket, whoever brought it about. Reading and writing may both fail; only the first of them is
// reported.
void LiveSocket::end() {
  const bool was_open = std::exchange(open_, false);
  closing_ = true;
  beast::get_lowest_layer(socket_).close();
  if (was_open) events_.closed(client_);
  if (gone_) std::exchange(gone_, nullptr)(client_);
}

}  // namespace lithe::internal
