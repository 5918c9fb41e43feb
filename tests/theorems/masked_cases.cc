// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masked_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/core/rng.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace {

using F = ActivationFunction;

/// The bound of a sum of zeros, in units of one.
constexpr long double kNothing = 1e-15L;

constexpr double kRates[] = {0.5, 0.25, 0.1, 0.02, 0.9, 0.7, 1e-5, 0.999};

double uniform(Generator& generator) {
  return 0.5 * std::erfc(-random_matrix(generator, 1, 1)(0) / std::sqrt(2.0));
}

/// Equal, normal, log-normal sizes of any sign, or one that dominates; some are zero.
Vector random_contributions(Generator& generator, Index count, std::uint64_t kind) {
  Vector sizes = random_matrix(generator, count, 1);
  if (kind == 0) sizes.setConstant(uniform(generator) + 0.1);
  if (kind == 2)
    sizes = sizes.cwiseProduct((2.0 * random_matrix(generator, count, 1)).array().exp().matrix());
  if (kind == 3) sizes(0) = 300.0;
  for (double& size : sizes) {
    if (uniform(generator) < 0.1) size = 0.0;
  }
  return sizes;
}

std::vector<long double> precisely(const Vector& values) { return {values.begin(), values.end()}; }
std::vector<long double> precisely(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// Weights add up to one but for rounding, which far atoms would see.
LineLaw normalised(LineLaw law) {
  const long double total = std::accumulate(law.weights.begin(), law.weights.end(), 0.0L);
  for (long double& weight : law.weights) weight /= total;
  return law;
}

LineLaw line_law(const LineGaussians& mixture) {
  return normalised({precisely(mixture.weights), precisely(mixture.means), precisely(mixture.deviations)});
}
/// Less `center`. Points among several components count as narrow Gaussians, for the oracle's sake; `widened`
/// is how narrow.
LineLaw line_law(const GaussianMixture& mixture, long double center, long double& widened) {
  LineLaw law;
  widened = 0.0L;
  for (Index k = 0; k < mixture.size(); ++k) {
    const long double variance = mixture.component(k).covariance.variances()(0);
    law.weights.push_back(mixture.weights()(k));
    law.means.push_back(mixture.component(k).mean(0) - center);
    law.deviations.push_back(std::sqrt(variance));
    widened = std::max({widened, law.deviations.back(), std::abs(law.means.back() - law.means.front())});
  }
  widened *= mixture.size() > 1 ? 1e-11L : 0.0L;
  for (long double& deviation : law.deviations) deviation = std::max(deviation, widened);
  return normalised(std::move(law));
}

/// In double; points count as narrow Gaussians.
LineLawOf<double> plain_law(const GaussianMixture& mixture) {
  LineLawOf<double> law;
  for (Index k = 0; k < mixture.size(); ++k) {
    law.weights.push_back(mixture.weights()(k));
    law.means.push_back(mixture.component(k).mean(0));
    law.deviations.push_back(std::sqrt(mixture.component(k).covariance.variances()(0)) + 1e-12);
  }
  return law;
}

}  // namespace

MaskedCase::MaskedCase(std::uint64_t seed, double scale, std::uint64_t most) {
  Generator generator = make_generator(seed, Stream::Example, 77);
  const auto count = static_cast<Index>(1 + seed % most);
  sum.rate = kRates[(seed / 4) % 8];
  sum.contributions = random_contributions(generator, count, seed % 4);
  const double own = deviation();
  const std::uint64_t target = (seed / 3) % 4;
  mixture = {{1.0}, {0.0}, {own}};
  if (target == 1)
    mixture = {{1.0}, {0.3 * own * random_matrix(generator, 1, 1)(0)}, {own * std::exp(uniform(generator))}};
  if (target == 2) mixture.deviations = {0.0};
  if (target == 3) {
    mixture = {};
    const Vector weights = random_weights(generator, 5);
    for (Index k = 0; k < 5; ++k) {
      mixture.weights.push_back(weights(k));
      mixture.means.push_back(own * random_matrix(generator, 1, 1)(0));
      mixture.deviations.push_back(own * std::exp(2.0 * random_matrix(generator, 1, 1)(0)) + 1e-6);
    }
  }
  sum.contributions *= scale;
  for (double& mean : mixture.means) mean *= scale;
  for (double& one : mixture.deviations) one *= scale;
}

