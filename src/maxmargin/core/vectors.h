// SIMD vectors by the compilers' vector extension: as wide as the instruction level of this
// translation unit allows.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace maxmargin::MAXMARGIN_LEVEL {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr int panel_rows = 12;  // of the register tile: 12 x 2 accumulators fit 32 registers
#elif defined(__AVX2__) || defined(__wasm_simd128__)
// WebAssembly has vectors of 16 bytes. Pairs of them are faster: half of 32 bytes, the floats of as
// many doubles, is one of them.
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

// Memory whose vectors do not straddle cache lines: a load that does costs twice.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(64)); }
  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
  template <class U>
  bool operator!=(const AlignedAllocator<U>&) const {
    return false;
  }
};
template <class T>
using Aligned = std::vector<T, AlignedAllocator<T>>;

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
// A vector of S from as many values of T.
template <class S, class T>
inline Vec<S> load_as(const T* p) {
  typedef T part __attribute__((vector_size(sizeof(T) * lanes<S>)));
  part v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, Vec<S>);
}
template <class T>
inline Vec<T> broadcast(T x) {
  return Vec<T>{} + x;
}

// 2^-s = 2^k (1 + r q(r)), k = round(-s), r = -s - k, |r| <= 1/2; q is the polynomial that
// interpolates (2^r - 1) / r at Chebyshev points, so that 2^0 is exactly 1. For exp(x), s = -x
// log2(e) rounded leaves an error of |x| exp(x) half units in the last place of 1: for the kernels,
// values of at most 1, that is below the rounding of 1. At s = `zero` the exponent's bits are 0 and
// so is the value, exactly; between `zero` - 1 and `zero`, where values have no exponent any more,
// it is wrong by less than the least normal number.
template <class T>
struct Exp2;
template <>
struct Exp2<float> {
  // round = 1.5 * 2^23: adding it leaves the integer in the low bits
  static constexpr float zero = 127.f, most = 128.f, round = 12582912.f;
  static constexpr int mantissa = 23, degree = 5;
  static constexpr float q[] = {0.69314718802622878106f,   0.24022650760568126945f,
                                0.055503571142190778186f,  0.0096180825572778514913f,
                                0.0013390863364671234381f, 0.00015453162945120690177f};
};
template <>
struct Exp2<double> {
  static constexpr double zero = 1023., most = 1024., round = 6755399441055744.;  // 1.5 * 2^52
  static constexpr int mantissa = 52, degree = 10;
  static constexpr double q[] = {
      0.69314718055994530942,   0.2402265069591009822,    0.055504108664821594339,
      0.0096181291076068885273, 0.001333355814641693531,  0.00015403530441736050155,
      1.5252733829836118394e-5, 1.3215442587921689653e-6, 1.0178062445845773521e-7,
      7.0725859492692236999e-9, 4.4549605981865183938e-10};
};
constexpr double log2_e = 1.4426950408889634074;

