// SIMD vectors by the compilers' vector extension: as wide as the instruction level of this translation unit allows.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

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

// Memory whose vectors do not straddle cache lines: a load that does costs twice.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(64)); }
  template <class U>
  bool operator==(const AlignedAllocator<U>&) const { return true; }
  template <class U>
  bool operator!=(const AlignedAllocator<U>&) const { return false; }
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
template <class T>
inline Vec<T> broadcast(T x) {
  return Vec<T>{} + x;
}

// exp2(t) = 2^k (1 + r q(r)), k = round(t), |r| <= 1/2; q is the polynomial that interpolates (2^r - 1) / r at Chebyshev points, so that
// exp2(0) is exactly 1. Below `least` the result is 0, above `most` infinity; NaN stays NaN. For exp(x), t = x log2(e) rounded leaves an
// error of |x| exp(x) half units in the last place of 1: for the kernels, values of at most 1, that is below the rounding of 1.
template <class T>
struct Exp2;
template <>
struct Exp2<float> {
  static constexpr float least = -125.f, most = 128.f, round = 12582912.f;  // 1.5 * 2^23: adding it leaves the integer in the low bits
  static constexpr int mantissa = 23, degree = 5;
  static constexpr float q[] = {0.69314718802622878106f,    0.24022650760568126945f,   0.055503571142190778186f,
                                0.0096180825572778514913f, 0.0013390863364671234381f, 0.00015453162945120690177f};
};
template <>
struct Exp2<double> {
  static constexpr double least = -1021., most = 1024., round = 6755399441055744.;  // 1.5 * 2^52
  static constexpr int mantissa = 52, degree = 10;
  static constexpr double q[] = {0.69314718055994530942,    0.2402265069591009822,      0.055504108664821594339,   0.0096181291076068885273,
                                 0.001333355814641693531,   0.00015403530441736050155,  1.5252733829836118394e-5,  1.3215442587921689653e-6,
                                 1.0178062445845773521e-7, 7.0725859492692236999e-9,   4.4549605981865183938e-10};
};
constexpr double log2_e = 1.4426950408889634074;

template <class T>
inline Vec<T> exp2_below(Vec<T> t) {  // for t < most
  using C = Exp2<T>;
  const Vec<T> least = broadcast<T>(C::least), clamped = t < least ? least : t;
  const Vec<T> shifted = clamped + C::round, r = clamped - (shifted - C::round);
  Vec<T> p = broadcast<T>(C::q[C::degree]);
#pragma GCC unroll 16
  for (int i = C::degree - 1; i >= 0; --i) p = p * r + C::q[i];
  p = p * r + T(1);
  IVec<T> bits, scaled;
  std::memcpy(&bits, &shifted, sizeof bits);
  std::memcpy(&scaled, &p, sizeof scaled);
  scaled += bits << C::mantissa;
  std::memcpy(&p, &scaled, sizeof p);
  return t < least ? Vec<T>{} : p;
}

template <class T>
inline Vec<T> exp2(Vec<T> t) {
  const Vec<T> most = broadcast<T>(Exp2<T>::most);
  const Vec<T> p = exp2_below<T>(t < most ? t : broadcast<T>(T(0)));
  return t < most ? p : t >= most ? broadcast<T>(T(INFINITY)) : t;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
