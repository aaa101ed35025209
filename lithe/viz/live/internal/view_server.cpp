#include "lithe/viz/live/internal/view_server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <thread>

#include "lithe/core/check.h"
#include "lithe/viz/live/internal/live_socket.h"
#include "lithe/viz/live/internal/request_guard.h"

namespace lithe::internal {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace net = boost::asio;
using net::ip::tcp;
using std::chrono::milliseconds;

// Requests at a time, and sockets at a time: more than people need, and few enough to bound the memory that they take.
constexpr int kMostConnections = 256;
constexpr int kMostSockets = 64;
constexpr std::uint32_t kMostHeader = 8192;  // bytes
constexpr int kLeastToken = 16;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// How a request is refused: the status and a sentence that the browser shows.
struct Refusal {
  http::status status;
  const char* text;
};

// What a browser gets in place of the page, by what the guard found.
Refusal refusal_of(WebAnswer answer) {
  switch (answer) {
    case WebAnswer::wrong_host:
      return {http::status::forbidden, "This server answers to 127.0.0.1 and localhost alone."};
    case WebAnswer::wrong_method: return {http::status::method_not_allowed, "Only GET is answered."};
    case WebAnswer::wrong_token:
      return {http::status::forbidden,
              "The token is missing or wrong. Open the address that Lithe printed, as a whole."};
    case WebAnswer::wrong_origin: return {http::status::forbidden, "Only a page of this server may open its socket."};
    case WebAnswer::no_upgrade: return {http::status::upgrade_required, "This is a WebSocket."};
    default: return {http::status::not_found, "There is nothing here."};
  }
}

// What a page from here may do: run its own script and talk to this server. Notebooks of this machine may frame it.
std::string page_policy(int port) {
  return fmt::format(
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
      "connect-src 'self' ws://127.0.0.1:{0} ws://localhost:{0}; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'self' http://127.0.0.1:* http://localhost:*",
      port);
}

// The token that the caller chose, or a random one. It stands in an address, so it must need no escapes.
std::string checked_token(const std::string& token) {
  if (token.empty()) return random_token();
  const bool plain = std::ranges::all_of(token, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
  LITHE_CHECK(plain && token.size() >= kLeastToken,
              "a token must have at least {} letters, digits, '-' or '_', and nothing else", kLeastToken);
  return token;
}

}  // namespace

// The server. All but its construction and destruction happens in one thread, that of `context_`; other threads post to
// it.
class ViewServer::Implementation {
 public:
  Implementation(const ViewServerOptions& options, std::string page, ServerEvents events)
      : page_(std::make_shared<const std::string>(std::move(page))),
        events_(std::move(events)),
        acceptor_(context_),
        pause_(context_) {
    guard_.token = checked_token(options.token);
    guard_.sockets = events_.opened != nullptr;
    listen(options.port);
    accept_next();
    thread_ = std::thread([this] { run(); });
  }

  // Sockets are closed by the thread that they belong to, without waiting for what they still had to send.
  ~Implementation() {
    net::post(context_, [this] {
      acceptor_.close();
      for (const auto& [client, socket] : sockets_) socket->shut();
      context_.stop();
    });
    thread_.join();
  }

  const WebGuard& guard() const { return guard_; }

  template <class Put>
  void to_one(int client, Put put) {
    net::post(context_, [this, client, put = std::move(put)] {
      if (const auto found = sockets_.find(client); found != sockets_.end()) found->second->send(put);
    });
  }

  template <class Put>
  void to_all(Put put) {
    net::post(context_, [this, put = std::move(put)] {
      for (const auto& [client, socket] : sockets_) socket->send(put);
    });
  }

 private:
  // One request on a connection of its own: what it is answered with, or the socket that it becomes.
  class Visit : public std::enable_shared_from_this<Visit> {
   public:
    Visit(Implementation& server, tcp::socket&& socket) : server_(server), stream_(std::move(socket)) {
      ++server_.connections_;
    }
    ~Visit() { --server_.connections_; }

    void read() {
      parser_.header_limit(kMostHeader);
      parser_.body_limit(std::uint64_t{0});
      stream_.expires_after(std::chrono::seconds(10));
      http::async_read_header(stream_, buffer_, parser_,
                              [self = shared_from_this()](beast::error_code error, std::size_t) {
                                if (!error) self->answer();
                              });
    }

   private:
    // The request's header has arrived; it is answered, or becomes a socket.
    void answer() {
      const auto& request = parser_.get();
      const WebAnswer answer = server_.guard_.judge({.method = view(request.method_string()),
                                                     .target = view(request.target()),
                                                     .host = view(request[http::field::host]),
                                                     .origin = view(request[http::field::origin]),
                                                     .upgrade = beast::websocket::is_upgrade(request)});
      if (answer == WebAnswer::page) return send(http::status::ok, "text/html; charset=utf-8", server_.page_);
      if (answer == WebAnswer::socket && server_.sockets_.size() < kMostSockets) {
        return server_.open_socket(std::move(stream_), request);
      }
      const Refusal refusal = answer == WebAnswer::socket
                                  ? Refusal{http::status::service_unavailable, "Too many viewers."}
                                  : refusal_of(answer);
      send(refusal.status, "text/plain; charset=utf-8", std::make_shared<const std::string>(refusal.text));
    }

