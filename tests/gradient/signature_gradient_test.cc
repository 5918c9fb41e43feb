// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The signature method's derivatives, operation by operation and end to end, against central differences of
// the forward code. Differences are of fourth order; points between which a discrete choice differs are told
// by comparing the choices, not by loose tolerances.
#include "mixcert/gradient/signature_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradient/chain_gradient.h"
#include "gradient/push_gradient.h"
#include "gradient/shifted_inverse.h"
#include "gradient/signature_directions.h"
#include "gradient/signature_transport.h"
#include "gradient/trace_sqrt_gradient.h"
#include "mixcert/mixture/eigenpairs.h"
#include "mixcert/mixture/symmetric_eigen.h"
#include "mixcert/transport/gaussian_transport.h"
#include "support/random_laws.h"
#include "support/random_network.h"

namespace mixcert {
namespace {

using testing::random_covariance;
using testing::random_matrix;

Generator generator_of(std::uint64_t seed) { return make_generator(seed, Stream::Example, 77); }

/// f'(0) by the fourth-order central difference.
double slope_at_zero(const std::function<double(double)>& f, double step) {
  return (8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step);
}

double inner(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

/// Block-diagonal, positive definite.
Matrix random_blocks(Generator& generator, Index count, Index size) {
  Matrix blocks(count * size, size);
  for (Index i = 0; i < count; ++i) blocks.middleRows(i * size, size) = random_covariance(generator, size);
  return blocks;
}

/// Symmetric in each block.
Matrix random_change(Generator& generator, Index count, Index size) {
  Matrix blocks(count * size, size);
  for (Index i = 0; i < count; ++i) {
    const Matrix half = random_matrix(generator, size, size);
    blocks.middleRows(i * size, size) = half + half.transpose();
  }
  return blocks;
}

Gaussian random_gaussian(Generator& generator, Index count, Index size, Index rank) {
  return {random_matrix(generator, count * size, 1),
          Covariance::block_diagonal(random_blocks(generator, count, size))
              .plus_low_rank(random_matrix(generator, count * size, rank))};
}

/// gaussian + t * change, block by block and in the factor.
Gaussian moved(const Gaussian& gaussian, const GaussianGradient& change, double t) {
  return {gaussian.mean + t * change.mean,
          Covariance::block_diagonal(gaussian.covariance.stacked_blocks() + t * change.blocks)
              .plus_low_rank(gaussian.covariance.factor() + t * change.factor)};
}

GaussianGradient random_gaussian_change(Generator& generator, const Gaussian& gaussian) {
  const Covariance& covariance = gaussian.covariance;
  return {random_matrix(generator, gaussian.dimension(), 1),
          0.2 * random_change(generator, covariance.block_count(), covariance.block_size()),
          random_matrix(generator, gaussian.dimension(), covariance.rank())};
}

double inner(const GaussianGradient& a, const GaussianGradient& b) {
  return a.mean.dot(b.mean) + inner(a.blocks, b.blocks) + inner(a.factor, b.factor);
}

struct Shape {
  Index count, size, rank;
};

// Trace of a square root.

TEST(TraceSqrtGradient, MatchesDifferencesOfTheGain) {
  Generator generator = generator_of(1);
  const Vector x = random_matrix(generator, 12, 1).cwiseAbs();
  const Matrix y = random_matrix(generator, 12, 3);
  const Vector dx = random_matrix(generator, 12, 1);
  const Matrix dy = random_matrix(generator, 12, 3);
  const TraceSqrtGradient gradient = trace_sqrt_gradient(x, y, 1);
  const double expected =
      slope_at_zero([&](double t) { return trace_sqrt_gain(x + t * x.cwiseProduct(dx), y + t * dy); }, 1e-3);
  const double got = inner(gradient.blocks, x.cwiseProduct(dx)) + inner(gradient.columns, dy);
  EXPECT_NEAR(got, expected, 1e-7 * gradient.columns.norm());
}

TEST(TraceSqrtGradient, BlocksAreThoseOfTheInverseRoot) {
  Generator generator = generator_of(2);
  const Vector x = random_matrix(generator, 6, 1).cwiseAbs2().array() + 0.1;
  const Matrix y = random_matrix(generator, 6, 2);
  const Matrix full = Matrix(x.asDiagonal()) + y * y.transpose();
  const SymmetricEigen eigen = symmetric_eigen(full);
  Matrix expected =
      0.5 * eigen.vectors * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.vectors.transpose();
  expected.diagonal() -= 0.5 * x.cwiseSqrt().cwiseInverse();
  const TraceSqrtGradient gradient = trace_sqrt_gradient(x, y, 3);
  for (Index i = 0; i < 6; i += 3) {
    EXPECT_LT((gradient.blocks.middleRows(i, 3) - expected.block(i, i, 3, 3)).norm(), 1e-8);
  }
}

// Transport.

class StructuredTransport : public ::testing::TestWithParam<Shape> {};

TEST_P(StructuredTransport, MatchesDifferencesOfTheCost) {
  const auto [count, size, rank] = GetParam();
  Generator generator = generator_of(3 + static_cast<std::uint64_t>(size + 10 * rank));
  const Gaussian from = random_gaussian(generator, count, size, 0);
  const Gaussian to = random_gaussian(generator, count, size, rank);
  const Vector metric = random_matrix(generator, count * size, 1).cwiseAbs().array() + 0.2;
  const StructuredTransportGradient gradient = structured_transport_gradient(from, to, metric);
  for (int direction = 0; direction < 5; ++direction) {
    const GaussianGradient a = random_gaussian_change(generator, from);
    const GaussianGradient c = random_gaussian_change(generator, to);
    const Vector m = random_matrix(generator, metric.size(), 1).cwiseProduct(metric);
    const double expected = slope_at_zero(
        [&](double t) {
          return gaussian_transport_cost(moved(from, a, t), moved(to, c, t), metric + t * m).nominal;
        },
        1e-4);
    const double got = inner(gradient.from, a) + inner(gradient.to, c) + gradient.metric.dot(m);
    EXPECT_NEAR(got, expected, 1e-6 * (1.0 + std::abs(expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, StructuredTransport,
                         ::testing::Values(Shape{5, 1, 0}, Shape{6, 1, 2}, Shape{12, 1, 10}, Shape{1, 4, 0},
                                           Shape{3, 3, 0}, Shape{3, 3, 2}, Shape{4, 4, 10}));

// Covariances B B' of less than full rank, as several inputs have when few neurons are active.
TEST(StructuredTransportSingular, MatchesDifferencesAlongOneRank) {
  Generator generator = generator_of(20);
  const Index count = 3;
  const Index size = 4;
  const Matrix b = random_matrix(generator, count * size, 2);
  const Matrix db = random_matrix(generator, count * size, 2);
  const Gaussian to = random_gaussian(generator, count, size, 2);
  const auto blocks = [&](const Matrix& root) {
    Matrix stacked(count * size, size);
    for (Index i = 0; i < count * size; i += size) {
      stacked.middleRows(i, size) = root.middleRows(i, size) * root.middleRows(i, size).transpose();
    }
    return Gaussian{Vector::Zero(count * size), Covariance::block_diagonal(stacked)};
  };
  const Vector metric = Vector::LinSpaced(count * size, 0.5, 2.0);
  const StructuredTransportGradient gradient = structured_transport_gradient(blocks(b), to, metric);
  const double expected = slope_at_zero(
      [&](double t) { return gaussian_transport_cost(blocks(b + t * db), to, metric).nominal; }, 1e-2);
  double got = 0.0;
  for (Index i = 0; i < count * size; i += size) {
    const Matrix product = db.middleRows(i, size) * b.middleRows(i, size).transpose();
    got += inner(gradient.from.blocks.middleRows(i, size), product + product.transpose());
  }
  EXPECT_NEAR(got, expected, 1e-5 * std::abs(expected));
}

// Eigenvectors.

TEST(ShiftedInverse, IsThePseudoInverseWithAndWithoutEqualEigenvalues) {
  Generator generator = generator_of(30);
  for (const bool equal : {false, true}) {
    Matrix blocks = random_blocks(generator, 4, 3);
    Matrix factor = random_matrix(generator, 12, 2);
    if (equal) {
      // Two neurons alike: differences of them are orthogonal to the factor.
      blocks.middleRows(3, 3) = blocks.middleRows(0, 3);
      factor.middleRows(3, 3) = factor.middleRows(0, 3);
    }
    const Covariance covariance = Covariance::block_diagonal(blocks).plus_low_rank(factor);
    const SymmetricEigen eigen = symmetric_eigen(covariance.to_dense());
    const ShiftedInverse inverse(covariance);
    const Vector right = random_matrix(generator, 12, 1);
    for (Index d = 0; d < 12; ++d) {
      const double lambda = eigen.values(d);
      const Vector gaps = (lambda - eigen.values.array()).matrix();
      const Vector weights = gaps.unaryExpr(
          [&](double gap) { return std::abs(gap) > kEqualEigenvalues * lambda ? 1.0 / gap : 0.0; });
      const Vector expected = eigen.vectors * weights.cwiseProduct(eigen.vectors.transpose() * right);
      EXPECT_LT((inverse.solve(lambda, right) - expected).norm(), 1e-7 * expected.norm()) << d;
    }
  }
}

class Directions : public ::testing::TestWithParam<Shape> {};

TEST_P(Directions, MatchDifferencesOfSignatures) {
  const auto [count, size, rank] = GetParam();
  Generator generator = generator_of(40 + static_cast<std::uint64_t>(size + 10 * rank));
  const Gaussian gaussian = random_gaussian(generator, count, size, rank);
  const Vector metric = random_matrix(generator, count * size, 1).cwiseAbs().array() + 0.3;
  const GridSignature signature = grid_signature(gaussian.covariance, metric, 12, optimal_quantizer);
  ASSERT_GE(signature.axis_count(), 2);
  ComponentGradient bar = ComponentGradient::zero(gaussian, signature);
  bar.directions = random_matrix(generator, gaussian.dimension(), signature.axis_count());
  const Matrix directions_bar = bar.directions;
  const Vector metric_bar = pull_back_directions(gaussian, signature, metric, bar);
  const GaussianGradient change = random_gaussian_change(generator, gaussian);
  const Vector dm = random_matrix(generator, metric.size(), 1).cwiseProduct(metric);
  const double expected = slope_at_zero(
      [&](double t) {
        const GridSignature there =
            grid_signature(moved(gaussian, change, t).covariance, metric + t * dm, 12, optimal_quantizer);
        EXPECT_EQ(there.axis_count(), signature.axis_count());
        // An eigenvector's sign is a choice.
        Matrix directions = there.directions;
        for (Index d = 0; d < directions.cols(); ++d) {
          if (directions.col(d).dot(signature.directions.col(d)) < 0.0) directions.col(d) *= -1.0;
        }
        return inner(directions_bar, directions);
      },
      1e-4);
  EXPECT_NEAR(inner(bar.gaussian, change) + metric_bar.dot(dm), expected, 1e-6 * (1.0 + std::abs(expected)));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Directions,
                         ::testing::Values(Shape{5, 1, 2}, Shape{1, 5, 0}, Shape{4, 3, 0}, Shape{4, 3, 2},
                                           Shape{12, 4, 3}));

// Networks.

/// Every parameter of a network as one vector: means, and logarithms of variances.
class Parameters {
 public:
  explicit Parameters(const testing::NetworkRecipe& recipe) : activations_(recipe.activation) {
    Generator generator = generator_of(recipe.seed);
    for (std::size_t k = 0; k + 1 < recipe.widths.size(); ++k) {
      const Index in = recipe.widths[k];
      const Index out = recipe.widths[k + 1];
      const double root = std::sqrt(static_cast<double>(in));
      const auto variances = [&](Index rows, Index cols, double scale) -> Matrix {
        return Matrix::NullaryExpr(rows, cols, [&] { return scale * (0.5 + uniform(generator)); });
      };
      const double variance = recipe.deviation * recipe.deviation;
      layers_.push_back({recipe.mean_scale / root * random_matrix(generator, out, in),
                         variances(out, in, variance / static_cast<double>(in)),
                         0.5 * recipe.mean_scale * random_matrix(generator, out, 1),
                         variances(out, 1, variance)});
    }
  }

  std::vector<LayerGradient>& layers() { return layers_; }

  /// Moved by t times `change` in means and logarithms of variances.
  [[nodiscard]] Network network(const NetworkGradient& change, double t) const {
    std::vector<DenseLayer> layers;
    std::vector<ActivationMap> activations;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      const LayerGradient& at = layers_[k];
      const LayerGradient& by = change[k];
      const Matrix variance = at.weight_variance.array() * (t * by.weight_variance.array()).exp();
      const Vector bias_variance = at.bias_variance.array() * (t * by.bias_variance.array()).exp();
      layers.emplace_back(std::to_string(k), at.weight_mean + t * by.weight_mean,
                          at.bias_mean + t * by.bias_mean, MeanFieldWeights{variance},
                          IndependentBias{bias_variance});
      activations.emplace_back(Activation(k == 0 ? ActivationFunction::Identity : activations_, 0.1));
    }
    return {std::move(layers), std::move(activations)};
  }

  /// Derivatives in the logarithms of variances from those in variances.
  [[nodiscard]] NetworkGradient logarithmic(NetworkGradient gradient) const {
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      gradient[k].weight_variance.array() *= layers_[k].weight_variance.array();
      gradient[k].bias_variance.array() *= layers_[k].bias_variance.array();
    }
    return gradient;
  }

 private:
  std::vector<LayerGradient> layers_;
  ActivationFunction activations_;
};

/// Numbers of a gradient, as references in one order.
std::vector<double*> entries(NetworkGradient& gradient) {
  std::vector<double*> all;
  for (LayerGradient& layer : gradient) {
    for (Matrix* part : {&layer.weight_mean, &layer.weight_variance}) {
      for (Index i = 0; i < part->size(); ++i) all.push_back(part->data() + i);
    }
    for (Vector* part : {&layer.bias_mean, &layer.bias_variance}) {
      for (Index i = 0; i < part->size(); ++i) all.push_back(part->data() + i);
    }
  }
  return all;
}

double norm(NetworkGradient gradient) {
  double squared = 0.0;
  for (const double* entry : entries(gradient)) squared += *entry * *entry;
  return std::sqrt(squared);
}

double nominal_bound(const Certificate& certificate) {
  double sum = certificate.first.nominal;
  for (const LayerTerms& terms : certificate.layers) sum += terms.compression.nominal + terms.local.nominal;
  return sum;
}

/// Everything that derivatives hold fixed, in words; without chains and neurons where these are all alike.
std::string choices(const SignaturePass& pass, bool alike) {
  std::string text;
  const auto put = [&](auto number) { text += std::to_string(number) + ' '; };
  for (std::size_t k = 0; k < pass.trace().layers.size(); ++k) {
    const LayerTrace& layer = pass.trace().layers[k];
    if (!alike) {
      text += pass.certificate().layers[k].metric + ' ' + pass.certificate().layers[k].compression_metric;
      put(layer.placement_chain ? static_cast<Index>(*layer.placement_chain) : Index{-1});
    }
    put(layer.points);
    for (const Index cluster : layer.clusters) put(cluster);
    for (const PlanEntry& entry : layer.plan) put(100 * entry.source + entry.target);
    Index below_kink = 0;
    for (std::size_t j = 0; j < layer.signatures.size(); ++j) {
      const GridSignature& signature = layer.signatures[j];
      const Matrix points = signature.points(layer.after.component(static_cast<Index>(j)).mean).points;
      below_kink += (points.array() < 0.0).count();
      std::vector<Index> sizes;
      for (const NormalQuantizer* quantizer : signature.quantizers) sizes.push_back(quantizer->size());
      if (alike) std::sort(sizes.begin(), sizes.end());
      for (const Index size : sizes) put(size);
      // Where an axis has its largest entry; signs of eigenvectors do not matter to symmetric grids.
      for (Index d = 0; d < signature.axis_count() && !alike; ++d) {
        Index largest = 0;
        signature.directions.col(d).cwiseAbs().maxCoeff(&largest);
        put(largest / pass.trace().input_count);
      }
    }
    if (!alike) put(below_kink);
  }
  return text;
}

/// What is differentiated: the bound plus sum_c w_c phi(component c), phi = a'm + (b'm)^2/2 + <S, C> + <S,
/// C>^2/2. The order of components, which an eigenvector's sign can turn around, does not matter.
class Functional {
 public:
  Functional(Index dimension, double bound_weight) : bound_weight_(bound_weight) {
    const auto wave = [](double x) { return std::cos(1.0 + 2.3 * x); };
    a_ = Vector::NullaryExpr(dimension, [&](Index i) { return wave(static_cast<double>(i)); });
    b_ = Vector::NullaryExpr(dimension, [&](Index i) { return wave(static_cast<double>(2 * i + 1)); });
    s_ = Matrix::NullaryExpr(dimension, dimension,
                             [&](Index i, Index j) { return wave(static_cast<double>(i * j + i + j)); });
  }

  [[nodiscard]] double operator()(const SignaturePass& pass) const {
    double value = bound_weight_ * nominal_bound(pass.certificate());
    for (Index c = 0; c < pass.mixture().size(); ++c) {
      const Gaussian& component = pass.mixture().component(c);
      const double mean = b_.dot(component.mean);
      const double covariance = inner(s_, component.covariance.to_dense());
      value += pass.mixture().weights()(c) *
               (a_.dot(component.mean) + 0.5 * mean * mean + covariance + 0.5 * covariance * covariance);
    }
    return value;
  }

  [[nodiscard]] NetworkGradient gradient(const SignaturePass& pass) const {
    MixtureCotangent cotangent;
    for (Index c = 0; c < pass.mixture().size(); ++c) {
      const Gaussian& component = pass.mixture().component(c);
      const double weight = pass.mixture().weights()(c);
      cotangent.means.emplace_back(weight * (a_ + b_.dot(component.mean) * b_));
      cotangent.covariances.emplace_back(weight * (1.0 + inner(s_, component.covariance.to_dense())) * s_);
    }
    return pass.backward(bound_weight_, cotangent);
  }

 private:
  double bound_weight_;
  Vector a_, b_;
  Matrix s_;
};

struct EndToEnd {
  std::string name;
  testing::NetworkRecipe recipe;
  Index inputs = 1;
  Index points = 10;
  Index components = 1;
  CertificateMode certificate = CertificateMode::Metric;
  double bound_weight = 1.0;
};

Options options_of(const EndToEnd& tested) {
  Options options;
  options.method = Method::Signature;
  options.certificate = tested.certificate;
  options.signature_size = tested.points;
  options.components = tested.components;
  return options;
}

/// The directional derivative by differences; nothing where a choice differs between the points.
std::optional<double> difference(const Parameters& parameters, const Matrix& inputs, const Options& options,
                                 const NetworkGradient& direction, double step, const Functional& functional,
                                 const std::string& fixed, bool alike = false) {
  bool same = true;
  const double slope = slope_at_zero(
      [&](double t) {
        if (!same) return 0.0;
        const Network network = parameters.network(direction, t);
        const SignaturePass pass(network, inputs, options);
        same = choices(pass, alike) == fixed;
        return same ? functional(pass) : 0.0;
      },
      step);
  return same ? std::optional<double>(slope) : std::nullopt;
}

class SignatureGradient : public ::testing::TestWithParam<EndToEnd> {};

TEST_P(SignatureGradient, MatchesDifferencesInEveryParameter) {
  const EndToEnd& tested = GetParam();
  Generator generator = generator_of(5);
  const Parameters parameters(tested.recipe);
  const Matrix inputs = random_matrix(generator, tested.recipe.widths.front(), tested.inputs);
  const Options options = options_of(tested);
  const Network network = parameters.network(Parameters(tested.recipe).layers(), 0.0);
  const SignaturePass pass(network, inputs, options);
  const Functional functional(pass.mixture().dimension(), tested.bound_weight);
  const std::string fixed = choices(pass, false);
  NetworkGradient gradient = parameters.logarithmic(functional.gradient(pass));
  const double scale = norm(gradient);
  NetworkGradient direction = zero_gradient(network);
  const std::vector<double*> moves = entries(direction);
  const std::vector<double*> got = entries(gradient);
  int skipped = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    *moves[i] = 1.0;
    const auto expected = difference(parameters, inputs, options, direction, 2e-4, functional, fixed);
    *moves[i] = 0.0;
    if (!expected) {
      ++skipped;
      continue;
    }
    EXPECT_NEAR(*got[i], *expected, 1e-6 * scale) << "parameter " << i << " of " << moves.size();
  }
  EXPECT_LE(skipped, static_cast<int>(moves.size()) / 20);
}

testing::NetworkRecipe net(std::vector<Index> widths, ActivationFunction activation, std::uint64_t seed = 1) {
  testing::NetworkRecipe recipe;
  recipe.widths = std::move(widths);
  recipe.activation = activation;
  recipe.deviation = 0.7;
  recipe.seed = seed;
  return recipe;
}

using F = ActivationFunction;
using C = CertificateMode;

INSTANTIATE_TEST_SUITE_P(
    Networks, SignatureGradient,
    ::testing::Values(EndToEnd{"OneLayerPaper", net({2, 5, 2}, F::Tanh), 1, 10, 1, C::Paper},
                      EndToEnd{"OneLayerMetric", net({2, 5, 2}, F::Relu), 1, 10, 1, C::Metric},
                      EndToEnd{"OneLayerJoint", net({2, 5, 2}, F::Gelu), 3, 10, 0, C::Metric},
                      EndToEnd{"TwoLayersPaper", net({2, 5, 4, 2}, F::Tanh), 1, 10, 1, C::Paper},
                      EndToEnd{"TwoLayersExpected", net({2, 5, 4, 2}, F::Relu), 1, 10, 1, C::Expected},
                      EndToEnd{"TwoLayersMetric", net({2, 5, 4, 2}, F::Tanh), 1, 10, 3, C::Metric},
                      EndToEnd{"TwoLayersBest", net({2, 5, 4, 2}, F::Silu), 1, 6, 0, C::Best},
                      EndToEnd{"TwoLayersJointPaper", net({2, 5, 4, 1}, F::Tanh), 3, 10, 1, C::Paper},
                      EndToEnd{"TwoLayersJointExpected", net({2, 5, 4, 1}, F::Erf), 3, 10, 3, C::Expected},
                      EndToEnd{"TwoLayersJointMetric", net({2, 5, 4, 2}, F::Sigmoid), 3, 10, 1, C::Metric},
                      EndToEnd{"TwoLayersJointAll", net({2, 5, 4, 1}, F::Tanh), 2, 4, 0, C::Metric},
                      EndToEnd{"OneNeuronLayers", net({2, 3, 1, 1}, F::Tanh), 3, 6, 1, C::Paper},
                      EndToEnd{"ThreeLayersPaper", net({2, 5, 4, 4, 2}, F::Softplus), 1, 10, 1, C::Paper},
                      EndToEnd{"ThreeLayersMetric", net({2, 5, 4, 4, 2}, F::LeakyRelu), 1, 8, 3, C::Metric},
                      EndToEnd{"ThreeLayersJoint", net({1, 4, 4, 3, 1}, F::Tanh), 3, 6, 1, C::Metric},
                      EndToEnd{"MixtureAlone", net({2, 5, 4, 2}, F::Elu), 2, 10, 1, C::Paper, 0.0}),
    [](const auto& tested) { return tested.param.name; });

// A prior: means of zero, one variance per layer, so neurons are alike and all blocks have equal eigenvalues.
// What prior selection moves are the layers' variances.
class ZeroMeanPrior : public ::testing::TestWithParam<EndToEnd> {};

TEST_P(ZeroMeanPrior, MatchesDifferencesAlongScalingsOfLayers) {
  const EndToEnd& tested = GetParam();
  Parameters parameters(tested.recipe);
  for (LayerGradient& layer : parameters.layers()) {
    layer.weight_mean.setZero();
    layer.bias_mean.setZero();
    layer.weight_variance.setConstant(1.3 / static_cast<double>(layer.weight_mean.cols()));
    layer.bias_variance.setConstant(0.4);
  }
  const Matrix inputs = Vector::LinSpaced(tested.inputs, -0.9, 1.1).transpose();
  const Options options = options_of(tested);
  const Network network = parameters.network(parameters.layers(), 0.0);
  const SignaturePass pass(network, inputs, options);
  const Functional functional(pass.mixture().dimension(), tested.bound_weight);
  const std::string fixed = choices(pass, true);
  const NetworkGradient gradient = parameters.logarithmic(functional.gradient(pass));
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    for (const bool bias : {false, true}) {
      NetworkGradient direction = zero_gradient(network);
      if (bias) {
        direction[k].bias_variance.setOnes();
      } else {
        direction[k].weight_variance.setOnes();
      }
      const double got = bias ? gradient[k].bias_variance.sum() : gradient[k].weight_variance.sum();
      const auto expected = difference(parameters, inputs, options, direction, 1e-2, functional, fixed, true);
      ASSERT_TRUE(expected.has_value());
      // Roots of singular blocks' rounding errors, 1e-8, are in the forward pass.
      EXPECT_NEAR(got, *expected, 1e-5 * norm(gradient)) << "layer " << k << (bias ? " bias" : " weights");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ZeroMeanPrior,
    ::testing::Values(EndToEnd{"OneInputPaper", net({1, 6, 5, 1}, F::Tanh), 1, 10, 1, C::Paper},
                      EndToEnd{"OneInputMetric", net({1, 6, 5, 1}, F::Tanh), 1, 10, 1, C::Metric},
                      EndToEnd{"JointPaper", net({1, 6, 5, 1}, F::Tanh), 5, 10, 1, C::Paper},
                      EndToEnd{"JointExpected", net({1, 6, 5, 2}, F::Erf), 5, 10, 1, C::Expected},
                      EndToEnd{"JointMetric", net({1, 6, 5, 1}, F::Relu), 4, 10, 1, C::Metric},
                      EndToEnd{"JointAll", net({1, 6, 5, 1}, F::Tanh), 4, 8, 0, C::Metric},
                      EndToEnd{"JointThree", net({1, 6, 5, 4, 1}, F::Tanh), 4, 10, 3, C::Expected}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace mixcert
