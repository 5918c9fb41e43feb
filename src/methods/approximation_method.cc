// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the methods share.
#include "methods/approximation_method.h"

#include <cmath>
#include <limits>
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert {

void ApproximationMethod::certify_each(ConstMatrixRef inputs,
                                       const std::function<void(Index, Certified&&)>& sink) const {
  for (Index i = 0; i < inputs.cols(); ++i) sink(i, certify(inputs.col(i)));
}

double ApproximationMethod::least_bound(const Certified& /*other*/) const { return 0.0; }

double Stopwatch::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void check_inputs(const Network& network, ConstMatrixRef inputs) {
  require(inputs.cols() > 0, "inputs: expected at least one, got none");
  require(inputs.rows() == network.inputs(), "inputs: the network takes " + std::to_string(network.inputs()) +
                                                 " features, got " + std::to_string(inputs.rows()));
  // The message is put together only for a bad entry: there may be a million good ones.
  for (Index i = 0; i < inputs.cols(); ++i) {
    for (Index f = 0; f < inputs.rows(); ++f) {
      if (std::isfinite(inputs(f, i))) continue;
      throw InvalidArgument("inputs: input " + std::to_string(i) + ", feature " + std::to_string(f) +
                            ": expected a finite number, got " + format_number(inputs(f, i)));
    }
  }
}

GaussianMixture input_major(const GaussianMixture& mixture, Index outputs, Index input_count) {
  std::vector<Index> order;
  for (Index d = 0; d < input_count; ++d) {
    for (Index neuron = 0; neuron < outputs; ++neuron) order.push_back(neuron * input_count + d);
  }
  return mixture.permuted(order);
}

double relative_to_mixture(double w2, const GaussianMixture& mixture) {
  const double scale = std::sqrt(mixture.second_moment());
  return scale > 0.0 ? w2 / scale : std::numeric_limits<double>::quiet_NaN();
}

void attach_certificate(const Certificate& certificate, const Options& options, Shortage shortage,
                        Result& result) {
  result.w2 = certificate.w2;
  result.w1 = certificate.w1;
  result.relative_w2 = relative_to_mixture(result.w2.value, result.mixture);
  if (!options.epsilon) {
    result.reason = "sizes as given";
    return;
  }
  const bool reached = result.w2.value <= *options.epsilon;
  result.termination = reached ? Termination::EpsilonReached : Termination::BudgetSpent;
  const std::string bound = format_number(result.w2.value);
  const std::string budget = std::to_string(options.max_components);
  if (reached) {
    result.reason = "the bound " + bound + " is at most epsilon";
  } else if (shortage == Shortage::Budget) {
    result.reason =
        "the bound " + bound + " is above epsilon with all " + budget + " components; raise --max-components";
  } else if (shortage == Shortage::Method) {
    result.reason = "the bound " + bound + " is above epsilon; more components than " +
                    std::to_string(result.mixture.size()) + " do not lower it by method " +
                    std::string(to_string(result.method));
  } else {
    result.reason = "the bound " + bound + " is above epsilon by rounding";
  }
}

}  // namespace mixcert
