// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mean, standard deviation and covariances of a certified law as intervals (U.1 - U.3). They are sharp: every
// end is attained by a law within the W2 bound, up to rounding. Joint laws: coordinates of the stacked
// vector.
#pragma once

#include <vector>

#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/certified_line.h"
#include "mixcert/answer/interval.h"

namespace mixcert {

Interval certified_mean(const CertifiedLine& line);
/// Of y + e with independent e of standard deviation `noise`, sharper than that of line.with_noise(noise)
/// (U.8).
Interval certified_deviation(const CertifiedLine& line, double noise = 0.0);

struct MomentAnswers {
  std::vector<Interval> means;
  std::vector<Interval> deviations;
};

/// Of every output.
MomentAnswers certified_moments(const CertifiedLaw& law);

/// Entry (i, j) of the three matrices belongs together.
struct CovarianceAnswers {
  Matrix estimate;
  Matrix lower;
  Matrix upper;

  [[nodiscard]] Interval entry(Index i, Index j) const { return {estimate(i, j), lower(i, j), upper(i, j)}; }
};

/// Covariances of the chosen outputs, in their order. Throws InvalidArgument where an index is out of range.
CovarianceAnswers certified_covariances(const CertifiedLaw& law, const std::vector<Index>& outputs);
/// Of all outputs: three matrices of dimension x dimension.
CovarianceAnswers certified_covariances(const CertifiedLaw& law);

}  // namespace mixcert
