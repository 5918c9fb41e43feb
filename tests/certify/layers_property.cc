// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks of moment_case() with masks, skips and other weight laws added; moment and signature method, the
// paper's mode included, against samples.
#include "certify/layers_property.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "certify/moment_property.h"
#include "certify/small_networks.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace {

struct Summary {
  Index bounds = 0;
  Index positive = 0;
  double smallest_ratio = std::numeric_limits<double>::infinity();
  Index scalar = 0;
  Index coupled = 0;
};

EntryLaw random_law(Generator& generator) {
  using F = EntryLaw::Family;
  switch (generator() % 6) {
    case 0:
      return EntryLaw(F::Laplace);
    case 1:
      return EntryLaw(F::Uniform);
    case 2:
      return EntryLaw(F::StudentT, 5.0);
    default:
      return {};
  }
}

DenseLayer with_laws(const DenseLayer& layer, Generator& generator) {
  WeightCovariance weights = layer.weights();
  BiasCovariance bias = layer.bias();
  if (auto* law = std::get_if<MeanFieldWeights>(&weights)) law->law = random_law(generator);
  if (auto* law = std::get_if<IndependentBias>(&bias)) law->law = random_law(generator);
  return {layer.name(), layer.weight_mean(), layer.bias_mean(), std::move(weights), std::move(bias)};
}

Mask random_mask(Generator& generator) {
  const double rate = std::vector<double>{0.5, 0.1, 0.02, 0.8}[generator() % 4];
  const auto kind = generator() % 3;
  return kind == 0 ? Mask() : kind == 1 ? Mask::bernoulli(rate) : Mask::gaussian(rate);
}

Network decorated(const Network& plain, Generator& generator) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  for (Index k = 0; k < plain.layer_count(); ++k) {
    layers.push_back(generator() % 2 == 0 ? with_laws(plain.layer(k), generator) : plain.layer(k));
    masks.push_back(k == 0 ? Mask() : random_mask(generator));
    std::vector<bool> unchanged;
    if (k > 0 && generator() % 3 == 0) {
      for (Index j = 0; j < plain.layer(k).inputs(); ++j) unchanged.push_back(generator() % 2 == 0);
    }
    activations.emplace_back(plain.activation(k).common(), std::move(unchanged));
  }
  return {std::move(layers), std::move(activations), std::move(masks)};
}

Services all_services() {
  Services services;
  services.statistics = statistics_service(nullptr);
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  return services;
}

void check_against_samples(const Result& result, const Matrix& samples, Summary& summary) {
  ASSERT_TRUE(result.w2.exists());
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  const double lower = gelbrich_lower_bound(samples, result.mixture, 11, 0).lower;
  EXPECT_GE(result.w2.value, lower);
  ++summary.bounds;
  if (lower > 0.0) {
    ++summary.positive;
    summary.smallest_ratio = std::min(summary.smallest_ratio, result.w2.value / lower);
  }
  if (samples.rows() != 1) return;
  const EmpiricalDistance estimate = empirical_distance(samples, result.mixture, 13, 0);
  // Where the mixture is a point the floor is zero, but the mean square of the samples about it still
  // fluctuates.
  const Eigen::ArrayXd squares = (samples.array() - result.mixture.mean()(0)).square().transpose();
  const double fluctuation =
      std::sqrt((squares - squares.mean()).square().mean() / static_cast<double>(samples.cols()));
  const double error = Tolerance::standard_errors * fluctuation / (2.0 * estimate.distance + 1e-300);
  EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor - error);
  ++summary.scalar;
}

void check_case(std::uint64_t index, Index samples, Summary& summary) {
  Generator generator = make_generator(index, Stream::Example, 5005);
  const MomentCase base = moment_case(index);
  const Network network = decorated(base.network, generator);
  SimulationOptions simulation;
  simulation.samples = samples;
  simulation.seed = 7;
  simulation.threads = 1;
  const Matrix drawn = simulate(network, base.input, 0, simulation);
  Options options;
  options.threads = 1;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.pieces = index % 2 == 0 ? 1 : 8;
  options.statistics = 2000;
  const Result moment = certify(network, base.input, options, all_services()).front();
  check_against_samples(moment, drawn, summary);
  if (moment.statistics && std::isfinite(moment.statistics->w2_upper_statistical)) {
    EXPECT_LE(moment.statistics->w2_lower_statistical, moment.statistics->w2_upper_statistical);
    ++summary.coupled;
  }
  for (const CertificateMode mode : {CertificateMode::Best, CertificateMode::Paper}) {
    Options signature;
    signature.threads = 1;
    signature.method = Method::Signature;
    signature.certificate = mode;
    check_against_samples(certify(network, base.input, signature, all_services()).front(), drawn, summary);
  }
}

}  // namespace

void check_layer_properties(Index networks, Index samples) {
  Summary summary;
  for (Index i = 0; i < networks && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    check_case(static_cast<std::uint64_t>(i), samples, summary);
  }
  std::printf(
      "layer properties: %td networks, %td bounds, %td samples each (%td by sorting); smallest bound / lower "
      "bound "
      "%.4g over %td positive lower bounds; %td couplings simulated\n",
      networks, summary.bounds, samples, summary.scalar, summary.smallest_ratio, summary.positive,
      summary.coupled);
}

}  // namespace mixcert::testing
