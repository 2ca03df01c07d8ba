// SIMD vectors by the compilers' vector extension: as wide as the instruction level of this translation unit allows.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace maxmargin::MAXMARGIN_LEVEL {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr int panel_rows = 12;  // of the register tile: panel_rows x (2 vectors) accumulators fit 32 registers
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
constexpr int panel_rows = 6;  // 16 registers
#else
constexpr int vector_bytes = 16;
constexpr int panel_rows = 6;
#endif

template <class T>
struct Simd;
template <>
struct Simd<float> {
  typedef float vec __attribute__((vector_size(vector_bytes)));
  typedef int32_t ivec __attribute__((vector_size(vector_bytes)));
};
template <>
struct Simd<double> {
  typedef double vec __attribute__((vector_size(vector_bytes)));
  typedef int64_t ivec __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Vec = typename Simd<T>::vec;
template <class T>
using IVec = typename Simd<T>::ivec;
template <class T>
constexpr int lanes = vector_bytes / int(sizeof(T));

template <class T>
inline Vec<T> load(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
inline void store(T* p, const Vec<T>& v) {
  std::memcpy(p, &v, sizeof v);
}
template <class T>
inline Vec<T> broadcast(T x) {
  return Vec<T>{} + x;
}

// exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln(2)/2, exp(r) by its Taylor polynomial: degree 13 leaves 4e-18, degree 7
// 5e-9. Below `least` the result is 0, above `most` infinity; NaN stays NaN.
template <class T>
struct Exp;
template <>
struct Exp<float> {
  static constexpr float least = -86.9f, most = 88.72f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float round = 12582912.f;  // 1.5 * 2^23: adding it leaves the integer in the low bits
  static constexpr int mantissa = 23, degree = 7;
};
template <>
struct Exp<double> {
  static constexpr double least = -707.7, most = 709.78, ln2_high = 0.693145751953125, ln2_low = 1.42860682030941723212e-6;
  static constexpr double round = 6755399441055744.;  // 1.5 * 2^52
  static constexpr int mantissa = 52, degree = 13;
};

template <class T>
inline Vec<T> vexp(Vec<T> x) {
  using C = Exp<T>;
  static constexpr T factorial[14] = {1.0, 1.0, 2.0, 6.0, 24.0, 120.0, 720.0, 5040.0, 40320.0, 362880.0, 3628800.0,
                                      39916800.0, 479001600.0, 6227020800.0};
  const Vec<T> least = broadcast<T>(C::least), most = broadcast<T>(C::most);
  Vec<T> y = x < least ? least : x;
  y = y > most ? most : y;
  const Vec<T> shifted = y * T(1.4426950408889634) + C::round;
  const Vec<T> k = shifted - C::round;
  const Vec<T> r = (y - k * C::ln2_high) - k * C::ln2_low;
  Vec<T> p = broadcast<T>(T(1) / factorial[C::degree]);
#pragma GCC unroll 16
  for (int i = C::degree - 1; i >= 0; --i) p = p * r + T(1) / factorial[i];
  IVec<T> bits, scaled;
  std::memcpy(&bits, &shifted, sizeof bits);
  std::memcpy(&scaled, &p, sizeof scaled);
  scaled += bits << C::mantissa;
  std::memcpy(&p, &scaled, sizeof p);
  p = x < least ? Vec<T>{} : p;
  p = x > most ? broadcast<T>(T(INFINITY)) : p;
  return x == x ? p : x;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
