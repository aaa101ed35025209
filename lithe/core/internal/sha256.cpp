#include "lithe/core/internal/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lithe::internal {
namespace {

constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha256::take_block(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w;
  for (int t = 0; t < 16; ++t) {
    const std::uint8_t* word = block + 4 * t;
    w[t] = static_cast<std::uint32_t>(word[0]) << 24 | static_cast<std::uint32_t>(word[1]) << 16 |
           static_cast<std::uint32_t>(word[2]) << 8 | word[3];
  }
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t x = w[t - 15], y = w[t - 2];
    const std::uint32_t s0 = std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3);
    const std::uint32_t s1 = std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + sum1 + choice + kRoundConstants[t] + w[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    const std::uint32_t t2 = sum0 + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (int k = 0; k < 8; ++k) state_[k] += add[k];
}

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  const std::size_t begun = count_ % 64;
  count_ += left;
  if (begun > 0) {
    const std::size_t taken = std::min(left, 64 - begun);
    std::copy_n(data, taken, rest_.begin() + static_cast<std::ptrdiff_t>(begun));
    data += taken;
    left -= taken;
    if (begun + taken < 64) return *this;
    take_block(rest_.data());
  }
  for (; left >= 64; data += 64, left -= 64) take_block(data);
  std::copy_n(data, left, rest_.begin());
  return *this;
}

// The message is followed by a bit 1, zeros, and its length in bits.
Sha256::Digest Sha256::digest() const {
  Sha256 padded = *this;
  const std::size_t begun = count_ % 64, zeros = (begun < 56 ? 56 : 120) - begun;
  std::array<std::uint8_t, 72> padding = {0x80};
  for (int k = 0; k < 8; ++k) padding[zeros + k] = static_cast<std::uint8_t>(count_ * 8 >> (56 - 8 * k));
  padded.add(std::as_bytes(std::span(padding).first(zeros + 8)));
  Digest digest;
  for (int k = 0; k < 32; ++k) digest[k] = static_cast<std::uint8_t>(padded.state_[k / 4] >> (24 - 8 * (k % 4)));
  return digest;
}

std::string hexadecimal(const Sha256::Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace lithe::internal