double MaskedCase::deviation() const {
  return std::sqrt(sum.rate / (1.0 - sum.rate)) * sum.contributions.stableNorm();
}

double MaskedCase::size() const {
  double size = deviation();
  for (std::size_t k = 0; k < mixture.weights.size(); ++k)
    size = std::max({size, mixture.deviations[k], std::abs(mixture.means[k])});
  return size;
}

long double MaskedCase::truth() const {
  const std::vector<long double> contributions = precisely(sum.contributions);
  long double mean = 0.0L;
  for (const long double one : contributions) mean += one;
  return exact_distance(enumerated_sum(contributions, sum.rate, -mean), line_law(mixture));
}

void expect_bound_of_sum(std::uint64_t seed, double scale, std::uint64_t most) {
  SCOPED_TRACE(seed);
  const MaskedCase one(seed, scale, most);
  const long double truth = one.truth();
  const UpperBound bound = distance_to_gaussians(lattice_law(one.sum), one.mixture);
  EXPECT_GE(bound.upper, truth * (1.0L - 1e-15L));
  EXPECT_LE(bound.upper, truth * (1.0L + 1e-8L) + 2e-3L * static_cast<long double>(one.size()) + kNothing);
}

namespace {

Network masked_network(const Vector& hidden, const Vector& weights, double bias, double rate, F function) {
  const Index n = hidden.size();
  std::vector<DenseLayer> layers;
  layers.emplace_back("first", hidden, Vector::Zero(n), WeightCovariance{}, IndependentBias{Vector::Zero(n)});
  layers.emplace_back("last", weights.transpose(), Vector::Constant(1, bias), WeightCovariance{},
                      IndependentBias{Vector::Zero(1)});
  return Network(std::move(layers), {ActivationMap(), ActivationMap(Activation(function))},
                 {Mask(), Mask::bernoulli(rate)});
}

}  // namespace

MaskedNetwork random_masked_network(std::uint64_t seed, double scale, double bias, std::uint64_t most) {
  Generator generator = make_generator(seed, Stream::Example, 78);
  const auto count = static_cast<Index>(1 + seed % most);
  const double rate = kRates[(seed / 4) % 8];
  const Vector hidden = random_matrix(generator, count, 1);
  const Vector weights = scale * random_contributions(generator, count, seed % 4);
  std::vector<long double> contributions;
  for (Index j = 0; j < count; ++j)
    contributions.push_back(static_cast<long double>(std::max(hidden(j), 0.0)) * weights(j));
  return {masked_network(hidden, weights, bias, rate, F::Relu), contributions, rate, bias};
}

void expect_bound_of_network(std::uint64_t seed, double scale, double bias, std::uint64_t most) {
  SCOPED_TRACE(seed);
  const MaskedNetwork made = random_masked_network(seed, scale, bias, most);
  for (const Index components : {Index{1}, Index{5}}) {
    Options options;
    options.threads = 1;
    options.components = components;
    const Result result = certify(made.network, Vector::Ones(1), options).front();
    const double center = result.mixture.component(0).mean(0);
    long double widened = 0.0L;
    const LineLaw law = line_law(result.mixture, center, widened);
    EXPECT_GE(result.w2.value, exact_distance(made.atoms(center), law) * (1.0L - 1e-12L) - widened)
        << components;
  }
}

