// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Where mixtures in many dimensions meet the line, and what rounding costs there (U.8).
#pragma once

#include "mixcert/answer/certified_law.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// At most this much below zero is an eigenvalue of a stored covariance; the law meant is that of its
/// positive part (docs/theory/rounding.md). Zero for a diagonal with a low-rank part.
double negative_part(const Covariance& covariance);

struct Projection {
  LineMixture line;
  double error = 0.0;  ///< no less than W2 between `line` and the exact law
};

/// The law of direction'y, in work that grows with the nonzero entries of the direction.
Projection project(const GaussianMixture& mixture, ConstVectorRef direction);

}  // namespace mixcert
