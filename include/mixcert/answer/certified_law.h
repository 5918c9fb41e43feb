// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A law p that is known by a mixture q and by bounds of its distance to it: what all answers start from.
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/propagate/result.h"

namespace mixcert {

class CertifiedLaw {
 public:
  /// `w2` >= W2(p, q), `w1` >= W1(p, q); NaN: no bound, so that answers are what holds for every law.
  /// A w1 that is missing or above w2 is w2 (W1 <= W2). Throws InvalidArgument where a bound is negative.
  CertifiedLaw(GaussianMixture mixture, double w2, double w1);
  /// The law that a result certifies.
  explicit CertifiedLaw(const Result& result);

  [[nodiscard]] const GaussianMixture& mixture() const { return mixture_; }
  [[nodiscard]] Index dimension() const { return mixture_.dimension(); }
  [[nodiscard]] double w2() const { return w2_; }  ///< infinity where there is no bound
  [[nodiscard]] double w1() const { return w1_; }  ///< infinity where there is no bound

 private:
  GaussianMixture mixture_;
  double w2_;
  double w1_;
};

}  // namespace mixcert
