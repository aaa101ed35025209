#include "lithe/view/request_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace lithe::test {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

WebGuard guard() { return {.port = 4711, .token = kToken}; }

WebRequest page_request(std::string_view target) {
  return {.method = "GET", .target = target, .host = "127.0.0.1:4711", .origin = ""};
}

const std::string kPage = "/?token=" + kToken, kLive = "/live?token=" + kToken;

WebRequest socket_request() {
  return {
      .method = "GET", .target = kLive, .host = "127.0.0.1:4711", .origin = "http://127.0.0.1:4711", .upgrade = true};
}

WebAnswer target(std::string_view text) { return guard().judge(page_request(text)); }

TEST(WebGuard, GivesThePageToWhoKnowsTheToken) {
  EXPECT_EQ(target(kPage), WebAnswer::page);
  EXPECT_EQ(target("/?theme=dark&token=" + kToken + "&x"), WebAnswer::page);
  WebRequest by_name = page_request(kPage);
  by_name.host = "localhost:4711";
  EXPECT_EQ(guard().judge(by_name), WebAnswer::page);
  // A link from elsewhere that carries the token is as good as typing it.
  WebRequest from_elsewhere = page_request(kPage);
  from_elsewhere.origin = "http://example.org";
  EXPECT_EQ(guard().judge(from_elsewhere), WebAnswer::page);
}

TEST(WebGuard, RefusesEveryOtherToken) {
  for (const std::string wrong : {"/", "/?", "/?token", "/?token=", "/?x=1", "/?tokens=", "/?Token=", "/?xtoken=",
                                  "/?token=x", "/?&&&", "/?=", "/?token==", "/live", "/live?token="}) {
    EXPECT_EQ(target(wrong), WebAnswer::wrong_token) << wrong;
  }
  const auto with = [&](const std::string& token) { return target("/?token=" + token); };
  for (std::size_t length = 0; length < kToken.size(); ++length) {
    EXPECT_EQ(with(kToken.substr(0, length)), WebAnswer::wrong_token) << "the first " << length;
    EXPECT_EQ(with(kToken.substr(kToken.size() - length)), WebAnswer::wrong_token) << "the last " << length;
    std::string other = kToken;
    other[length] = 'z';
    EXPECT_EQ(with(other), WebAnswer::wrong_token) << other;
  }
  EXPECT_EQ(with(kToken + "0"), WebAnswer::wrong_token);
  EXPECT_EQ(with(kToken + kToken), WebAnswer::wrong_token);
  EXPECT_EQ(with(kToken + "#"), WebAnswer::wrong_token);
  EXPECT_EQ(with(kToken + "?"), WebAnswer::wrong_token);
  EXPECT_EQ(with(" " + kToken), WebAnswer::wrong_token);
  EXPECT_EQ(target("/?Token=" + kToken), WebAnswer::wrong_token);
  // The first one counts.
  EXPECT_EQ(target("/?token=x&token=" + kToken), WebAnswer::wrong_token);
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
    WebRequest request = page_request(kPage);
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
  EXPECT_EQ(still.judge(page_request(kPage)), WebAnswer::page);
}

TEST(WebGuard, KnowsTwoPaths) {
  for (const std::string path :
       {"", "//", "/live/", "/LIVE", "/lives", "/index.html", "/../", "/.", "/%6cive", "*", "?", "live",
        "http://127.0.0.1:4711/", "/live%3f", "/etc/passwd", "/favicon.ico", "/\x01", "/\xff"}) {
    EXPECT_EQ(target(path + "?token=" + kToken), WebAnswer::no_such_path) << path;
  }
  EXPECT_EQ(target(""), WebAnswer::no_such_path);
  EXPECT_EQ(target(std::string("/\0?token=", 10) + kToken), WebAnswer::no_such_path);
}

TEST(WebGuard, OnlyGets) {
  for (const std::string_view method :
       {"", "get", "GET ", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "CONNECT", "TRACE", "PATCH"}) {
    WebRequest request = page_request(kPage);
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
