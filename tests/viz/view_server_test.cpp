#include "lithe/viz/live/internal/view_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <set>

#include "tests/support/clock.h"
#include "tests/support/error_text.h"
#include "tests/viz/test_client.h"

namespace lithe::test {

using namespace internal;
namespace {

const std::string kServedPage = "<html>the page</html>";
const std::string kServerToken = "a-token_of-letters-0123";

// A server whose sockets count, and complain about everything but "good".
struct Counting {
  std::mutex mutex;
  std::set<int> open;
  int opened = 0, closed = 0, heard = 0;

  ServerEvents events() {
    return {.opened =
                [this](int client) {
                  const std::lock_guard lock(mutex);
                  ++opened;
                  open.insert(client);
                },
            .message = [this](int, std::string_view message) -> std::optional<std::string> {
              const std::lock_guard lock(mutex);
              ++heard;
              if (message == "good") return std::nullopt;
              return "bad: " + std::string(message.substr(0, 20));
            },
            .closed =
                [this](int client) {
                  const std::lock_guard lock(mutex);
                  ++closed;
                  EXPECT_EQ(open.erase(client), 1u);
                }};
  }
  int count(int Counting::* number) {
    const std::lock_guard lock(mutex);
    return this->*number;
  }
};

std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

std::string scene_text(int number) { return fmt::format(R"({{"type":"scene","number":{}}})", number); }

// Bytes that a ReadFrame takes, of at least this size.
std::string frame_bytes(std::uint32_t number, std::size_t size) {
  const auto bodies = static_cast<std::uint32_t>(size / 28);
  std::vector<std::uint32_t> words(18 + std::size_t{7} * bodies, 0);
  words[0] = 0x3146494c;
  words[3] = number;
  words[10] = bodies;
  return {reinterpret_cast<const char*>(words.data()), 4 * words.size()};
}

TEST(ViewServer, GivesThePage) {
  const ViewServer server({.token = kServerToken}, kServedPage);
  const ViewAddress where = parse_address(server.address());
  EXPECT_EQ(where.token, kServerToken);
  const std::string answer = http_get(where.port, "/?token=" + kServerToken);
  EXPECT_EQ(http_status(answer), 200);
  EXPECT_EQ(body_of(answer), kServedPage);
  for (const char* header : {"Content-Type: text/html", "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
                             "Referrer-Policy: no-referrer", "Content-Security-Policy: default-src 'none'",
                             "Content-Length: 21", "Connection: close"}) {
    EXPECT_NE(answer.find(header), std::string::npos) << header << " is not in\n" << answer;
  }
  EXPECT_EQ(answer.find("Access-Control"), std::string::npos);
}

TEST(ViewServer, RefusesWithAStatus) {
  Counting counting;
  const ViewServer server({.token = kServerToken}, kServedPage, counting.events());
  const int port = parse_address(server.address()).port;
  const auto get = [&](const std::string& target) { return http_status(http_get(port, target)); };
  const std::string host = fmt::format("Host: 127.0.0.1:{}", port);
  EXPECT_EQ(get("/"), 403);
  EXPECT_EQ(get("/?token=" + kServerToken.substr(1)), 403);
  EXPECT_EQ(get("/live"), 403);
  EXPECT_EQ(get("/favicon.ico?token=" + kServerToken), 404);
  EXPECT_EQ(get("/../../etc/passwd?token=" + kServerToken), 404);
  EXPECT_EQ(get("/live?token=" + kServerToken), 403);  // no Origin
  EXPECT_EQ(
      http_status(http_answer(port, fmt::format("GET /live?token={} HTTP/1.1\r\n{}\r\nOrigin: http://127.0.0.1:{}",
                                                kServerToken, host, port))),
      426);
  for (const char* method : {"POST", "HEAD", "OPTIONS", "PUT", "DELETE", "BREW"}) {
    const std::string answer =
        http_answer(port, fmt::format("{} /?token={} HTTP/1.1\r\n{}", method, kServerToken, host));
    EXPECT_EQ(http_status(answer), 405) << method;
    EXPECT_NE(answer.find("Allow: GET"), std::string::npos) << method;
  }
  EXPECT_EQ(http_status(http_answer(port, "GET /?token=" + kServerToken + " HTTP/1.1\r\nHost: example.org")), 403);
  EXPECT_EQ(http_status(http_answer(port, "GET /?token=" + kServerToken + " HTTP/1.1")), 403);
  EXPECT_EQ(http_status(http_answer(port, fmt::format("GET /?token={} HTTP/1.0\r\n{}", kServerToken, host))), 200);
  EXPECT_EQ(counting.count(&Counting::opened), 0);
}

TEST(ViewServer, ClosesWhatItCannotReadWithoutAnAnswer) {
  const ViewServer server({.token = kServerToken}, kServedPage);
  const int port = parse_address(server.address()).port;
  const std::string start = fmt::format("GET /?token={} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", kServerToken, port);
  for (const std::string& request : {std::string("garbage\r\n\r\n"), start + "Content-Length: 5\r\n\r\nhello",
                                     start + "X: " + std::string(9000, 'x') + "\r\n\r\n", start + "X\r\n\r\n"}) {
    RawConnection connection(port);
    connection.send(request);
    EXPECT_EQ(connection.read_all(5), "");
    EXPECT_TRUE(connection.closed()) << request.substr(0, 100);
  }
}

TEST(ViewServer, SaysWhatIsWrong) {
  const ViewServer server({}, kServedPage);
  const std::string answer = http_get(parse_address(server.address()).port, "/");
  EXPECT_NE(body_of(answer).find("Open the address that Lithe printed, as a whole."), std::string::npos) << answer;
}

TEST(ViewServer, WithoutEventsHasNoSockets) {
  const ViewServer server({}, kServedPage);
  EXPECT_EQ(TestClient(server.address()).status(), 404);
}

TEST(ViewServer, RefusesHandshakesOfStrangers) {
  Counting counting;
  const ViewServer server({.token = kServerToken}, kServedPage, counting.events());
  const std::string address = server.address();
  const int port = parse_address(address).port;
  const auto status = [&](const ClientOptions& options) { return TestClient(address, options).status(); };
  EXPECT_EQ(status({.token = "wrong"}), 403);
  EXPECT_EQ(status({.token = kServerToken.substr(0, kServerToken.size() - 1)}), 403);
  EXPECT_EQ(status({.origin = "http://example.org"}), 403);
  EXPECT_EQ(status({.origin = "null"}), 403);
  EXPECT_EQ(status({.origin = "http://127.0.0.1:1"}), 403);
  EXPECT_EQ(status({.no_origin = true}), 403);
  EXPECT_EQ(status({.host = "example.org"}), 403);
  EXPECT_EQ(status({.host = fmt::format("127.0.0.1.example.org:{}", port)}), 403);
  EXPECT_EQ(counting.count(&Counting::opened), 0);
  EXPECT_EQ(status({}), 101);
  const std::string by_name = fmt::format("localhost:{}", port);
  EXPECT_EQ(status({.host = by_name, .origin = "http://" + by_name}), 101);
  EXPECT_TRUE(eventually([&] { return counting.count(&Counting::closed) == 2; }));
}

TEST(ViewServer, TellsWhatIsAskedOfThePortAndTheToken) {
  const ViewServer first({}, kServedPage);
  const int port = parse_address(first.address()).port;
  expect_error([&] { ViewServer second({.port = port}, kServedPage); }, fmt::format("port {} cannot be used", port),
               "port 0 takes any that is free");
  EXPECT_EQ(http_status(http_get(port, "/")), 403);  // the first one is still there
  expect_error([&] { ViewServer none({.port = -1}, kServedPage); }, "there is no port -1");
  expect_error([&] { ViewServer none({.port = 65536}, kServedPage); }, "there is no port 65536");
  for (const std::string token : {"short", "0123456789abcde", "0123456789abcdef&", "0123456789 abcdef",
                                  "0123456789abcdef\n", "0123456789abcdefé"}) {
    expect_error([&] { ViewServer none({.token = token}, kServedPage); }, "at least 16 letters");
  }
  EXPECT_NE(parse_address(first.address()).token, parse_address(ViewServer({}, kServedPage).address()).token);
}

TEST(ViewServer, APortIsFreeAgainAfterwards) {
  int port = 0;
  {
    Counting counting;
    const ViewServer server({}, kServedPage, counting.events());
    port = parse_address(server.address()).port;
    TestClient client(server.address());
    EXPECT_EQ(client.status(), 101);
  }
  const ViewServer server({.port = port}, kServedPage);
  EXPECT_EQ(parse_address(server.address()).port, port);
}

TEST(ViewServer, ClosesMessagesThatAreTooLarge) {
  Counting counting;
  const ViewServer server({}, kServedPage, counting.events());
  TestClient client(server.address());
  EXPECT_TRUE(client.send(std::string(4096, 'x')));
  EXPECT_TRUE(client.wait([&] { return !client.errors.empty(); }));
  client.send(std::string(4097, 'x'));
  EXPECT_TRUE(client.wait_until_closed());
  EXPECT_EQ(client.close_code(), 1009);
  EXPECT_EQ(counting.count(&Counting::heard), 1);
  EXPECT_TRUE(eventually([&] { return counting.count(&Counting::closed) == 1; }));
}

TEST(ViewServer, ClosesWhoSendsBytes) {
  Counting counting;
  const ViewServer server({}, kServedPage, counting.events());
  TestClient client(server.address());
  client.send_binary("good");
  EXPECT_TRUE(client.wait_until_closed());
  EXPECT_EQ(client.close_code(), 1003);
  EXPECT_EQ(client.close_reason(), "commands are text");
  EXPECT_EQ(counting.count(&Counting::heard), 0);
}

TEST(ViewServer, ClosesTextThatIsNoUtf8) {
  Counting counting;
  const ViewServer server({}, kServedPage, counting.events());
  TestClient client(server.address());
  client.send("\xff\xfe");
  EXPECT_TRUE(client.wait_until_closed());
  EXPECT_EQ(client.close_code(), 1007);
  EXPECT_EQ(counting.count(&Counting::heard), 0);
}

TEST(ViewServer, ClosesWhoSendsTooMuchAtOnce) {
  Counting counting;
  const ViewServer server({}, kServedPage, counting.events());
  TestClient client(server.address()), other(server.address());
  const Stopwatch watch;
  int sent = 0;
  while (client.send("good") && watch.seconds() < kPatience) ++sent;
  EXPECT_TRUE(client.wait_until_closed());
  EXPECT_EQ(client.close_code(), 1008);
  EXPECT_EQ(client.close_reason(), "too many messages per second");
  EXPECT_GE(counting.count(&Counting::heard), 400);
  EXPECT_LE(counting.count(&Counting::heard), 401 + 200 * watch.seconds());
  EXPECT_TRUE(other.send("hello"));
  EXPECT_TRUE(other.wait([&] { return !other.errors.empty(); }));
}

TEST(ViewServer, ClosesWhoMakesAHundredMistakes) {
  Counting counting;
  const ViewServer server({}, kServedPage, counting.events());
  TestClient client(server.address());
  for (int i = 0; i < 99; ++i) EXPECT_TRUE(client.send("what?"));
  EXPECT_TRUE(client.send("good"));
  EXPECT_TRUE(eventually([&] { return counting.count(&Counting::heard) == 100; }));
  EXPECT_TRUE(client.open());
  client.send("what?");
  EXPECT_TRUE(client.wait_until_closed());
  EXPECT_EQ(client.close_code(), 1008);
  EXPECT_EQ(client.close_reason(), "too many bad commands");
  EXPECT_GE(client.errors.size(), 1u);
}

TEST(ViewServer, HasRoomForSixtyFourViewers) {
  Counting counting;
  const ViewServer server({}, kServedPage, counting.events());
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<TestClient>(server.address()));
    ASSERT_EQ(clients.back()->status(), 101) << i;
  }
  EXPECT_EQ(TestClient(server.address()).status(), 503);
  const ViewAddress where = parse_address(server.address());
  EXPECT_EQ(http_status(http_get(where.port, "/?token=" + where.token)), 200);
  clients.pop_back();
  EXPECT_TRUE(eventually([&] { return TestClient(server.address()).status() == 101; }));
}