    void send(http::status status, const char* type, std::shared_ptr<const std::string> body) {
      body_ = std::move(body);
      response_.result(status);
      response_.set(http::field::content_type, type);
      response_.set(http::field::cache_control, "no-store");
      response_.set("X-Content-Type-Options", "nosniff");
      response_.set("Referrer-Policy", "no-referrer");
      response_.set("Content-Security-Policy", page_policy(server_.guard_.port));
      if (status == http::status::method_not_allowed) response_.set(http::field::allow, "GET");
      response_.keep_alive(false);
      response_.body() = {body_->data(), body_->size()};
      response_.prepare_payload();
      stream_.expires_after(std::chrono::seconds(60));
      http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code, std::size_t) {
        beast::error_code ignored;
        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      });
    }

    Implementation& server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request_parser<http::empty_body> parser_;
    std::shared_ptr<const std::string> body_;
    http::response<http::span_body<const char>> response_;
  };

  // Opens the port, on the loopback interface alone.
  void listen(int port) {
    LITHE_CHECK(port >= 0 && port <= 65535, "there is no port {}", port);
    const tcp::endpoint here(net::ip::address_v4::loopback(), static_cast<unsigned short>(port));
    beast::error_code error;
    acceptor_.open(here.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(here, error);
    if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
    LITHE_CHECK(!error, "port {} cannot be used ({}); port 0 takes any that is free", port, error.message());
    guard_.port = acceptor_.local_endpoint().port();
  }

  // Waits for the next connection. More of them than there may be at a time are closed at once.
  void accept_next() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!error && connections_ < kMostConnections) {
        beast::error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        // What the system holds for a client that reads slowly is old when it arrives.
        socket.set_option(net::socket_base::send_buffer_size(1 << 18), ignored);
        std::make_shared<Visit>(*this, std::move(socket))->read();
      }
      if (!error) return accept_next();
      // No more files, most likely: others have to leave first.
      pause_.expires_after(milliseconds(100));
      pause_.async_wait([this](beast::error_code stopped) {
        if (!stopped) accept_next();
      });
    });
  }

  template <class Request>
  void open_socket(beast::tcp_stream&& stream, const Request& request) {
    const int client = ++last_client_;
    const auto socket =
        std::make_shared<LiveSocket>(std::move(stream), client, events_, [this](int gone) { sockets_.erase(gone); });
    sockets_.emplace(client, socket);
    socket->accept(request);
  }

  // The server's thread. An exception comes from one client's handler; the others go on.
  void run() {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::exception&) {
        // Out of memory for one client, say; the others stay.
      }
    }
  }

  std::shared_ptr<const std::string> page_;
  ServerEvents events_;
  WebGuard guard_;
  int connections_ = 0, last_client_ = 0;
  net::io_context context_;
  tcp::acceptor acceptor_;
  net::steady_timer pause_;
  std::map<int, std::shared_ptr<LiveSocket>> sockets_;
  std::thread thread_;
};

ViewServer::ViewServer(const ViewServerOptions& options, std::string page)
    : ViewServer(options, std::move(page), ServerEvents{}) {}

ViewServer::ViewServer(const ViewServerOptions& options, std::string page, ServerEvents events)
    : implementation_(std::make_unique<Implementation>(options, std::move(page), std::move(events))) {}

ViewServer::~ViewServer() = default;

std::string ViewServer::address() const {
  const WebGuard& guard = implementation_->guard();
  return fmt::format("{}/?token={}", guard.address(), guard.token);
}

void ViewServer::send_scene(int client, std::string text) {
  implementation_->to_one(client, [bytes = std::make_shared<const std::string>(std::move(text))](
                                      SendQueue& send_queue) { send_queue.put_scene(bytes); });
}

void ViewServer::send_error(int client, std::string text) {
  implementation_->to_one(client, [bytes = std::make_shared<const std::string>(std::move(text))](
                                      SendQueue& send_queue) { send_queue.put_error(bytes); });
}

void ViewServer::send_scene_to_all(std::string text) {
  implementation_->to_all([bytes = std::make_shared<const std::string>(std::move(text))](SendQueue& send_queue) {
    send_queue.put_scene(bytes);
  });
}

void ViewServer::send_error_to_all(std::string text) {
  implementation_->to_all([bytes = std::make_shared<const std::string>(std::move(text))](SendQueue& send_queue) {
    send_queue.put_error(bytes);
  });
}

void ViewServer::send_values_to_all(std::string text) {
  implementation_->to_all([bytes = std::make_shared<const std::string>(std::move(text))](SendQueue& send_queue) {
    send_queue.put_values(bytes);
  });
}

void ViewServer::send_frame_to_all(std::string bytes_to_send) {
  implementation_->to_all([bytes = std::make_shared<const std::string>(std::move(bytes_to_send))](
                              SendQueue& send_queue) { send_queue.put_frame(bytes); });
}

}  // namespace lithe::internal
