// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Pieces are what is left of a component, moved along the directions (P.1); their rounding is (H.6).
#include "methods/moment/split_pieces.h"

#include <utility>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

Covariance piece_covariance(const Gaussian& component, const std::vector<SplitDirection>& splits) {
  if (component.covariance.is_diagonal()) {
    Vector variances = component.covariance.variances();
    for (const SplitDirection& split : splits) {
      const double kept = split.rule->width * split.rule->width;
      variances -= (1.0 - kept) * split.direction.cwiseAbs2();
    }
    return Covariance::diagonal(positive_part(variances));
  }
  Matrix rest = component.covariance.to_dense();
  // Raised so that what is left is positive semidefinite (H.6).
  rest.diagonal() *= 1.0 + 2.0 * split_slack(rest.rows());
  for (const SplitDirection& split : splits) {
    const double removed = 1.0 - split.rule->width * split.rule->width;
    rest -= removed * split.direction * split.direction.transpose();
  }
  return Covariance::dense(std::move(rest));
}

}  // namespace

GaussianMixture split_component(const Gaussian& component, const std::vector<SplitDirection>& splits) {
  const Covariance covariance = piece_covariance(component, splits);
  std::vector<Vector> means{component.mean};
  std::vector<double> weights{1.0};
  for (const SplitDirection& split : splits) {
    std::vector<Vector> next_means;
    std::vector<double> next_weights;
    for (std::size_t i = 0; i < means.size(); ++i) {
      for (Index c = 0; c < split.rule->size(); ++c) {
        next_means.emplace_back(means[i] + split.rule->centers(c) * split.direction);
        next_weights.push_back(weights[i] * split.rule->weights(c));
      }
    }
    means = std::move(next_means);
    weights = std::move(next_weights);
  }
  std::vector<Gaussian> pieces;
  pieces.reserve(means.size());
  for (Vector& mean : means) pieces.push_back({std::move(mean), covariance});
  const Eigen::Map<const Vector> all(weights.data(), static_cast<Index>(weights.size()));
  return {all / all.sum(), std::move(pieces)};
}

GaussianMixture split_components(const GaussianMixture& mixture,
                                 const std::vector<std::vector<SplitDirection>>& splits) {
  std::vector<Gaussian> pieces;
  std::vector<double> weights;
  for (Index j = 0; j < mixture.size(); ++j) {
    const GaussianMixture split = split_component(mixture.component(j), splits[static_cast<std::size_t>(j)]);
    for (Index i = 0; i < split.size(); ++i) {
      pieces.push_back(split.component(i));
      weights.push_back(mixture.weights()(j) * split.weights()(i));
    }
  }
  const Eigen::Map<const Vector> all(weights.data(), static_cast<Index>(weights.size()));
  return {all / all.sum(), std::move(pieces)};
}

}  // namespace mixcert