std::string expect_bound_with_noise(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Generator generator = make_generator(seed, Stream::Example, 79);
  const auto count = static_cast<Index>(1 + seed % 5);
  const double rate = kRates[(seed / 2) % 6], noise = std::pow(10.0, -3.0 * uniform(generator));
  const bool is_hidden = seed % 2 == 0, has_bias = seed % 3 != 0;
  const Vector hidden = random_matrix(generator, count, 1), weights = random_matrix(generator, count, 1);
  const Matrix first = Matrix::Constant(count, 1, is_hidden ? noise * noise : 0.0);
  const Matrix last = Matrix::Constant(1, count, is_hidden ? 0.0 : noise * noise);
  const double bias = has_bias ? 0.25 * noise * noise : 0.0;
  std::vector<DenseLayer> layers;
  layers.emplace_back("first", hidden, Vector::Zero(count), MeanFieldWeights{first, {}},
                      IndependentBias{Vector::Zero(count)});
  layers.emplace_back("last", weights.transpose(), Vector::Zero(1), MeanFieldWeights{last, {}},
                      IndependentBias{Vector::Constant(1, bias)});
  const Network network(std::move(layers), {ActivationMap(), ActivationMap(Activation(F::Identity))},
                        {Mask(), Mask::bernoulli(rate)});
  // Given the masks the output is normal.
  LineLawOf<double> truth;
  for (int masks = 0; masks < 1 << count; ++masks) {
    double weight = 1.0, mean = 0.0, variance = bias;
    for (Index j = 0; j < count; ++j) {
      const bool kept = (masks >> j) % 2 == 1;
      weight *= kept ? 1.0 - rate : rate;
      if (!kept) continue;
      const double factor = 1.0 / (1.0 - rate), other = is_hidden ? weights(j) : hidden(j);
      mean += factor * hidden(j) * weights(j);
      variance += std::pow(factor * other * noise, 2);
    }
    truth.weights.push_back(weight);
    truth.means.push_back(mean);
    truth.deviations.push_back(std::sqrt(variance) + 1e-12);
  }
  Options options;
  options.threads = 1;
  const Result result = certify(network, Vector::Ones(1), options).front();
  const double distance = quantile_distance(truth, plain_law(result.mixture), 1000);
  EXPECT_GE(result.w2.value, distance * (1.0 - 1e-3) - 1e-9);
  // Where the law was computed next to nothing but the distance itself is left. Not where kept neurons are
  // far wider than the bias, as at rate 0.9: what is narrow needs high frequencies, and (Y.3) has no rule for
  // wide neurons there.
  const std::string theorem = result.layers.back().theorem;
  const double widest = is_hidden ? noise * weights.cwiseAbs().maxCoeff() / (1.0 - rate) : 0.0;
  if (theorem == "D.8" && widest < 28.0 * std::sqrt(bias)) {
    EXPECT_LE(result.w2.value, 1.2 * distance + 0.05 * truth.deviation());
  }
  return theorem;
}

RegressionBounds regression_bounds(std::uint64_t seed, double rate) {
  Generator generator = make_generator(seed, Stream::Example, 80);
  const Vector hidden = random_matrix(generator, 64, 1), weights = 0.125 * random_matrix(generator, 64, 1);
  const Network network = masked_network(hidden, weights, 0.3, rate, F::Relu);
  const auto certified = [&](Index components, TheoremSet theorems) {
    Options options;
    options.threads = 1;
    options.method = Method::Moment;
    options.components = components;
    options.theorems = theorems;
    return certify(network, Vector::Ones(1), options).front();
  };
  const Result one = certified(1, TheoremSet::All), fitted = certified(5, TheoremSet::All);
  RegressionBounds bounds;
  bounds.coupled = certified(1, TheoremSet::Coupling).w2.value;
  bounds.one = one.w2.value;
  bounds.fitted = fitted.w2.value;
  bounds.milliseconds = 1e3 * fitted.seconds;
  // On a fine lattice, by the triangle inequality.
  const MaskedSum sum{hidden.cwiseMax(0.0).cwiseProduct(weights), rate};
  const LatticeLaw law = lattice_law(sum, {20, 30});
  const double deviation = std::sqrt(one.mixture.component(0).covariance.variances()(0));
  const UpperBound fine = distance_to_gaussians(law, {{1.0}, {0.0}, {deviation}});
  bounds.least = 2.0 * fine.nominal - fine.upper;
  return bounds;
}

}  // namespace mixcert::testing
