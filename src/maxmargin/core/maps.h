// The scalar maps: raw value and the two points' squared norms -> kernel value. One struct a
// kernel; `with_map` chooses.
//
// `Op` says which raw value the map takes (raw.h); `bounded` that the value is finite wherever the
// norms are far from overflow.
#pragma once
#include "raw.h"
#include "types.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

template <class T>
struct Linear {
  using Op = Dot;
  static constexpr bool bounded = false;
  explicit Linear(const Kernel&) {}
  Vec<T> operator()(Vec<T> raw, T, Vec<T>) const { return raw; }
};
template <class T>
struct OfAffine {  // maps of gamma x.z + coef0
  using Op = Dot;
  static constexpr bool bounded = false;
  T gamma, coef0;
  explicit OfAffine(const Kernel& k) : gamma(T(k.gamma)), coef0(T(k.coef0)) {}
  Vec<T> affine(Vec<T> raw) const { return raw * gamma + coef0; }
};
template <class T>
struct Poly : OfAffine<T> {
  int degree;
  explicit Poly(const Kernel& k) : OfAffine<T>(k), degree(k.degree) {}
  Vec<T> operator()(Vec<T> raw, T, Vec<T>) const {
    Vec<T> base = this->affine(raw), result = broadcast<T>(T(1));
    for (int left = degree; left > 0; left >>= 1, base *= base)
      if (left & 1) result *= base;
    return result;
  }
};
template <class T>
struct Rbf {
  using Op = Dot;
  static constexpr bool bounded = true;
  T rate;
  explicit Rbf(const Kernel& k) : rate(T(k.gamma * log2_e)) {}
  Vec<T> operator()(Vec<T> raw, T norm_a, Vec<T> norm_b) const {
    const Vec<T> squared = (norm_b + norm_a) - T(2) * raw;
    return half_to_the<T>(clamp<T>(squared * rate, Exp2<T>::zero));
  }
};
template <class T>
struct Tanh : OfAffine<T> {
  using OfAffine<T>::OfAffine;
  Vec<T> operator()(Vec<T> raw, T, Vec<T>) const {
    Vec<T> value = this->affine(raw);
    for (int l = 0; l < lanes<T>; ++l) value[l] = std::tanh(value[l]);
    return value;
  }
};
template <class T>
struct Logistic : OfAffine<T> {
  using OfAffine<T>::OfAffine;
  Vec<T> operator()(Vec<T> raw, T, Vec<T>) const {
    return T(1) / (T(1) + exp2<T>(this->affine(raw) * T(-log2_e)));
  }
};
template <class T, class Distance>  // laplacian, chi2,
struct ExpOf {                      // and RBF where |x|^2 + |z|^2 - 2 x.z has too few digits
  using Op = Distance;
  static constexpr bool bounded = false;
  T rate;
  explicit ExpOf(const Kernel& k) : rate(T(-k.gamma * log2_e)) {}
  Vec<T> operator()(Vec<T> raw, T, Vec<T>) const { return exp2<T>(raw * rate); }
};

// use(map) with the map of the kernel
template <class T, class Use>
bool with_map(const Kernel& kernel, const Use& use) {
  switch (kernel.kind) {
    case Kind::linear: return use(Linear<T>(kernel));
    case Kind::poly: return use(Poly<T>(kernel));
    case Kind::rbf: return use(Rbf<T>(kernel));
    case Kind::tanh: return use(Tanh<T>(kernel));
    case Kind::logistic: return use(Logistic<T>(kernel));
    case Kind::laplacian: return use(ExpOf<T, AbsoluteDifference>(kernel));
    case Kind::chi2: return use(ExpOf<T, ChiSquared>(kernel));
    default: return use(ExpOf<T, SquaredDifference>(kernel));
  }
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
