// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Samples of networks and mixtures in long double: every weight is drawn, none is integrated out.
#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>
#include <variant>

#include "certify/scale_reference.h"
#include "support/naive_activations.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace {

using WideMatrix = Eigen::Matrix<Wide, Eigen::Dynamic, Eigen::Dynamic>;
using WideColumn = Eigen::Matrix<Wide, Eigen::Dynamic, 1>;
using Normal = std::normal_distribution<double>;

/// F with F F' = covariance, by Cholesky's method with pivots, which does not mind singular matrices.
/// Correlations are factored: variances of one matrix may have very different scales, and none of them may
/// count as rounding.
WideMatrix root_of(const Matrix& covariance) {
  const WideColumn deviations = covariance.diagonal().cast<Wide>().cwiseMax(0).cwiseSqrt();
  const WideColumn inverse = deviations.unaryExpr([](Wide d) { return d > 0 ? 1 / d : Wide{0}; });
  WideMatrix rest = inverse.asDiagonal() * covariance.cast<Wide>() * inverse.asDiagonal();
  WideMatrix root = WideMatrix::Zero(rest.rows(), rest.cols());
  for (Index s = 0; s < rest.cols(); ++s) {
    Index pivot = 0;
    const Wide largest = rest.diagonal().maxCoeff(&pivot);
    if (largest <= Wide{1e-13}) break;
    root.col(s) = rest.col(pivot) / std::sqrt(largest);
    rest -= root.col(s) * root.col(s).transpose();
  }
  return deviations.asDiagonal() * root;
}

Wide draw_entry(const EntryLaw& law, std::mt19937_64& generator) {
  using F = EntryLaw::Family;
  const Wide normal = Normal()(generator);
  if (law.family() == F::Laplace) {
    return std::exponential_distribution<double>(1.0)(generator) * (normal > 0 ? 1 : -1) / std::sqrt(Wide{2});
  }
  if (law.family() == F::Uniform) return std::sqrt(Wide{3}) * (2 * static_cast<Wide>(uniform(generator)) - 1);
  if (law.family() == F::StudentT) {
    const Wide square = std::chi_squared_distribution<double>(law.degrees())(generator);
    return normal * std::sqrt((static_cast<Wide>(law.degrees()) - 2) / square);
  }
  return normal;
}

/// Draws [W, b] of one layer: roots are taken once, not per sample.
class LayerDraw {
 public:
  explicit LayerDraw(const DenseLayer& layer) : layer_(layer) {
    if (const auto* k = std::get_if<KroneckerWeights>(&layer.weights())) {
      first_ = root_of(k->row_covariance);
      second_ = root_of(k->column_covariance);
    }
    if (const auto* f = std::get_if<FullWeights>(&layer.weights())) first_ = root_of(f->covariance);
    if (const auto* j = std::get_if<JointWeights>(&layer.weights())) first_ = root_of(j->covariance);
    if (const auto* c = std::get_if<CorrelatedBias>(&layer.bias())) bias_root_ = root_of(c->covariance);
  }

  [[nodiscard]] WideMatrix operator()(std::mt19937_64& generator) const {
    const Index in = layer_.inputs();
    WideMatrix drawn(layer_.outputs(), in + 1);
    drawn.leftCols(in) = layer_.weight_mean().cast<Wide>();
    drawn.col(in) = layer_.bias_mean().cast<Wide>();
    add_weights(drawn, generator);
    add_bias(drawn, generator);
    return drawn;
  }

 private:
  static WideMatrix normals(Index rows, Index cols, std::mt19937_64& generator) {
    Normal normal;
    return WideMatrix::NullaryExpr(rows, cols, [&] { return static_cast<Wide>(normal(generator)); });
  }
  static WideMatrix roots(const Matrix& variance) { return variance.cast<Wide>().cwiseSqrt(); }

