// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Expectations under the true law: of Lipschitz functions (U.11), of the softmax probabilities of classes
// (U.12) and of their differences (U.13), by which the predicted class is settled or not. Outputs of the law
// are logits. Expectations under the mixture are means over samples (U.10).
#pragma once

#include <functional>
#include <vector>

#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/interval.h"
#include "mixcert/answer/sampled_mean.h"

namespace mixcert {

/// E_p f for an f with Lipschitz constant `constant`, from the range that E_q f lies in (U.11).
Interval lipschitz_expectation(const CertifiedLaw& law, const Interval& mixture_value, double constant);

/// The same of a function with values in [low, high], E_q f by samples. `index` selects the random stream.
Interval lipschitz_expectation(const CertifiedLaw& law, const std::function<double(ConstVectorRef)>& function,
                               double low, double high, double constant, const IntegrationOptions& options,
                               std::uint64_t index = 0);

struct ClassAnswer {
  /// E_p softmax_c of every class.
  std::vector<Interval> probabilities;
  /// The class with the largest E_q softmax_c.
  Index predicted = 0;
  /// E_p softmax_predicted - E_p softmax_j; 0 at j = predicted.
  std::vector<Interval> margins;
  /// Is `predicted` proven to be the class with the largest E_p softmax_c?
  bool settled = false;
};

/// Two outputs or more. All intervals hold together but for options.failure_probability. `index` selects the
/// random stream: one per input.
ClassAnswer class_answer(const CertifiedLaw& law, const IntegrationOptions& options, std::uint64_t index = 0);

}  // namespace mixcert
