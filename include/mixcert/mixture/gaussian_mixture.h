// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Gaussian mixtures with structured covariances: moments, marginals, conditionals
// and log density. Sampling lives in simulate/.
#pragma once

#include <memory>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/mixture/covariance.h"

namespace mixcert {

struct Gaussian {
  Vector mean;
  Covariance covariance;

  [[nodiscard]] Index dimension() const { return mean.size(); }
};

class GaussianMixture {
 public:
  GaussianMixture() = default;
  /// Weights must be nonnegative and sum to one within 1e-9; components must agree
  /// in dimension. Throws InvalidArgument otherwise.
  GaussianMixture(Vector weights, std::vector<Gaussian> components);
  explicit GaussianMixture(Gaussian gaussian);

  [[nodiscard]] Index size() const { return weights_.size(); }
  [[nodiscard]] Index dimension() const { return components_ ? components_->front().dimension() : 0; }
  [[nodiscard]] const Vector& weights() const { return weights_; }
  [[nodiscard]] const Gaussian& component(Index i) const {
    return (*components_)[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const std::vector<Gaussian>& components() const;

  /// Is this a copy of the other mixture, or the other way round? Equal ones made apart are not.
  [[nodiscard]] bool is_copy_of(const GaussianMixture& other) const {
    return components_ == other.components_ && weights_ == other.weights_;
  }

  [[nodiscard]] Vector mean() const;
  [[nodiscard]] Matrix covariance() const;
  [[nodiscard]] Vector standard_deviation() const;
  /// E|z|^2.
  [[nodiscard]] double second_moment() const;
  /// Law of the chosen coordinates.
  [[nodiscard]] GaussianMixture marginal(const std::vector<Index>& indices) const;
  /// Law of the other coordinates, in increasing order, given that `indices` take `values`.
  /// Throws InvalidArgument where the given coordinates have a singular covariance.
  [[nodiscard]] GaussianMixture conditional(const std::vector<Index>& indices, ConstVectorRef values) const;
  /// Log density at `point`. A mixture with a singular component has none: InvalidArgument.
  [[nodiscard]] double log_density(ConstVectorRef point) const;
  /// The same law with coordinate `order[i]` moved to place i.
  [[nodiscard]] GaussianMixture permuted(const std::vector<Index>& order) const;

 private:
  Vector weights_;
  /// Never changed, so copies share them: covariances are large, and traces hold most mixtures more than
  /// once.
  std::shared_ptr<const std::vector<Gaussian>> components_;
};

}  // namespace mixcert
