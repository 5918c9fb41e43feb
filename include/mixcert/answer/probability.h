// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Probabilities of a certified law as intervals (U.4 - U.6). All ends hold for the statement with "greater"
// and with "greater or equal": upper ends are those of the closed set, lower ends those of the open one.
#pragma once

#include <vector>

#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/certified_line.h"
#include "mixcert/answer/interval.h"
#include "mixcert/answer/sampled_mean.h"
#include "mixcert/answer/statement.h"

namespace mixcert {

struct ProbabilityAnswer {
  Interval interval{0.0, 0.0, 1.0};
  /// The ends hold but for this probability: zero unless they come from samples of the mixture.
  double failure_probability = 0.0;
  /// The smoothing widths behind the two ends; 0 where none was needed or none helped.
  double lower_width = 0.0;
  double upper_width = 0.0;
};

/// P(y > threshold), sharp (U.5).
ProbabilityAnswer probability_above(const CertifiedLine& line, double threshold);

/// P(lower < y < upper), sharp (U.5); either end may be infinite.
ProbabilityAnswer probability_between(const CertifiedLine& line, double lower, double upper);

/// P(statement). A half-space or a slab is answered in closed form; other statements by samples of the
/// mixture (U.6) together with what the single half-spaces say.
ProbabilityAnswer probability(const CertifiedLaw& law, const Statement& statement,
                              const IntegrationOptions& options = {});

struct MostLikelyClass {
  Index predicted = 0;   ///< the class with the largest estimate
  bool settled = false;  ///< its lower end exceeds the upper ends of all others
  /// Of each class: the probability that its output exceeds all others. All hold together but for
  /// the failure probability that each of them carries.
  std::vector<ProbabilityAnswer> probabilities;
};

/// Which of `classes` outputs from `first` on is most probably the largest.
MostLikelyClass most_likely_class(const CertifiedLaw& law, Index first, Index classes,
                                  const IntegrationOptions& options = {});

}  // namespace mixcert
