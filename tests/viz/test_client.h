#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/json_value.h"
#include "tests/viz/frame_reader.h"

namespace lithe::test {

// For everything that must happen in the end, on whatever machine. No test waits so long for what goes well.
inline constexpr double kPatience = 60;  // s

// Of "http://127.0.0.1:PORT/?token=TOKEN"; anything else fails the test.
struct ViewAddress {
  int port = 0;
  std::string token;
};
ViewAddress parse_address(const std::string& address);

// How a client differs from a browser that came by the address. Empty texts stand for a browser's.
struct ClientOptions {
  std::string token = {}, host = {}, origin = {};
  bool no_origin = false;
  int receive_buffer = 0;  // bytes that the system keeps for it; 0: the system's choice
};

// A viewer: one WebSocket, with all that came through it. It reads only while it waits; what arrives in between stays
// with the system, as with a browser that hangs.
class TestClient {
 public:
  explicit TestClient(const std::string& address, const ClientOptions& options = {});
  ~TestClient();
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  int status() const;  // of the handshake: 101, or what it was refused with
  bool open() const;
  int close_code() const;  // 0: none came
  std::string close_reason() const;

  // Returns false if the other side is gone, or takes nothing for a long time.
  bool send(const std::string& text);
  bool send_binary(const std::string& bytes);

  // Reads until `done`, or the patience is over (which fails no test), or the socket is closed; returns done().
  bool wait(const std::function<bool()>& done, double seconds = kPatience);
  bool wait_until_closed(double seconds = kPatience);
  // Pulls the plug: the other side gets a reset.
  void vanish();

  // What came, in order.
  std::vector<std::string> kinds;  // "scene", "values", "error", "frame"
  std::vector<JsonValue> scenes, values;
  std::vector<std::string> errors;
  std::vector<ReadFrame> frames;
  std::size_t bytes = 0;
  std::size_t keep_frames = 100'000;  // the last ones

  const ReadFrame& frame() const;  // the last; fails the test if there is none
  const JsonValue& scene() const;
  const JsonValue& value() const;
  // Sends, and waits for an error; returns its text.
  std::string refusal(const std::string& command);

 private:
  void take(const std::string& message, bool binary);

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// A connection without any manners.
class RawConnection {
 public:
  explicit RawConnection(int port);
  ~RawConnection();
  RawConnection(RawConnection&&) noexcept;

  bool send(const std::string& bytes);
  // All that comes until the other side closes, or the patience is over.
  std::string read_all(double seconds = kPatience);
  bool closed() const;  // by the other side, as read_all() found

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// The whole answer to a request; `head` is everything before the empty line.
std::string http_answer(int port, const std::string& head);
int http_status(const std::string& answer);
// GET with a browser's Host.
std::string http_get(int port, const std::string& target);

// Polls; returns whether it became true before the patience was over.
bool eventually(const std::function<bool()>& condition, double seconds = kPatience);

}  // namespace lithe::test
