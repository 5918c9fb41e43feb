// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two step functions between which the quantile function of a law lies: docs/theory/simulation.md (F.9).
#pragma once

#include <vector>

#include "simulated/line/line_law.h"
#include "simulated/line/output_draws.h"

namespace mixcert {

/// lower(t) <= F^-(t) <= upper(t), F^- the quantile function, 0 < t < 1.
class QuantileBand {
 public:
  /// Of the draws' law, but for `failure`: order statistics and their levels.
  QuantileBand(const OutputDraws& draws, double failure);
  /// Of a mixture, from its distribution function at its nodes.
  explicit QuantileBand(const LineLaw& law);

  /// -infinity for t < first().
  [[nodiscard]] double lower(double t) const;
  /// Infinity for t > last().
  [[nodiscard]] double upper(double t) const;
  [[nodiscard]] double first() const { return rises_.front().level; }
  [[nodiscard]] double last() const { return ends_.back().level; }
  /// P(y < least()) <= first() and P(y > most()) <= 1 - last().
  [[nodiscard]] double least() const { return rises_.front().value; }
  [[nodiscard]] double most() const { return ends_.back().value; }

 private:
  struct Step {
    double level, value;
  };
  std::vector<Step> rises_;  ///< F^-(t) >= value for t >= level
  std::vector<Step> ends_;   ///< F^-(t) <= value for t <= level
};

}  // namespace mixcert
