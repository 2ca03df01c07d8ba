// A number that tells whether memory was changed. Eight words at a time: it costs as much as
// reading.
//
// A lane takes a word w as h <- (h ^ w) m with m odd, then h <- h ^ (h >> 32), which is one-to-one
// in h and in w: a changed word always changes its lane. Several changed words leave the number as
// it was with a probability of 2^-64.
#pragma once
#include <cstdint>
#include <cstring>

namespace maxmargin::MAXMARGIN_LEVEL {

inline uint64_t fingerprint(const unsigned char* bytes, size_t count) {
  constexpr uint64_t m = 0x9E3779B97F4A7C15u;
  constexpr size_t lanes = 8, block = lanes * sizeof(uint64_t);
  uint64_t h[lanes] = {1, 2, 3, 4, 5, 6, 7, 8}, word[lanes] = {};
  const auto take = [&] {
    for (size_t l = 0; l < lanes; ++l) {
      h[l] = (h[l] ^ word[l]) * m;
      h[l] ^= h[l] >> 32;
    }
  };
  size_t i = 0;
  for (; i + block <= count; i += block) std::memcpy(word, bytes + i, block), take();
  std::memset(word, 0, block);
  std::memcpy(word, bytes + i, count - i);
  take();
  uint64_t all = count;
  for (uint64_t part : h) all = (all ^ part) * m, all ^= all >> 32;
  return all;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
