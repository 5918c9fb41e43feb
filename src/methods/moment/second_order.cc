// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/moment/second_order.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/normal.h"
#include "methods/moment/surrogate_law.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

/// M K M' + E S(a), K the covariance of the activations, Hermite terms of rank three and more as if they were
/// alike (H.7).
Gaussian pushed(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  const Matrix activations = activation_covariance(piece, law);
  const Matrix& m = layer.weight_mean();
  Matrix covariance = m * activations * m.transpose();
  if (layer.has_independent_outputs()) {
    covariance.diagonal() += mean_noise(layer, law);
  } else {
    covariance += layer.expected_noise(law.mean, activations);
  }
  return {m * law.mean + layer.bias_mean(), Covariance::dense(0.5 * (covariance + covariance.transpose()))};
}

Gaussian output_of(const Network& network, Gaussian law) {
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const SurrogateLaw activations =
        masked_law(surrogate_law(network.activation(k), law), network.mask(k), MaskLeaf{});
    law = pushed(network.layer(k), law, activations);
  }
  return law;
}

// Few directions, and averages over them.

/// More directions or neurons are not looked for.
constexpr Index kMostDirections = 20;
constexpr Index kMostNeurons = 512;
/// Eigenvalues below this part of the largest are rounding.
constexpr double kNoDirection = 1e-10;
/// Multiplications that averaging may cost, and nodes that are worth it.
constexpr double kMostWork = 1e9;
constexpr Index kFewestPairs = 64, kMostPairs = 2048;

/// F with F F' = covariance, where fewer than half as many columns as neurons suffice; none otherwise.
Matrix few_directions(const Covariance& covariance) {
  const Index neurons = covariance.dimension();
  if (covariance.is_diagonal() || neurons > kMostNeurons) return {};
  const SymmetricEigen eigen = symmetric_eigen(covariance.to_dense());
  const double top = eigen.values.maxCoeff();
  std::vector<Index> chosen;
  for (Index i = 0; i < neurons; ++i) {
    if (eigen.values(i) > kNoDirection * top) chosen.push_back(i);
  }
  const auto count = static_cast<Index>(chosen.size());
  if (count == 0 || count > kMostDirections || 2 * count > neurons) return {};
  Matrix factor(neurons, count);
  for (Index i = 0; i < count; ++i) {
    const Index place = chosen[static_cast<std::size_t>(i)];
    factor.col(i) = std::sqrt(eigen.values(place)) * eigen.vectors.col(place);
  }
  return factor;
}

double multiplications(const Network& network) {
  double sum = 0.0;
  for (Index k = 1; k < network.layer_count(); ++k) {
    const auto in = static_cast<double>(network.layer(k).inputs());
    const auto out = static_cast<double>(network.layer(k).outputs());
    sum += 2.0 * in * out * (in + out) + in * in;
  }
  return sum;
}

/// Normal numbers of low discrepancy: multiples of (1/g, 1/g^2, ..), g^{d+1} = g + 1, without their whole
/// parts.
class SpreadNormals {
 public:
  explicit SpreadNormals(Index dimension) : steps_(dimension) {
    double g = 2.0;
    for (int i = 0; i < 64; ++i) g = std::pow(1.0 + g, 1.0 / static_cast<double>(dimension + 1));
    for (Index d = 0; d < dimension; ++d) steps_(d) = std::pow(g, -static_cast<double>(d + 1));
  }

  /// index = 1, 2, ..
  [[nodiscard]] Vector at(Index index) const {
    return steps_.unaryExpr([&](double step) {
      const double place = 0.5 + static_cast<double>(index) * step;
      return normal_quantile(std::clamp(place - std::floor(place), 1e-9, 1.0 - 1e-9));
    });
  }

 private:
  Vector steps_;
};

}  // namespace

OutputMoments second_order_moments(const Network& network, const Gaussian& first) {
  const auto wanted = static_cast<Index>(kMostWork / (2.0 * multiplications(network)));
  const Index pairs = std::min(wanted, kMostPairs);
  const Matrix directions = pairs >= kFewestPairs ? few_directions(first.covariance) : Matrix();
  if (directions.cols() == 0) {
    const Gaussian output = output_of(network, first);
    return {output.mean, output.covariance.variances()};
  }
  const SpreadNormals normals(directions.cols());
  Vector mean = Vector::Zero(network.outputs()), square = mean, inner = mean;
  for (Index i = 1; i <= pairs; ++i) {
    const Vector shift = directions * normals.at(i);
    for (const double sign : {1.0, -1.0}) {
      const Gaussian output =
          output_of(network, {first.mean + sign * shift, Covariance::zero(first.dimension())});
      mean += output.mean;
      square += output.mean.cwiseAbs2();
      inner += output.covariance.variances();
    }
  }
  const double share = 0.5 / static_cast<double>(pairs);
  mean *= share;
  return {mean, share * (inner + square) - mean.cwiseAbs2()};
}

}  // namespace mixcert
