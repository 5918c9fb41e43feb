// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A statement as a polyhedron A = {y : rows y >= thresholds}, distances of points to it and to the complement
// of its interior, both rounded down, and the dual bound over samples that is made of them (U.6).
#pragma once

#include <limits>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/types.h"

namespace mixcert {

class Polyhedron {
 public:
  explicit Polyhedron(const Statement& statement);

  /// Of each point.
  struct Distances {
    Vector to_set;         ///< no more than d(y, A); exact for boxes and for classes, up to rounding
    Vector to_complement;  ///< no more than the distance to where a row fails; exact up to rounding
    Index inside = 0;      ///< how many fulfil all rows strictly
  };
  /// `points`: dimension x count. Distances to the set that are found to be at least `enough` are not sought
  /// any further.
  [[nodiscard]] Distances distances(ConstMatrixRef points,
                                    double enough = std::numeric_limits<double>::infinity()) const;

 private:
  Matrix rows_;        // of norm one
  Vector thresholds_;  // scaled alike
  Matrix gram_;        // rows rows'
  double threshold_size_ = 0.0;
};

// The dual bound integrated over samples of the mixture, for statements that have no closed form (U.6).

/// Both ends hold together but for options.failure_probability.
ProbabilityAnswer sampled_probability(const CertifiedLaw& law, const Statement& statement,
                                      const IntegrationOptions& options);

/// No less than W2 between `part`, outputs of `mixture`, and the law of its computed samples (U.6): the
/// entries of the part and the factor of its covariance are exact up to rounding, in trace norm, and so is
/// each sample.
double sampling_error(const GaussianMixture& mixture, const GaussianMixture& part);

}  // namespace mixcert
