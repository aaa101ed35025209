#include "tests/viz/test_client.h"

#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/support/clock.h"

namespace lithe::test {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
namespace net = boost::asio;
using net::ip::tcp;

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Runs what was started until it is done, at most so long.
bool run_until(net::io_context& context, const std::function<bool()>& done, double seconds) {
  const Clock::time_point end = in(seconds);
  while (!done()) {
    context.restart();
    if (Clock::now() >= end || context.run_one_until(end) == 0) break;
  }
  return done();
}

tcp::socket connected(net::io_context& context, int port, int receive_buffer) {
  tcp::socket socket(context, tcp::v4());
  // Before connecting: that decides on the window.
  if (receive_buffer > 0) socket.set_option(net::socket_base::receive_buffer_size(receive_buffer));
  beast::error_code error;
  socket.connect({net::ip::address_v4::loopback(), static_cast<unsigned short>(port)}, error);
  EXPECT_FALSE(error) << "port " << port << ": " << error.message();
  return socket;
}

void reset_connection(tcp::socket& socket) {
  beast::error_code ignored;
  socket.set_option(net::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace

ViewAddress parse_address(const std::string& address) {
  const std::string start = "http://127.0.0.1:", middle = "/?token=";
  const std::size_t place = address.find(middle);
  if (!address.starts_with(start) || place == std::string::npos) {
    ADD_FAILURE() << "no address: " << address;
    return {};
  }
  return {std::stoi(address.substr(start.size(), place - start.size())), address.substr(place + middle.size())};
}

class TestClient::Implementation {
 public:
  using Take = std::function<void(const std::string& message, bool binary)>;

  Implementation(const std::string& address, const ClientOptions& options, Take take)
      : take_(std::move(take)), socket_(context_) {
    const ViewAddress where = parse_address(address);
    beast::get_lowest_layer(socket_).socket() = connected(context_, where.port, options.receive_buffer);
    const std::string here = "127.0.0.1:" + std::to_string(where.port);
    const std::string origin = options.origin.empty() ? "http://" + here : options.origin;
    socket_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
      if (!options.no_origin) request.set(beast::http::field::origin, origin);
    }));
    socket_.read_message_max(std::size_t{1} << 30);
    websocket::response_type response;
    bool done = false;
    socket_.async_handshake(response, options.host.empty() ? here : options.host,
                            "/live?token=" + (options.token.empty() ? where.token : options.token),
                            [&](beast::error_code error) {
                              done = true;
                              open_ = !error;
                            });
    run_until(context_, [&] { return done; }, kPatience);
    EXPECT_TRUE(done) << "no answer to the handshake";
    status_ = static_cast<int>(response.result_int());
    if (open_) read_next();
  }

  ~Implementation() {
    beast::error_code ignored;
    beast::get_lowest_layer(socket_).socket().close(ignored);
    run_until(context_, [] { return false; }, 0);
  }

  bool send(const std::string& message, bool binary) {
    if (!open_) return false;
    bool done = false, good = false;
    socket_.binary(binary);
    socket_.async_write(net::buffer(message), [&](beast::error_code error, std::size_t) {
      done = true;
      good = !error;
    });
    run_until(context_, [&] { return done; }, kPatience);
    if (!done) {  // it is still on its way: nothing else can be sent
      vanish();
      run_until(context_, [&] { return done; }, kPatience);
    }
    return good;
  }

  bool wait(const std::function<bool()>& done, double seconds) {
    return run_until(context_, [&] { return done() || !open_; }, seconds) && done();
  }

  void vanish() {
    open_ = false;
    reset_connection(beast::get_lowest_layer(socket_).socket());
  }

  int status() const { return status_; }
  bool open() const { return open_; }
  websocket::close_reason reason() const { return socket_.reason(); }

 private:
  void read_next() {
    socket_.async_read(buffer_, [this](beast::error_code error, std::size_t) {
      if (error) {
        open_ = false;
        return;
      }
      const std::string message = beast::buffers_to_string(buffer_.data());
      buffer_.consume(buffer_.size());
      take_(message, socket_.got_binary());
      read_next();
    });
  }

  Take take_;
  net::io_context context_;
  websocket::stream<beast::tcp_stream> socket_;
  beast::flat_buffer buffer_;
  bool open_ = false;
  int status_ = 0;
};