TEST(ViewServer, SendsToOneAndToAll) {
  Counting counting;
  ViewServer server({}, kServedPage, counting.events());
  TestClient first(server.address()), second(server.address());
  ASSERT_TRUE(eventually([&] { return counting.count(&Counting::opened) == 2; }));
  const int client = *counting.open.begin();
  server.send_frame_to_all(frame_bytes(1, 100));  // before the scene: for nobody
  server.send_scene(client, scene_text(1));
  server.send_error(client, R"({"type":"error","message":"to one"})");
  server.send_scene_to_all(scene_text(2));
  server.send_values_to_all(R"({"type":"values"})");
  server.send_error_to_all(R"({"type":"error","message":"to all"})");
  server.send_frame_to_all(frame_bytes(2, 100));
  server.send_scene(12345, scene_text(3));  // for nobody
  for (TestClient* each : {&first, &second}) {
    EXPECT_TRUE(each->wait([&] { return !each->frames.empty() && !each->errors.empty() && !each->values.empty(); }));
    EXPECT_EQ(each->kinds.front(), "scene");
    EXPECT_EQ(each->scene()["number"].number, 2);
    EXPECT_EQ(each->frames.size(), 1u);
    EXPECT_EQ(each->frame().frame, 2u);
    EXPECT_EQ(each->errors.back(), "to all");
  }
  EXPECT_EQ(first.errors.size() + second.errors.size(), 3u);
}

