// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Images of a few pixels through convolutions, pooling, batch norm, residual blocks, dropout and noise, then
// dense layers and mixtures: methods moment, signature (best and paper) and auto may not claim less than
// Gelbrich's lower bound, nor, for one output, less than the distance by sorting.
#include "certify/layer_types_property.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/matchers.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

struct Summary {
  Index bounds = 0;
  Index positive = 0;
  Index scalar = 0;
  double smallest_ratio = std::numeric_limits<double>::infinity();
  std::set<std::string> types;
};

/// A list that grows layer by layer.
class ListMaker {
 public:
  explicit ListMaker(std::uint64_t seed) : generator_(make_generator(seed, Stream::Example, 6006)) {
    shape_.channels = random_index(generator_, 1, 2);
    shape_.image = {random_index(generator_, 2, 4), random_index(generator_, 2, 4)};
    shape_.is_image = true;
    inputs_ = shape_.size();
  }

  std::vector<LayerSpec> make() {
    add(random_convolution(generator_, shape_, uniform(generator_) < 0.5, name()));
    for (Index i = random_index(generator_, 1, 3); i > 0; --i) add_image_layer();
    add(activation_spec(pick_activation()));
    add_random_factor();
    add(FlattenSpec{});
    const Index hidden = random_index(generator_, 2, 6);
    add(DenseSpec{dense(hidden)});
    add(activation_spec(pick_activation()));
    add_random_factor();
    const Index outputs = random_index(generator_, 1, 2);
    if (uniform(generator_) < 0.2) {
      add(MixtureSpec{{0.25, 0.75}, {{dense(outputs)}, {dense(outputs)}}});
    } else {
      add(DenseSpec{dense(outputs)});
    }
    return layers_;
  }

  Vector input() { return 0.7 * random_vector(generator_, inputs_); }

 private:
  std::string name() { return "layer" + std::to_string(layers_.size()); }

  void add(LayerSpec spec) {
    shape_ = shape_after(spec, shape_);
    layers_.push_back(std::move(spec));
  }

  ActivationFunction pick_activation() {
    const auto& all = all_activation_functions();
    return all[static_cast<std::size_t>(random_index(generator_, 0, static_cast<Index>(all.size()) - 1))];
  }

  void add_image_layer() {
    switch (random_index(generator_, 0, 6)) {
      case 0:
        return add(activation_spec(pick_activation()));
      case 1:
        return add(AvgPool2dSpec{random_window(generator_, shape_.image, true)});
      case 2:
        return add(MaxPool2dSpec{random_window(generator_, shape_.image, true)});
      case 3:
        return add(random_batch_norm(generator_, shape_.channels, name()));
      case 4:
        return add(ResidualSpec{{activation_spec(ActivationFunction::Relu),
                                 same_convolution(generator_, shape_, uniform(generator_) < 0.5, name())}});
      case 5:
        return add(random_convolution(generator_, shape_, true, name()));
      default:
        return add_random_factor();
    }
  }

  void add_random_factor() {
    const double rate = uniform(generator_) < 0.5 ? 0.5 : 0.1;
    const double choice = uniform(generator_);
    if (choice < 0.3) add(DropoutSpec{rate});
    if (choice >= 0.3 && choice < 0.45) add(GaussianDropoutSpec{rate});
    if (choice >= 0.45 && choice < 0.6) add(GaussianNoiseSpec{0.2});
  }

  DenseLayer dense(Index outputs) {
    DenseLayer layer = random_layer(
        generator_, {uniform(generator_) < 0.3 ? WeightFamily::Deterministic : WeightFamily::MeanField,
                     BiasFamily::Independent, shape_.size(), outputs, 1.0, 0.4});
    WeightCovariance weights = layer.weights();
    auto* law = std::get_if<MeanFieldWeights>(&weights);
    if (law != nullptr && uniform(generator_) < 0.3) law->law = EntryLaw(EntryLaw::Family::Laplace);
    return {name() + std::to_string(outputs) + std::to_string(dense_count_++), layer.weight_mean(),
            layer.bias_mean(), std::move(weights), layer.bias()};
  }

  Generator generator_;
  LayerShape shape_;
  Index inputs_ = 0;
  int dense_count_ = 0;
  std::vector<LayerSpec> layers_;
};

void check_bound(const Result& result, const Matrix& samples, Summary& summary) {
  ASSERT_TRUE(result.w2.exists());
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  const double lower = gelbrich_lower_bound(samples, result.mixture, 11, 0).lower;
  EXPECT_GE(result.w2.value, lower);
  EXPECT_LE(result.w1.value, result.w2.value);
  ++summary.bounds;
  if (lower > 0.0) {
    ++summary.positive;
    summary.smallest_ratio = std::min(summary.smallest_ratio, result.w2.value / lower);
  }
  if (samples.rows() != 1 || result.mixture.standard_deviation()(0) == 0.0) return;
  const EmpiricalDistance estimate = empirical_distance(samples, result.mixture, 13, 0);
  EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor);
  ++summary.scalar;
}

void check_list(std::uint64_t seed, Index samples, Summary& summary) {
  ListMaker maker(seed);
  const std::vector<LayerSpec> layers = maker.make();
  for (const LayerSpec& layer : layers) summary.types.insert(std::string(type_name(layer)));
  const Ensemble ensemble = build_ensemble(layers);
  const Vector input = maker.input();
  SimulationOptions simulation;
  simulation.samples = samples;
  simulation.seed = 5;
  simulation.threads = 1;
  const Matrix drawn = simulate(ensemble, input, 0, simulation);
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  const auto check = [&](Method method, CertificateMode mode) {
    Options options;
    options.threads = 1;
    options.method = method;
    if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
    options.certificate = mode;
    if (method == Method::Moment && seed % 2 == 0) options.pieces = 6;
    check_bound(certify(ensemble, input, options, services).front(), drawn, summary);
  };
  check(Method::Moment, CertificateMode::Best);
  check(Method::Signature, CertificateMode::Best);
  check(Method::Signature, CertificateMode::Paper);
}

}  // namespace

void check_layer_types(Index lists, Index samples) {
  Summary summary;
  for (Index i = 0; i < lists && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE("list " + std::to_string(i));
    check_list(static_cast<std::uint64_t>(i), samples, summary);
  }
  std::printf(
      "layer types: %td lists of %zu types, %td bounds, %td samples each (%td by sorting); smallest bound / "
      "lower "
      "bound %.4g over %td positive lower bounds\n",
      lists, summary.types.size(), summary.bounds, samples, summary.scalar, summary.smallest_ratio,
      summary.positive);
}

}  // namespace mixcert::testing
