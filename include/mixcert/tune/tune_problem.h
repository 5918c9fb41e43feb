// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs, and the law that the network's outputs should have at any of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/gp/gaussian_process.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

struct TuneProblem {
  Matrix inputs;  ///< one column per input
  Index outputs = 1;
  /// Law of the outputs at the chosen inputs (columns), input-major.
  std::function<GaussianMixture(const std::vector<Index>& chosen)> target;
  std::string description;  ///< of the target, equal for equal targets

  [[nodiscard]] Matrix inputs_at(const std::vector<Index>& chosen) const;
};

/// Sixteen hexadecimal digits that differ where numbers do.
std::string fingerprint(ConstMatrixRef numbers);

/// `outputs` independent copies of a Gaussian process. Throws where the kernel does not fit the inputs.
TuneProblem process_problem(const GaussianProcess& process, Matrix inputs, Index outputs);

/// A mixture over `outputs` numbers at every input, input-major. Throws where sizes do not fit.
TuneProblem mixture_problem(GaussianMixture mixture, Matrix inputs, Index outputs);

}  // namespace mixcert
