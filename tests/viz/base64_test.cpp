#include "lithe/viz/document/internal/base64.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/json_value.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(Base64, HasThePublishedValues) {  // RFC 4648, section 10
  EXPECT_EQ(base64(std::string_view("")), "");
  EXPECT_EQ(base64(std::string_view("f")), "Zg==");
  EXPECT_EQ(base64(std::string_view("fo")), "Zm8=");
  EXPECT_EQ(base64(std::string_view("foo")), "Zm9v");
  EXPECT_EQ(base64(std::string_view("foob")), "Zm9vYg==");
  EXPECT_EQ(base64(std::string_view("fooba")), "Zm9vYmE=");
  EXPECT_EQ(base64(std::string_view("foobar")), "Zm9vYmFy");
}

TEST(Base64, GivesBackEveryByteAtEveryLength) {
  std::string bytes;
  for (int i = 0; i < 600; ++i) {
    EXPECT_EQ(decode_base64(base64(std::string_view(bytes))), bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, PutsTheLowestByteFirst) {
  EXPECT_EQ(decode_base64(base64(std::vector<float>{1})), std::string("\0\0\x80\x3F", 4));
  EXPECT_EQ(decode_base64(base64(std::vector<std::uint32_t>{0x01020304})), "\x04\x03\x02\x01");
}

}  // namespace
}  // namespace lithe::test
