// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The bound at one input taken apart, docs/theory/explain.md.
#include "mixcert/certify/explain.h"

#include <cmath>
#include <optional>
#include <utility>

#include "certify/certifier.h"
#include "mixcert/core/error.h"
#include "network/ordinary_scale.h"

namespace mixcert {
namespace {

/// (X.4): the squares of the members' bounds average to that of the ensemble.
std::vector<double> member_contributions(const std::vector<Result>& results, const Vector& weights) {
  double sum = 0.0;
  std::vector<double> amounts;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double bound = results[i].w2.value;
    amounts.push_back(weights(static_cast<Index>(i)) * bound * bound);
    sum += amounts.back();
  }
  for (double& amount : amounts) amount = sum > 0.0 ? amount / std::sqrt(sum) : 0.0;
  return amounts;
}

}  // namespace

Explanation explain(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                    const Services& services) {
  options.validate();
  const std::optional<Ensemble> rescaled = with_ordinary_sizes(ensemble);
  const Ensemble& ordinary = rescaled ? *rescaled : ensemble;
  require(options.method != Method::Cross, "explain: method cross has no bound to explain");
  check_inputs(ordinary.member(0), inputs);
  require(options.joint || inputs.cols() == 1,
          "explain: expected one input, got " + std::to_string(inputs.cols()));
  const std::vector<Certifier> members = member_certifiers(ordinary, options, services);
  std::vector<Result> results;
  Explanation explanation;
  Certified largest;
  double largest_share = -1.0;
  for (Index i = 0; i < ordinary.size(); ++i) {
    Certified made = members[static_cast<std::size_t>(i)].certify(inputs, 0);
    results.push_back(made.result);
    const double share = ordinary.weights()(i) * made.result.w2.value * made.result.w2.value;
    if (!(share > largest_share)) continue;
    largest_share = share;
    explanation.member = i;
    largest = std::move(made);
  }
  explanation.members = member_contributions(results, ordinary.weights());
  explanation.contributions = members[static_cast<std::size_t>(explanation.member)].explain(largest);
  explanation.member_result = std::move(largest.result);
  explanation.result = ordinary.size() == 1
                           ? explanation.member_result
                           : combine_results(std::move(results), ordinary.weights(), options);
  return explanation;
}

}  // namespace mixcert