// What the one client is not reading is dropped, not kept: when it reads again it gets what the system had for it, then
// the latest.
TEST(ViewServer, KeepsNothingForAClientThatDoesNotRead) {
  Counting counting;
  ViewServer server({}, kServedPage, counting.events());
  TestClient reader(server.address()), sleeper(server.address(), {.receive_buffer = 4096});
  ASSERT_TRUE(eventually([&] { return counting.count(&Counting::opened) == 2; }));
  server.send_scene_to_all(scene_text(1));
  constexpr std::uint32_t kFrames = 300;
  constexpr std::size_t kSize = 100'000;
  reader.keep_frames = sleeper.keep_frames = 4;
  for (std::uint32_t i = 1; i <= kFrames; ++i) {
    server.send_frame_to_all(frame_bytes(i, kSize));
    // One after the other, so that the reader misses none.
    ASSERT_TRUE(reader.wait([&] { return !reader.frames.empty() && reader.frame().frame == i; })) << i;
  }
  EXPECT_GT(reader.bytes, kFrames * kSize * 9 / 10);
  ASSERT_TRUE(sleeper.wait([&] { return !sleeper.frames.empty() && sleeper.frame().frame == kFrames; }));
  EXPECT_LT(sleeper.bytes, std::size_t{8} << 20);
  EXPECT_EQ(sleeper.kinds.front(), "scene");
}

