// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Simulation of masks, of weights that are not normal, of features in front and of ensembles, against naive
// formulas and distribution functions; reproducibility.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "mixcert/statistics/simulate.h"
#include "statistics/sample_statistics.h"
#include "support/naive_layer.h"
#include "support/random_network.h"

namespace mixcert {
namespace masks_and_laws_test {

using testing::BiasFamily;
using testing::kSigmas;
using testing::moment_z;
using testing::random_layer;
using testing::random_matrix;
using testing::WeightFamily;

constexpr Index kInputs = 3;
constexpr Index kOutputs = 2;

SimulationOptions options_for(Index samples, std::uint64_t seed = 1, int threads = 1) {
  SimulationOptions options;
  options.samples = samples;
  options.seed = seed;
  options.threads = threads;
  return options;
}

DenseLayer identity_layer(Index size = kInputs) {
  return {"identity", Matrix::Identity(size, size), Vector::Zero(size), DeterministicWeights{},
          DeterministicBias{}};
}

Network masked(const DenseLayer& layer, const Mask& mask) {
  return {{identity_layer(), layer}, {Activation(), Activation()}, {Mask(), mask}};
}

/// Moments of W (m x) + b at several inputs, input-major, masks of variance v: with ~ a one appended,
/// E[a~_j(p) a~_l(q)] = x~_j(p) x~_l(q) + v [p = q, j = l not the one] x_j(p)^2.
std::pair<Vector, Matrix> masked_moments(const DenseLayer& layer, const Matrix& inputs, double v) {
  const Index in = layer.inputs();
  const Index out = layer.outputs();
  const Matrix entries = testing::naive_entry_covariance(layer);
  Matrix means(out, in + 1);
  means << layer.weight_mean(), layer.bias_mean();
  Matrix points(in + 1, inputs.cols());
  points << inputs, Matrix::Ones(1, inputs.cols());
  const Matrix mean = means * points;
  Matrix covariance(out * inputs.cols(), out * inputs.cols());
  for (Index p = 0; p < inputs.cols(); ++p) {
    for (Index q = 0; q < inputs.cols(); ++q) {
      Matrix noise = Matrix::Zero(in + 1, in + 1);
      if (p == q) noise.topLeftCorner(in, in).diagonal() = v * inputs.col(p).cwiseAbs2();
      const Matrix second = points.col(p) * points.col(q).transpose() + noise;
      for (Index i = 0; i < out; ++i) {
        for (Index k = 0; k < out; ++k) {
          const Matrix block = entries.block(i * (in + 1), k * (in + 1), in + 1, in + 1);
          covariance(p * out + i, q * out + k) =
              block.cwiseProduct(second).sum() + means.row(i).dot(noise * means.row(k).transpose());
        }
      }
    }
  }
  return {mean.reshaped(), covariance};
}

using MaskCase = std::tuple<WeightFamily, bool, double>;

class Masks : public ::testing::TestWithParam<MaskCase> {
 protected:
  [[nodiscard]] static Mask mask() {
    const double rate = std::get<2>(GetParam());
    return std::get<1>(GetParam()) ? Mask::gaussian(rate) : Mask::bernoulli(rate);
  }
  DenseLayer layer() {
    return random_layer(generator_,
                        {std::get<0>(GetParam()), BiasFamily::Independent, kInputs, kOutputs, 1.0, 0.6});
  }
  Generator generator_ = make_generator(61, Stream::Example);
};

TEST_P(Masks, HaveTheNaiveMoments) {
  const DenseLayer dense = layer();
  const Matrix inputs = random_matrix(generator_, kInputs, 2);
  const double v = std::get<2>(GetParam()) / (1.0 - std::get<2>(GetParam()));
  const Network network = masked(dense, mask());
  const auto [mean, covariance] = masked_moments(dense, inputs.leftCols(1), v);
  EXPECT_LE(moment_z(simulate(network, inputs.col(0), 0, options_for(40000)), mean, covariance), kSigmas);
  const auto [joint_mean, joint_covariance] = masked_moments(dense, inputs, v);
  EXPECT_LE(moment_z(simulate_joint(network, inputs, options_for(40000)), joint_mean, joint_covariance),
            kSigmas);
}

TEST_P(Masks, DoNotDependOnThreads) {
  const Network network = masked(layer(), mask());
  const Matrix inputs = random_matrix(generator_, kInputs, 3);
  const Matrix single = simulate(network, inputs.col(0), 0, options_for(1777));
  const Matrix joint = simulate_joint(network, inputs, options_for(1777));
  EXPECT_EQ(simulate(network, inputs.col(0), 0, options_for(1777, 1, 3)), single);
  EXPECT_EQ(simulate_joint(network, inputs, options_for(1777, 1, 3)), joint);
}

INSTANTIATE_TEST_SUITE_P(All, Masks,
                         ::testing::Combine(::testing::ValuesIn(testing::all_weight_families()),
                                            ::testing::Bool(), ::testing::Values(0.1, 0.5)));

TEST(Mask, OfRateZeroChangesNothing) {
  Generator generator = make_generator(62, Stream::Example);
  const DenseLayer dense = random_layer(generator, {});
  const Vector input = random_matrix(generator, kInputs, 1);
  const Network plain({identity_layer(), dense}, {Activation(), Activation()});
  EXPECT_EQ(simulate(masked(dense, Mask::bernoulli(0.0)), input, 0, options_for(500)),
            simulate(plain, input, 0, options_for(500)));
}

/// Largest distance of the empirical distribution function from `cdf`, times the root of the sample size:
/// above 3 with probability 3e-8.
double kolmogorov(const Matrix& sample, const std::function<double(double)>& cdf) {
  std::vector<double> sorted(sample.data(), sample.data() + sample.size());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double value = cdf(sorted[i]);
    const auto rank = static_cast<double>(i);
    worst = std::max({worst, std::abs(value - rank / n), std::abs(value - (rank + 1.0) / n)});
  }
  return worst * std::sqrt(n);
}

double unit_cdf(const EntryLaw& law, double x) {
  switch (law.family()) {
    case EntryLaw::Family::Normal:
      return 0.5 * std::erfc(-x / std::sqrt(2.0));
    case EntryLaw::Family::Laplace:
      return x < 0.0 ? 0.5 * std::exp(std::sqrt(2.0) * x) : 1.0 - 0.5 * std::exp(-std::sqrt(2.0) * x);
    case EntryLaw::Family::Uniform:
      return std::clamp(0.5 + x / std::sqrt(12.0), 0.0, 1.0);
    case EntryLaw::Family::StudentT:
      break;
  }
  const double degrees = law.degrees();
  return cdf(boost::math::students_t_distribution<double>(degrees), x * std::sqrt(degrees / (degrees - 2.0)));
}

class Laws : public ::testing::TestWithParam<EntryLaw> {};

/// One weight or one bias, in the first layer or behind an identity: the samples have the law itself.
TEST_P(Laws, OneEntryHasItsDistributionFunction) {
  const Matrix four = Matrix::Constant(1, 1, 4.0);
  for (const bool in_bias : {false, true}) {
    const WeightCovariance weights =
        in_bias ? WeightCovariance(DeterministicWeights{}) : MeanFieldWeights{four, GetParam()};
    const BiasCovariance bias =
        in_bias ? BiasCovariance(IndependentBias{four.col(0), GetParam()}) : DeterministicBias{};
    const DenseLayer layer("one", Matrix::Constant(1, 1, 0.5), Vector::Constant(1, -1.0), weights, bias);
    const double scale = in_bias ? 2.0 : 3.0;  // at the input 1.5
    const auto cdf = [&](double y) { return unit_cdf(GetParam(), (y + 0.25) / scale); };
    for (const bool behind : {false, true}) {
      const Network network = behind ? Network({identity_layer(1), layer}, {Activation(), Activation()})
                                     : Network({layer}, {Activation()});
      const Matrix samples = simulate(network, Vector::Constant(1, 1.5), 0, options_for(50000));
      EXPECT_LE(kolmogorov(samples, cdf), 3.0) << in_bias << behind;
    }
  }
}

/// Laws with the eighth moments that the errors of second moments are estimated with.
class LawsWithMoments : public ::testing::TestWithParam<EntryLaw> {};

TEST_P(LawsWithMoments, LayersHaveTheMomentsOfTheNormalLaw) {
  Generator generator = make_generator(63, Stream::Example);
  const DenseLayer normal =
      random_layer(generator, {WeightFamily::MeanField, BiasFamily::Independent, 3, 2, 1.0, 0.8});
  MeanFieldWeights weights = std::get<MeanFieldWeights>(normal.weights());
  IndependentBias bias = std::get<IndependentBias>(normal.bias());
  weights.law = GetParam();
  bias.law = GetParam();
  const DenseLayer layer("shaped", normal.weight_mean(), normal.bias_mean(), weights, bias);
  const Matrix inputs = random_matrix(generator, kInputs, 2);
  const auto [mean, covariance] = masked_moments(normal, inputs, 0.0);
  for (const bool behind : {false, true}) {
    const Network network = behind ? masked(layer, Mask()) : Network({layer}, {Activation()});
    const Matrix joint = simulate_joint(network, inputs, options_for(30000));
    EXPECT_LE(moment_z(joint, mean, covariance), kSigmas) << behind;
    EXPECT_EQ(simulate_joint(network, inputs, options_for(30000, 1, 3)), joint);
    const Matrix single = simulate(network, inputs.col(1), 1, options_for(30000));
    EXPECT_LE(moment_z(single, mean.tail(2), covariance.bottomRightCorner(2, 2)), kSigmas) << behind;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LawsWithMoments,
                         ::testing::Values(EntryLaw(), EntryLaw(EntryLaw::Family::Laplace),
                                           EntryLaw(EntryLaw::Family::Uniform),
                                           EntryLaw(EntryLaw::Family::StudentT, 12.0),
                                           EntryLaw(EntryLaw::Family::StudentT, 1e13)));

INSTANTIATE_TEST_SUITE_P(All, Laws,
                         ::testing::Values(EntryLaw(), EntryLaw(EntryLaw::Family::Laplace),
                                           EntryLaw(EntryLaw::Family::Uniform),
                                           EntryLaw(EntryLaw::Family::StudentT, 2.3),
                                           EntryLaw(EntryLaw::Family::StudentT, 12.0),
                                           EntryLaw(EntryLaw::Family::StudentT, 1e13)));

/// (x, y) -> (x, y, x y).
class ProductFeature : public FeatureMap {
 public:
  [[nodiscard]] Index inputs() const override { return 2; }
  [[nodiscard]] Index outputs() const override { return 3; }
  [[nodiscard]] Features evaluate(ConstVectorRef input) const override {
    return {Vector{{input(0), input(1), input(0) * input(1)}}, 0.0};
  }
};

TEST(Features, AreEvaluatedBeforeTheFirstLayer) {
  Generator generator = make_generator(64, Stream::Example);
  const DenseLayer dense = random_layer(generator, {});
  const Activation tanh(ActivationFunction::Tanh);
  const Network network({dense}, {tanh}, {}, std::make_shared<ProductFeature>());
  const Network plain({dense}, {tanh});
  EXPECT_EQ(simulate(network, Vector{{0.5, -3.0}}, 2, options_for(300)),
            simulate(plain, Vector{{0.5, -3.0, -1.5}}, 2, options_for(300)));
}

class Ensembles : public ::testing::Test {
 protected:
  static Network constant(double value) {
    return Network({DenseLayer("constant", Matrix::Zero(1, 2), Vector::Constant(1, value),
                               DeterministicWeights{}, DeterministicBias{})},
                   {Activation()});
  }
  static Network random(std::uint64_t seed) {
    testing::NetworkRecipe recipe;
    recipe.seed = seed;
    return testing::random_network(recipe);
  }
};

TEST_F(Ensembles, DrawMembersWithTheirWeights) {
  const Ensemble ensemble({constant(1.0), constant(2.0), constant(3.0)}, Vector{{0.2, 0.5, 0.3}});
  const Index n = 100000;
  const Matrix joint = simulate_joint(ensemble, Matrix::Zero(2, 2), options_for(n));
  EXPECT_EQ(joint.row(0), joint.row(1)) << "one member for all inputs";
  const Matrix single = simulate(ensemble, Vector::Zero(2), 0, options_for(n));
  for (const Matrix& samples : {Matrix(joint.topRows(1)), single}) {
    for (Index i = 0; i < 3; ++i) {
      const double weight = ensemble.weights()(i);
      const double share = (samples.array() == static_cast<double>(i + 1)).cast<double>().mean();
      EXPECT_NEAR(share, weight, kSigmas * std::sqrt(weight * (1.0 - weight) / static_cast<double>(n)));
    }
  }
}

TEST_F(Ensembles, HaveTheMixtureOfTheMembersMoments) {
  const Network a = random(1);
  const Network b = random(2);
  const Vector input{{0.3, -0.8}};
  const Matrix together = simulate(Ensemble({a, b}, Vector{{0.25, 0.75}}), input, 0, options_for(100000));
  Matrix apart(3, 100000);
  apart << simulate(a, input, 0, options_for(25000, 7)), simulate(b, input, 0, options_for(75000, 8));
  EXPECT_LE(testing::two_sample_z(together, apart), kSigmas);
}

TEST_F(Ensembles, MembersAreIndependentOfEachOther) {
  const Network a = random(1);
  const Matrix samples =
      simulate(Ensemble({a, a}, Vector{{0.5, 0.5}}), Vector{{0.3, -0.8}}, 0, options_for(500));
  for (Index i = 0; i < samples.cols(); ++i) {
    for (Index j = 0; j < i; ++j) ASSERT_NE(samples.col(i), samples.col(j));
  }
}

TEST_F(Ensembles, OfOneAreTheNetworkAndNoneDependsOnThreads) {
  const Vector input{{0.3, -0.8}};
  EXPECT_EQ(simulate(Ensemble(random(1)), input, 4, options_for(999)),
            simulate(random(1), input, 4, options_for(999)));
  const Ensemble two({random(1), random(2)}, Vector{{0.5, 0.5}});
  EXPECT_EQ(simulate(two, input, 4, options_for(1777, 1, 3)), simulate(two, input, 4, options_for(1777)));
  EXPECT_NE(simulate(two, input, 5, options_for(1777)), simulate(two, input, 4, options_for(1777)));
}

}  // namespace masks_and_laws_test
}  // namespace mixcert