template <class T>
inline IVec<T> bits_of(const Vec<T>& v) {
  IVec<T> bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
template <class T>
inline Vec<T> of_bits(const IVec<T>& bits) {
  Vec<T> v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

// min(max(v, 0), most) for v that are not NaN; as integers, which order as floats >= 0 do:
// compilers have no float minimum without tests.
template <class T>
inline Vec<T> clamp(Vec<T> v, T most) {
  const IVec<T> zero = {}, end = bits_of<T>(broadcast<T>(most)), bits = bits_of<T>(v),
                positive = bits > zero ? bits : zero;
  return of_bits<T>(positive < end ? positive : end);
}

// min(v, most) for most > 0 and v that are not NaN.
template <class T>
inline Vec<T> at_most(Vec<T> v, T most) {
  const IVec<T> end = bits_of<T>(broadcast<T>(most)), bits = bits_of<T>(v);
  return of_bits<T>(bits < end ? bits : end);
}

template <class T>
inline Vec<T> half_to_the(Vec<T> s) {  // 2^-s for -most < s <= zero
  using C = Exp2<T>;
  const Vec<T> shifted = C::round - s, r = (C::round - shifted) - s;
  Vec<T> p = broadcast<T>(C::q[C::degree]);
#pragma GCC unroll 16
  for (int i = C::degree - 1; i >= 0; --i) p = p * r + C::q[i];
  p = p * r + T(1);
  return of_bits<T>(bits_of<T>(p) + (bits_of<T>(shifted) << C::mantissa));
}

#if defined(__AVX512F__)
// The same by a table: with m entries, n = round(-m s), r = -s - n / m, |r| <= 1 / (2 m),
//
//     2^-s = t (1 + r q(r)),  t = 2^(n / m)
//
// Entry i is 2^(i / m) as an integer, less i << shift: adding n << shift, n = m k + i, adds k to
// the exponent and takes i back. q errs by 0.9 half units in the last place of 1 in float32, by
// less than a tenth of one in float64. Two registers hold a table, and one instruction looks it up.
template <class T>
struct Exp2Table;
template <>
struct Exp2Table<float> {
  static constexpr float round = 393216.f;  // 1.5 * 2^18
  static constexpr int shift = 18, degree = 1;
  static constexpr float q[] = {0.69315734371048420837f, 0.2402282680963039041f};
  alignas(64) static constexpr int32_t entries[] = {
      0x3f800000, 0x3f7ecd87, 0x3f7daac3, 0x3f7c980f, 0x3f7b95c2, 0x3f7aa43a, 0x3f79c3d3,
      0x3f78f4f0, 0x3f7837f0, 0x3f778d3a, 0x3f76f532, 0x3f767043, 0x3f75fed7, 0x3f75a15b,
      0x3f75583f, 0x3f7523f6, 0x3f7504f3, 0x3f74fbaf, 0x3f7508a4, 0x3f752c4d, 0x3f75672a,
      0x3f75b9be, 0x3f76248c, 0x3f76a81e, 0x3f7744fd, 0x3f77fbb8, 0x3f78ccdf, 0x3f79b907,
      0x3f7ac0c7, 0x3f7be4ba, 0x3f7d257d, 0x3f7e83b3};
};
template <>
struct Exp2Table<double> {
  static constexpr double round = 422212465065984.;  // 1.5 * 2^48
  static constexpr int shift = 48, degree = 5;
  static constexpr double q[] = {0.69314718055994684054,   0.24022650695910086061,
                                 0.055504108652093570031,  0.00961812910652568194,
                                 0.0013333818815389239087, 0.00015403756245457709715};
  alignas(64) static constexpr int64_t entries[] = {
      0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
      0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429,
      0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
      0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da};
};
inline IVec<float> look_up(const int32_t* entries, const IVec<float>& i) {
  return IVec<float>(_mm512_permutex2var_epi32(_mm512_load_si512(entries), __m512i(i),
                                               _mm512_load_si512(entries + lanes<float>)));
}
inline IVec<double> look_up(const int64_t* entries, const IVec<double>& i) {
  return IVec<double>(_mm512_permutex2var_epi64(_mm512_load_si512(entries), __m512i(i),
                                                _mm512_load_si512(entries + lanes<double>)));
}

// s = 2^-s, side by side: one exponential alone waits for its own steps.
template <class T, int N>
inline void halves_to_the(Vec<T> (&s)[N]) {
  using C = Exp2Table<T>;
  Vec<T> t[N], r[N], p[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    const Vec<T> shifted = C::round - s[i];
    const IVec<T> n = bits_of<T>(shifted);
    t[i] = of_bits<T>(look_up(C::entries, n) + (n << C::shift));
    r[i] = (C::round - shifted) - s[i];
    p[i] = broadcast<T>(C::q[C::degree]);
  }
#pragma GCC unroll 8
  for (int k = C::degree - 1; k >= 0; --k)
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) p[i] = p[i] * r[i] + C::q[k];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) s[i] = t[i] * (p[i] * r[i]) + t[i];
}
#else
template <class T, int N>
inline void halves_to_the(Vec<T> (&s)[N]) {
  for (int i = 0; i < N; ++i) s[i] = half_to_the<T>(s[i]);
}
#endif

// 2^t for any t: infinity from `most` on; NaN stays NaN.
template <class T>
inline Vec<T> exp2(Vec<T> t) {
  const Vec<T> most = broadcast<T>(Exp2<T>::most), least = broadcast<T>(-Exp2<T>::zero);
  const Vec<T> p = half_to_the<T>(t < most ? (t < least ? -least : -t) : broadcast<T>(T(0)));
  return t < most ? p : t >= most ? broadcast<T>(T(INFINITY)) : t;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
