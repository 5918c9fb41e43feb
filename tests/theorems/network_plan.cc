// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/network_plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "quantize/split_rule.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace {

DenseLayer planned_layer(const LayerPlan& plan, const std::string& name, Index out, Index in,
                         Generator& generator) {
  Matrix mean = plan.weight * random_matrix(generator, out, in);
  const Vector bias = 0.3 * random_matrix(generator, out, 1);
  if (plan.same_rows) mean.rowwise() = mean.row(0).eval();
  WeightCovariance weights;
  const Matrix variance = Matrix::Constant(out, in, plan.variance);
  if (plan.family == Family::Independent) weights = MeanFieldWeights{variance, plan.law};
  if (plan.family == Family::LowRank)
    weights = LowRankWeights{variance, {0.1 * random_matrix(generator, out, in)}};
  return DenseLayer(name, mean, bias, weights, IndependentBias{Vector::Constant(out, plan.bias_variance)});
}

}  // namespace

Network Plan::network() const {
  Generator generator = make_generator(4, Stream::Example, 91);
  std::vector<DenseLayer> made;
  std::vector<ActivationMap> activations{ActivationMap()};
  std::vector<Mask> masks(layers.size());
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const Index in = k == 0 ? 1 : width, out = k + 1 < layers.size() ? width : outputs;
    made.push_back(planned_layer(layers[k], "layer" + std::to_string(k), out, in, generator));
    if (k > 0) activations.emplace_back(Activation(function));
  }
  if (masked > 0) masks[static_cast<std::size_t>(masked)] = mask;
  return Network(std::move(made), std::move(activations), std::move(masks));
}

MomentChoices split(const GaussianMixture& mixture, Index count) {
  MomentChoices choices;
  if (count == 1) return choices;
  const auto& rules = split_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [&](const SplitRule& r) { return r.size() >= count; });
  for (Index i = 0; i < mixture.size(); ++i) {
    const Matrix covariance = mixture.component(i).covariance.to_dense();
    // A hair short of what there is, so that rounding leaves the rest semidefinite.
    const Vector direction = (1.0 - 1e-9) * covariance.col(0) / std::sqrt(covariance(0, 0));
    choices.splits.push_back({SplitDirection{direction, &*rule}});
  }
  return choices;
}

}  // namespace mixcert::testing