TEST(ViewServer, GarbageAndHalfRequestsHinderNobody) {
  Counting counting;
  const ViewServer server({}, kServedPage, counting.events());
  const ViewAddress where = parse_address(server.address());
  std::mt19937_64 random(1);
  std::vector<RawConnection> silent;
  for (int i = 0; i < 100; ++i) {  // they stay, and say nothing or half of something
    silent.emplace_back(where.port);
    const char* starts[] = {"", "G", "GET / HT", "GET / HTTP/1.1\r\nHost: 127.0.0.1",
                            "GET /live?token=x HTTP/1.1\r\nUpgrade"};
    silent.back().send(starts[i % 5]);
  }
  for (int i = 0; i < 60; ++i) {
    RawConnection wild(where.port);
    std::string bytes(1 + random() % 5000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (i % 3 == 1) bytes = "GET /" + bytes + "\r\n\r\n";
    if (i % 3 == 2) bytes = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n";
    wild.send(bytes);
  }
  EXPECT_EQ(http_status(http_get(where.port, "/?token=" + where.token)), 200);
  TestClient client(server.address());
  EXPECT_EQ(client.status(), 101);
  EXPECT_EQ(client.refusal("hello"), "bad: hello");
}

TEST(ViewServer, LetsGoOfWhoSaysOnlyHalf) {
  const ViewServer server({}, kServedPage);
  const ViewAddress where = parse_address(server.address());
  RawConnection silent(where.port), half(where.port);
  half.send("GET / HTTP/1.1\r\nHost:");
  const Stopwatch watch;
  EXPECT_EQ(silent.read_all(2 * kPatience), "");
  EXPECT_EQ(half.read_all(kPatience), "");
  EXPECT_TRUE(silent.closed() && half.closed());
  EXPECT_GT(watch.seconds(), 5);
}

TEST(ViewServer, EndsAtOnceWhoeverIsThere) {
  Counting counting;
  auto server = std::make_unique<ViewServer>(ViewServerOptions{}, kServedPage, counting.events());
  const std::string address = server->address();
  const ViewAddress where = parse_address(address);
  TestClient client(address), sleeper(address, {.receive_buffer = 4096});
  RawConnection half(where.port);
  half.send("GET /");
  ASSERT_TRUE(eventually([&] { return counting.count(&Counting::opened) == 2; }));
  server->send_scene_to_all(scene_text(1));
  for (std::uint32_t i = 0; i < 50; ++i) server->send_frame_to_all(frame_bytes(i, 1'000'000));
  const Stopwatch watch;
  server.reset();
  EXPECT_LT(watch.seconds(), 8);  // half a request may take ten
  EXPECT_TRUE(client.wait_until_closed());
}

}  // namespace
}  // namespace lithe::test
