// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The signature method's derivatives end to end, against central differences of the forward code. Differences
// are of fourth order; points between which a discrete choice differs are told by comparing the choices, not
// by loose tolerances.
#include "gradient/signature/signature_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradient/gradient_checks.h"
#include "mixcert/core/error.h"
#include "support/random_laws.h"
#include "support/random_network.h"

namespace mixcert {
namespace signature_gradient_test {

using testing::random_matrix;

Generator generator_of(std::uint64_t seed) { return make_generator(seed, Stream::Example, 77); }

double inner(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

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

bool has_kink(ActivationFunction function) {
  return function == ActivationFunction::Relu || function == ActivationFunction::LeakyRelu;
}

/// What of a pass is compared.
struct Compared {
  bool alike = false;   ///< all neurons and chains are the same, whichever was chosen
  bool kinked = false;  ///< the activation has a kink at zero
};

/// Everything that derivatives hold fixed, in words.
std::string choices(const SignaturePass& pass, const Compared& compared) {
  std::string text;
  const auto put = [&](auto number) { text += std::to_string(number) + ' '; };
  for (std::size_t k = 0; k < pass.trace().layers.size(); ++k) {
    const SignatureLayerTrace& layer = pass.trace().layers[k];
    if (!compared.alike) {
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
      if (compared.alike) std::sort(sizes.begin(), sizes.end());
      for (const Index size : sizes) put(size);
      // Where an axis has its largest entry; signs of eigenvectors do not matter to symmetric grids.
      for (Index d = 0; d < signature.axis_count() && !compared.alike; ++d) {
        Index largest = 0;
        signature.directions.col(d).cwiseAbs().maxCoeff(&largest);
        put(largest / pass.trace().input_count);
      }
    }
    if (compared.kinked) put(below_kink);
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
std::optional<double> guarded_difference(const Parameters& parameters, const Matrix& inputs,
                                         const Options& options, const NetworkGradient& direction,
                                         double step, const Functional& functional, const std::string& fixed,
                                         const Compared& compared) {
  bool same = true;
  const double slope = testing::difference(
      [&](double t) {
        if (!same) return 0.0;
        const Network network = parameters.network(direction, t);
        const SignaturePass pass(network, inputs, options);
        same = choices(pass, compared) == fixed;
        return same ? functional(pass) : 0.0;
      },
      step);
  return same ? std::optional<double>(slope) : std::nullopt;
}

class SignatureGradient : public ::testing::TestWithParam<EndToEnd> {};

TEST_P(SignatureGradient, MatchesDifferencesInItsParameters) {
  const EndToEnd& tested = GetParam();
  Generator generator = generator_of(5);
  const Parameters parameters(tested.recipe);
  const Matrix inputs = random_matrix(generator, tested.recipe.widths.front(), tested.inputs);
  const Options options = options_of(tested);
  const Network network = parameters.network(Parameters(tested.recipe).layers(), 0.0);
  const SignaturePass pass(network, inputs, options);
  const Functional functional(pass.mixture().dimension(), tested.bound_weight);
  const Compared compared{false, has_kink(tested.recipe.activation)};
  const std::string fixed = choices(pass, compared);
  NetworkGradient gradient = parameters.logarithmic(functional.gradient(pass));
  const double scale = norm(gradient);
  NetworkGradient direction = zero_gradient(network);
  const std::vector<double*> moves = entries(direction);
  const std::vector<double*> got = entries(gradient);
  int skipped = 0;
  // All of a small network's; of a larger one's a spread of about forty.
  const std::size_t stride = 1 + moves.size() / 60;
  for (std::size_t i = 0; i < moves.size(); i += stride) {
    *moves[i] = 1.0;
    const auto expected =
        guarded_difference(parameters, inputs, options, direction, 2e-4, functional, fixed, compared);
    *moves[i] = 0.0;
    if (!expected) {
      ++skipped;
      continue;
    }
    EXPECT_NEAR(*got[i], *expected, 1e-6 * scale) << "parameter " << i << " of " << moves.size();
  }
  EXPECT_LE(skipped, static_cast<int>(moves.size() / stride) / 20);
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
                      EndToEnd{"NearlySingularBlocks", net({1, 6, 5, 1}, F::Tanh), 8, 10, 1, C::Paper},
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
  const std::string fixed = choices(pass, {true});
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
      const auto expected =
          guarded_difference(parameters, inputs, options, direction, 1e-2, functional, fixed, {true});
      ASSERT_TRUE(expected.has_value());
      // The forward pass takes roots of rounding errors in singular blocks: 1e-8, over the step.
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
                      EndToEnd{"JointThreePointsPaper", net({1, 6, 5, 1}, F::Tanh), 5, 3, 1, C::Paper},
                      EndToEnd{"JointFivePoints", net({1, 2, 2, 1}, F::Tanh), 5, 5, 1, C::Metric},
                      EndToEnd{"JointAll", net({1, 6, 5, 1}, F::Tanh), 4, 8, 0, C::Metric},
                      EndToEnd{"JointThree", net({1, 6, 5, 4, 1}, F::Tanh), 4, 10, 3, C::Expected}),
    [](const auto& tested) { return tested.param.name; });

// Layers without variances, and some whose variances are zero.
TEST(SignatureGradientLaws, DeterministicWeightsHaveDerivativesInTheirMeans) {
  for (const auto family : {testing::WeightFamily::Deterministic, testing::WeightFamily::MeanField}) {
    testing::NetworkRecipe recipe = net({2, 4, 4, 1}, F::Tanh, 3);
    recipe.weights = family;
    const Network network = testing::random_network(recipe);
    Generator generator = generator_of(8);
    const Matrix inputs = random_matrix(generator, 2, 2);
    const Options options = options_of({"", recipe, 2, 6, 1, C::Expected});
    const SignaturePass pass(network, inputs, options);
    const NetworkGradient gradient = pass.backward(1.0, {});
    const NetworkGradient direction = testing::random_direction(generator, network);
    const double expected = testing::difference(
        [&](double t) {
          const Network there = testing::moved(network, direction, t);
          const SignaturePass moved(there, inputs, options);
          EXPECT_EQ(choices(moved, {}), choices(pass, {}));
          return nominal_bound(moved.certificate());
        },
        1e-4);
    EXPECT_NEAR(testing::dot(gradient, direction), expected, 1e-6 * norm(gradient));
    EXPECT_EQ(gradient[1].weight_variance.isZero(0.0), family == testing::WeightFamily::Deterministic);
  }
}

TEST(SignatureGradientErrors, OptionsAndDerivativesThatDoNotFitAreRefused) {
  const Network network = testing::random_network(net({2, 4, 1}, F::Tanh));
  const Matrix inputs = Matrix::Ones(2, 2);
  Options options = options_of({});
  const SignaturePass pass(network, inputs, options);
  EXPECT_THROW(static_cast<void>(pass.backward(1.0, {{Vector::Zero(2)}, {}})), InvalidArgument);
  const MixtureCotangent wrong{
      std::vector<Vector>(static_cast<std::size_t>(pass.mixture().size()), Vector::Zero(3)),
      std::vector<Matrix>(static_cast<std::size_t>(pass.mixture().size()), Matrix::Zero(2, 2))};
  EXPECT_THROW(static_cast<void>(pass.backward(1.0, wrong)), InvalidArgument);
  options.epsilon = 0.1;
  EXPECT_THROW(SignaturePass(network, inputs, options), InvalidArgument);
  options = options_of({});
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  EXPECT_THROW(SignaturePass(network, inputs, options), InvalidArgument);
  testing::NetworkRecipe correlated = net({2, 4, 1}, F::Tanh);
  correlated.weights = testing::WeightFamily::Kronecker;
  const Network refused = testing::random_network(correlated);
  EXPECT_THROW(SignaturePass(refused, inputs, options_of({})), InvalidArgument);
}

}  // namespace signature_gradient_test
}  // namespace mixcert