  void add_weights(WideMatrix& drawn, std::mt19937_64& generator) const {
    const Index out = drawn.rows();
    const Index in = drawn.cols() - 1;
    auto weights = drawn.leftCols(in);
    const WeightCovariance& law = layer_.weights();
    if (const auto* m = std::get_if<MeanFieldWeights>(&law)) {
      const WideMatrix deviations = roots(m->variance);
      for (Index i = 0; i < weights.size(); ++i) {
        weights(i % out, i / out) += deviations(i % out, i / out) * draw_entry(m->law, generator);
      }
    } else if (std::holds_alternative<KroneckerWeights>(law)) {
      weights += first_ * normals(first_.cols(), second_.cols(), generator) * second_.transpose();
    } else if (const auto* e = std::get_if<KroneckerEigenbasisWeights>(&law)) {
      const WideMatrix x = roots(e->variance).cwiseProduct(normals(out, in, generator));
      weights += e->row_basis.cast<Wide>() * x * e->column_basis.cast<Wide>().transpose();
    } else if (const auto* l = std::get_if<LowRankWeights>(&law)) {
      weights += roots(l->variance).cwiseProduct(normals(out, in, generator));
      for (const Matrix& factor : l->factor)
        weights += factor.cast<Wide>() * static_cast<Wide>(Normal()(generator));
    } else if (std::holds_alternative<FullWeights>(law) || std::holds_alternative<JointWeights>(law)) {
      const WideMatrix noise = first_ * normals(first_.cols(), 1, generator);
      const Index columns = noise.rows() / out;
      for (Index i = 0; i < noise.rows(); ++i) drawn(i / columns, i % columns) += noise(i, 0);
    } else if (const auto* s = std::get_if<SharedWeights>(&law)) {
      const WideMatrix x = roots(s->variance).cwiseProduct(normals(s->variance.size(), 1, generator));
      for (const SharedWeights::Place& place : s->places)
        drawn(place.row, place.column) += x(place.parameter, 0);
    }
  }

  void add_bias(WideMatrix& drawn, std::mt19937_64& generator) const {
    auto bias = drawn.col(drawn.cols() - 1);
    if (const auto* independent = std::get_if<IndependentBias>(&layer_.bias())) {
      const WideMatrix deviations = roots(independent->variance);
      for (Index i = 0; i < bias.size(); ++i)
        bias(i) += deviations(i) * draw_entry(independent->law, generator);
    } else if (bias_root_.size() > 0) {
      bias += bias_root_ * normals(bias_root_.cols(), 1, generator);
    }
  }

  const DenseLayer& layer_;
  WideMatrix first_;
  WideMatrix second_;
  WideMatrix bias_root_;
};

Wide draw_factor(const Mask& mask, std::mt19937_64& generator) {
  const Wide rate = mask.rate();
  if (mask.kind() == Mask::Kind::Bernoulli) return uniform(generator) < mask.rate() ? 0 : 1 / (1 - rate);
  if (mask.kind() == Mask::Kind::Gaussian) return 1 + std::sqrt(rate / (1 - rate)) * Normal()(generator);
  return 1;
}

}  // namespace

WideSamples wide_samples(const Network& network, const Matrix& inputs, Index samples, std::uint64_t seed) {
  std::mt19937_64 generator(seed * 2654435761U + 12345U);
  std::vector<LayerDraw> draws;
  for (Index k = 0; k < network.layer_count(); ++k) draws.emplace_back(network.layer(k));
  const Index outputs = network.outputs();
  WideSamples result(static_cast<std::size_t>(outputs * inputs.cols()),
                     WideVector(static_cast<std::size_t>(samples)));
  for (Index n = 0; n < samples; ++n) {
    WideMatrix z = inputs.cast<Wide>();
    for (Index k = 0; k < network.layer_count(); ++k) {
      WideMatrix a = WideMatrix::Ones(z.rows() + 1, z.cols());
      for (Index i = 0; i < z.size(); ++i) {
        const Index j = i % z.rows();
        a(j, i / z.rows()) = draw_factor(network.mask(k), generator) *
                             naive_activation(network.activation(k).at(j), z(j, i / z.rows()));
      }
      z = draws[static_cast<std::size_t>(k)](generator) * a;
    }
    for (Index i = 0; i < z.size(); ++i) {
      const Index coordinate = i / outputs * outputs + i % outputs;
      result[static_cast<std::size_t>(coordinate)][static_cast<std::size_t>(n)] = z(i % outputs, i / outputs);
    }
  }
  return result;
}

WideSamples wide_samples(const GaussianMixture& mixture, Index samples, std::uint64_t seed) {
  std::mt19937_64 generator(seed * 2654435761U + 54321U);
  const auto dimension = static_cast<std::size_t>(mixture.dimension());
  WideSamples result(dimension, WideVector(static_cast<std::size_t>(samples)));
  std::vector<Vector> variances;
  for (const Gaussian& component : mixture.components())
    variances.push_back(component.covariance.variances());
  const Vector& weights = mixture.weights();
  std::discrete_distribution<std::size_t> which(weights.begin(), weights.end());
  Normal normal;
  for (std::size_t n = 0; n < static_cast<std::size_t>(samples); ++n) {
    const std::size_t c = which(generator);
    const Vector& mean = mixture.component(static_cast<Index>(c)).mean;
    for (std::size_t i = 0; i < dimension; ++i) {
      const auto at = static_cast<Index>(i);
      result[i][n] = mean(at) + std::sqrt(static_cast<Wide>(variances[c](at))) * normal(generator);
    }
  }
  return result;
}

}  // namespace mixcert::testing
