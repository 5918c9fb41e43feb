// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A split as a map of samples: along each direction the monotone map from N(0,1) to the rule's mixture, then
// the piece drawn from its posterior (C.3).
#pragma once

#include <vector>

#include "methods/moment/moment_trace.h"
#include "statistics/gaussian_map.h"

namespace mixcert {

/// F^{-1}(Phi(x)) for the distribution function F of the rule's mixture.
double monotone_split(const SplitRule& rule, double x);
/// A component of the rule's mixture, drawn from its posterior given that the mixture took the value x.
Index draw_split_component(const SplitRule& rule, double x, Generator& generator);

class SplitMap {
 public:
  /// `splits` may be empty.
  SplitMap(const Gaussian& component, const std::vector<SplitDirection>& splits);

  [[nodiscard]] Index piece_count() const { return piece_count_; }
  /// Moves the columns of `samples`, which have the component's law, and returns their pieces, numbered as
  /// the moment method numbers them: the last direction's center counts fastest.
  std::vector<Index> apply(Matrix& samples, Generator& generator) const;

 private:
  std::vector<Whitening> whitening_;  ///< one; none without splits
  const std::vector<SplitDirection>& splits_;
  Matrix directions_;   ///< U, one column each
  Matrix regression_;   ///< (C^{+1/2} U)'
  Matrix rest_factor_;  ///< root of I - U' C^+ U
  Index piece_count_ = 1;
};

}  // namespace mixcert
