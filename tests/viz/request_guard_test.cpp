#include "lithe/viz/live/internal/request_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace lithe::test {

using namespace internal;
namespace {

const std::string kGuardToken = "0123456789abcdef0123456789abcdef";

WebGuard guard() { return {.port = 4711, .token = kGuardToken}; }

WebRequest page_request(std::string_view target) {
  return {.method = "GET", .target = target, .host = "127.0.0.1:4711", .origin = ""};
}

const std::string kPageTarget = "/?token=" + kGuardToken, kLiveTarget = "/live?token=" + kGuardToken;

WebRequest socket_request() {
  return {.method = "GET",
          .target = kLiveTarget,
          .host = "127.0.0.1:4711",
          .origin = "http://127.0.0.1:4711",
          .upgrade = true};
}

WebAnswer target(std::string_view text) { return guard().judge(page_request(text)); }

TEST(WebGuard, GivesThePageToWhoKnowsTheToken) {
  EXPECT_EQ(target(kPageTarget), WebAnswer::page);
  EXPECT_EQ(target("/?theme=dark&token=" + kGuardToken + "&x"), WebAnswer::page);
  WebRequest by_name = page_request(kPageTarget);
  by_name.host = "localhost:4711";
  EXPECT_EQ(guard().judge(by_name), WebAnswer::page);
  // A link from elsewhere that carries the token is as good as typing it.
  WebRequest from_elsewhere = page_request(kPageTarget);
  from_elsewhere.origin = "http://example.org";
  EXPECT_EQ(guard().judge(from_elsewhere), WebAnswer::page);
}

TEST(WebGuard, RefusesEveryOtherToken) {
  for (const std::string wrong : {"/", "/?", "/?token", "/?token=", "/?x=1", "/?tokens=", "/?Token=", "/?xtoken=",
                                  "/?token=x", "/?&&&", "/?=", "/?token==", "/live", "/live?token="}) {
    EXPECT_EQ(target(wrong), WebAnswer::wrong_token) << wrong;
  }
  const auto with = [&](const std::string& token) { return target("/?token=" + token); };
  for (std::size_t length = 0; length < kGuardToken.size(); ++length) {
    EXPECT_EQ(with(kGuardToken.substr(0, length)), WebAnswer::wrong_token) << "the first " << length;
    EXPECT_EQ(with(kGuardToken.substr(kGuardToken.size() - length)), WebAnswer::wrong_token) << "the last " << length;
    std::string other = kGuardToken;
    other[length] = 'z';
    EXPECT_EQ(with(other), WebAnswer::wrong_token) << other;
  }
  EXPECT_EQ(with(kGuardToken + "0"), WebAnswer::wrong_token);
  EXPECT_EQ(with(kGuardToken + kGuardToken), WebAnswer::wrong_token);
  EXPECT_EQ(with(kGuardToken + "#"), WebAnswer::wrong_token);
  EXPECT_EQ(with(kGuardToken + "?"), WebAnswer::wrong_token);
  EXPECT_EQ(with(" " + kGuardToken), WebAnswer::wrong_token);
  EXPECT_EQ(target("/?Token=" + kGuardToken), WebAnswer::wrong_token);
  // The first one counts.
  EXPECT_EQ(target("/?token=x&token=" + kGuardToken), WebAnswer::wrong_token);
}

TEST(WebGuard, AnswersToItsOwnHostAlone) {
  for (const std::string_view host : {"",
                                      "127.0.0.1",
                                      "localhost",
                                      "127.0.0.1:4712",
                                      "127.0.0.1:47110",
                                      "localhost:4712",
                                      "example.org",
                                      "example.org:4711",
                                      "127.0.0.1.example.org:4711",
                                      "127.0.0.1:4711.example.org",
                                      "localhost:4711@example.org",
                                      "127.0.0.2:4711",
                                      "0.0.0.0:4711",
                                      "[::1]:4711",
                                      " 127.0.0.1:4711",
                                      "127.0.0.1:4711 ",
                                      "/127.0.0.1:4711",
                                      "http://127.0.0.1:4711",
                                      "127.1:4711",
                                      "2130706433:4711"}) {
    WebRequest request = page_request(kPageTarget);
    request.host = host;
    EXPECT_EQ(guard().judge(request), WebAnswer::wrong_host) << host;
    WebRequest socket = socket_request();
    socket.host = host;
    EXPECT_EQ(guard().judge(socket), WebAnswer::wrong_host) << host;
  }
}

TEST(WebGuard, OpensSocketsForItsOwnPageAlone) {
  EXPECT_EQ(guard().judge(socket_request()), WebAnswer::socket);
  WebRequest request = socket_request();
  request.origin = "http://localhost:4711";
  EXPECT_EQ(guard().judge(request), WebAnswer::socket);
  for (const std::string_view origin :
       {"", "null", "http://127.0.0.1", "http://127.0.0.1:4712", "https://127.0.0.1:4711", "127.0.0.1:4711",
        "http://example.org", "http://127.0.0.1:4711.example.org", "http://127.0.0.1:4711/",
        "http://example.org/http://127.0.0.1:4711", "file://"}) {
    request.origin = origin;
    EXPECT_EQ(guard().judge(request), WebAnswer::wrong_origin) << origin;
  }
  request = socket_request();
  request.upgrade = false;
  EXPECT_EQ(guard().judge(request), WebAnswer::no_upgrade);
  request.target = "/live?token=wrong";
  EXPECT_EQ(guard().judge(request), WebAnswer::wrong_token);
}

TEST(WebGuard, HasNoSocketsWhereNothingIsLive) {
  WebGuard still = guard();
  still.sockets = false;
  EXPECT_EQ(still.judge(socket_request()), WebAnswer::no_such_path);
  EXPECT_EQ(still.judge(page_request(kPageTarget)), WebAnswer::page);
}

TEST(WebGuard, KnowsTwoPaths) {
  for (const std::string path :
       {"", "//", "/live/", "/LIVE", "/lives", "/index.html", "/../", "/.", "/%6cive", "*", "?", "live",
        "http://127.0.0.1:4711/", "/live%3f", "/etc/passwd", "/favicon.ico", "/\x01", "/\xff"}) {
    EXPECT_EQ(target(path + "?token=" + kGuardToken), WebAnswer::no_such_path) << path;
  }
  EXPECT_EQ(target(""), WebAnswer::no_such_path);
  EXPECT_EQ(target(std::string("/\0?token=", 10) + kGuardToken), WebAnswer::no_such_path);
}

TEST(WebGuard, OnlyGets) {
  for (const std::string_view method :
       {"", "get", "GET ", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "CONNECT", "TRACE", "PATCH"}) {
    WebRequest request = page_request(kPageTarget);
    request.method = method;
    EXPECT_EQ(guard().judge(request), WebAnswer::wrong_method) << method;
    request = socket_request();
    request.method = method;
    EXPECT_EQ(guard().judge(request), WebAnswer::wrong_method) << method;
  }
}

TEST(WebGuard, TellsItsAddress) { EXPECT_EQ(guard().address(), "http://127.0.0.1:4711"); }

TEST(RandomToken, Has128BitsThatDifferEachTime) {
  std::set<std::string> tokens;
  std::set<char> digits;
  for (int i = 0; i < 100; ++i) {
    const std::string token = random_token();
    EXPECT_EQ(token.size(), 32u);
    EXPECT_TRUE(std::ranges::all_of(token, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }))
        << token;
    tokens.insert(token);
    digits.insert(token.begin(), token.end());
  }
  EXPECT_EQ(tokens.size(), 100u);
  EXPECT_EQ(digits.size(), 16u);
}

TEST(SameText, ComparesAsEqualityDoes) {
  const std::string all[] = {"",    "a", "b", "ab", "aa", "aaa", "abab", std::string(1, '\0'), std::string("a\0", 2),
                             "\xff"};
  for (const std::string& a : all) {
    for (const std::string& b : all) EXPECT_EQ(same_text(a, b), a == b) << a << " and " << b;
  }
}

}  // namespace
}  // namespace lithe::test