TestClient::TestClient(const std::string& address, const ClientOptions& options)
    : implementation_(std::make_unique<Implementation>(
          address, options, [this](const std::string& message, bool binary) { take(message, binary); })) {}

TestClient::~TestClient() = default;

void TestClient::take(const std::string& message, bool binary) {
  bytes += message.size();
  if (binary) {
    kinds.push_back("frame");
    frames.push_back(read_frame(message));
    if (frames.size() > 2 * keep_frames) frames.erase(frames.begin(), frames.end() - static_cast<long>(keep_frames));
    return;
  }
  JsonValue json = parse_json(message);
  kinds.push_back(json["type"].text);
  if (kinds.back() == "scene") {
    scenes.push_back(std::move(json));
  } else if (kinds.back() == "values") {
    values.push_back(std::move(json));
  } else if (kinds.back() == "error") {
    errors.push_back(json["message"].text);
  } else {
    ADD_FAILURE() << "a message of an unknown kind: " << message.substr(0, 100);
  }
}

int TestClient::status() const { return implementation_->status(); }
bool TestClient::open() const { return implementation_->open(); }
int TestClient::close_code() const { return implementation_->reason().code; }
std::string TestClient::close_reason() const { return implementation_->reason().reason.c_str(); }
bool TestClient::send(const std::string& text) { return implementation_->send(text, false); }
bool TestClient::send_binary(const std::string& sent) { return implementation_->send(sent, true); }
bool TestClient::wait(const std::function<bool()>& done, double seconds) {
  return implementation_->wait(done, seconds);
}
bool TestClient::wait_until_closed(double seconds) {
  return wait([this] { return !open(); }, seconds);
}
void TestClient::vanish() { implementation_->vanish(); }

const ReadFrame& TestClient::frame() const {
  static const ReadFrame none;
  if (frames.empty()) ADD_FAILURE() << "no frame has come";
  return frames.empty() ? none : frames.back();
}

const JsonValue& TestClient::scene() const {
  static const JsonValue none;
  if (scenes.empty()) ADD_FAILURE() << "no scene has come";
  return scenes.empty() ? none : scenes.back();
}

const JsonValue& TestClient::value() const {
  static const JsonValue none;
  if (values.empty()) ADD_FAILURE() << "no values have come";
  return values.empty() ? none : values.back();
}

std::string TestClient::refusal(const std::string& command) {
  const std::size_t before = errors.size();
  EXPECT_TRUE(send(command));
  EXPECT_TRUE(wait([&] { return errors.size() > before; })) << "'" << command.substr(0, 60) << "' was not refused";
  return errors.size() > before ? errors.back() : "";
}

class RawConnection::Implementation {
 public:
  explicit Implementation(int port) : socket(connected(context, port, 0)) {}

  net::io_context context;
  tcp::socket socket;
  bool closed = false;
};

RawConnection::RawConnection(int port) : implementation_(std::make_unique<Implementation>(port)) {}
RawConnection::~RawConnection() = default;
RawConnection::RawConnection(RawConnection&&) noexcept = default;

bool RawConnection::send(const std::string& bytes) {
  bool done = false, good = false;
  net::async_write(implementation_->socket, net::buffer(bytes), [&](beast::error_code error, std::size_t) {
    done = true;
    good = !error;
  });
  run_until(implementation_->context, [&] { return done; }, kPatience);
  if (!done) {
    implementation_->socket.cancel();
    run_until(implementation_->context, [&] { return done; }, kPatience);
  }
  return good;
}

std::string RawConnection::read_all(double seconds) {
  std::string all;
  bool done = false, timed_out = false;
  net::async_read(implementation_->socket, net::dynamic_buffer(all),
                  [&](beast::error_code, std::size_t) { done = true; });
  if (!run_until(implementation_->context, [&] { return done; }, seconds)) {
    timed_out = true;
    implementation_->socket.cancel();
    run_until(implementation_->context, [&] { return done; }, kPatience);
  }
  implementation_->closed = !timed_out;
  return all;
}

bool RawConnection::closed() const { return implementation_->closed; }

std::string http_answer(int port, const std::string& head) {
  RawConnection connection(port);
  connection.send(head + "\r\n\r\n");
  return connection.read_all();
}

int http_status(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
}

std::string http_get(int port, const std::string& target) {
  return http_answer(port, "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port));
}

bool eventually(const std::function<bool()>& condition, double seconds) {
  const Stopwatch watch;
  while (!condition()) {
    if (watch.seconds() > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace lithe::test
