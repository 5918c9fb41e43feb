// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Method coupled: convolutional networks by draws, without a matrix, docs/theory/graphs.md.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "mixcert/certify/certify.h"
#include "mixcert/certify/explain.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/simulated/simulation_service.h"
#include "mixcert/statistics/simulate.h"
#include "network/graph/layer_graph.h"
#include "simulated/graph_cases.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace coupled_method_test {

Services all_services() {
  Services services;
  services.statistics = statistics_service();
  services.simulation = simulation_service();
  services.coupled = coupled_service();
  return services;
}

/// conv, relu, max pool, residual block, dense: `rate` of dropout in front of the last layer.
std::vector<LayerSpec> layers_of(double rate, double noise) {
  Generator generator = make_generator(4, Stream::Example, 2920);
  const LayerShape shape{2, {6, 6}, true};
  Conv2dSpec first = same_convolution(generator, shape, true, "first"),
             inner = same_convolution(generator, {2, {3, 3}, true}, true, "inner");
  for (Conv2dSpec* spec : {&first, &inner}) {
    spec->kernel_mean *= 0.4;
    spec->kernel_variance = Vector::Constant(spec->kernel_mean.size(), noise * noise);
    spec->bias_variance = Vector();
  }
  std::vector<LayerSpec> layers = {
      first, activation_spec(ActivationFunction::Relu), MaxPool2dSpec{{{2, 2}, {2, 2}, {0, 0}, {1, 1}}},
      ResidualSpec{{inner, activation_spec(ActivationFunction::Tanh)}}, FlattenSpec{}};
  if (rate > 0.0) layers.emplace_back(DropoutSpec{rate});
  layers.emplace_back(
      DenseSpec{DenseLayer("head", 0.3 * random_matrix(generator, 3, 18), Vector::Zero(3),
                           MeanFieldWeights{Matrix::Constant(3, 18, noise * noise)}, DeterministicBias{})});
  return layers;
}

Matrix inputs_of() {
  Generator generator = make_generator(5, Stream::Example, 2921);
  return random_matrix(generator, 72, 2);
}

TEST(CoupledMethod, IsWhatSimulationOfConvolutionsMeans) {
  const Network network = build_network(layers_of(0.0, 0.03));
  ASSERT_NE(network.graph(), nullptr);
  Options options;
  options.simulate = true;
  options.draws = 8192;
  options.statistics = 2000;
  const std::vector<Result> results = certify(network, inputs_of(), options, all_services());
  ASSERT_EQ(results.size(), 2U);
  for (const Result& result : results) {
    EXPECT_EQ(result.method, Method::Coupled);
    // Beside it the formal bound of the same Gaussian (O.15).
    ASSERT_TRUE(result.w2.exists());
    EXPECT_GE(result.w2.value, result.statistics->w2_lower_statistical);
    ASSERT_TRUE(result.simulated && result.simulated->exists()) << result.simulated->gap;
    EXPECT_EQ(result.simulated->theorem, "O.7");
    EXPECT_GE(result.simulated->w2, result.simulated->coupled_cost);
    ASSERT_TRUE(result.statistics.has_value());
    EXPECT_GE(result.simulated->w2, result.statistics->w2_lower_statistical);
    EXPECT_GE(result.statistics->w2_upper_statistical, result.statistics->coupled_cost);
    // The formal chain of the same network: matrices, and another Gaussian of the same law.
    Options formal;
    formal.method = Method::Moment;
    const Result expanded = certify(network, inputs_of().col(result.input), formal, all_services()).front();
    const double apart = (expanded.mixture.mean() - result.mixture.mean()).norm();
    EXPECT_LE(apart, expanded.w2.value + result.simulated->w2);
    EXPECT_NEAR(expanded.mixture.standard_deviation()(0), result.mixture.standard_deviation()(0),
                0.05 * expanded.mixture.standard_deviation()(0));
  }
}

TEST(CoupledMethod, HasTheSameBitsInAQueueAndOnManyThreads) {
  const Ensemble ensemble = build_ensemble(layers_of(0.0, 0.03));
  Options options;
  options.method = Method::Coupled;
  options.simulate = true;
  options.draws = 2048;
  const std::vector<Result> plain = certify(ensemble, inputs_of(), options, all_services());
  options.threads = 2;
  Index next = 0;
  std::vector<double> bounds(2);
  certify_queue(
      ensemble, inputs_of(), options,
      [&](Index) { return next < 2 ? std::vector<Index>{next++} : std::vector<Index>{}; },
      [&](Result&& result) { bounds[static_cast<std::size_t>(result.input)] = result.simulated->w2; },
      all_services());
  EXPECT_EQ(bounds[0], plain[0].simulated->w2);
  EXPECT_EQ(bounds[1], plain[1].simulated->w2);
}

TEST(CoupledMethod, CertifiesBehindDropout) {
  const Network network = build_network(layers_of(0.2, 0.03));
  Options options;
  options.method = Method::Coupled;
  options.simulate = true;
  options.draws = 2048;
  options.statistics = 500;
  const Result result = certify(network, inputs_of(), options, all_services()).front();
  ASSERT_TRUE(result.simulated.has_value());
  ASSERT_TRUE(result.simulated->exists()) << result.simulated->gap;
  EXPECT_EQ(result.simulated->theorem, "O.22");
  EXPECT_GT(result.simulated->w2, result.statistics->w2_lower_statistical);
  EXPECT_GT(result.statistics->w2_upper_statistical, result.statistics->w2_lower_statistical);
  // Its moments are those of the network all the same.
  const Matrix samples = simulate(network, inputs_of().col(0), 0, {20000, 7});
  const Vector mean = samples.rowwise().mean();
  const double deviation = std::sqrt((samples.row(0).array() - mean(0)).square().mean());
  EXPECT_NEAR(result.mixture.mean()(0), mean(0), 0.1 * deviation);
  EXPECT_NEAR(result.mixture.standard_deviation()(0), deviation, 0.1 * deviation);
}

TEST(CoupledMethod, RefusesDenseNetworksAndOptionsWithoutUse) {
  Generator generator = make_generator(6, Stream::Example, 1);
  const Network dense({DenseLayer("a", random_matrix(generator, 2, 2), Vector::Zero(2),
                                  DeterministicWeights{}, DeterministicBias{})},
                      {ActivationMap()});
  Options options;
  options.method = Method::Coupled;
  EXPECT_THROW((void)certify(dense, Matrix::Ones(2, 1), options, all_services()), InvalidArgument);
  options.epsilon = 0.1;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

TEST(CoupledMethod, CertifiesWhatIsTooLargeToWriteOut) {
  Generator generator = make_generator(8, Stream::Example, 1);
  const LayerShape shape{8, {40, 40}, true};
  Conv2dSpec first = same_convolution(generator, {1, {40, 40}, true}, true, "first");
  first.out = 8;
  fill_convolution(generator, first, true);
  first.kernel_mean *= 0.2;
  first.kernel_variance = Vector::Constant(first.kernel_mean.size(), 1e-6);
  Conv2dSpec second = same_convolution(generator, shape, true, "second");
  second.kernel_mean *= 0.1;
  second.kernel_variance = Vector::Constant(second.kernel_mean.size(), 1e-6);
  const LayerSpec relu = activation_spec(ActivationFunction::Relu);
  const Network network = build_network(
      {first, relu, second, relu, AvgPool2dSpec{{{40, 40}, {1, 1}, {0, 0}, {1, 1}}}, FlattenSpec{},
       DenseSpec{DenseLayer("head", random_matrix(generator, 2, 8), Vector::Zero(2), DeterministicWeights{},
                            DeterministicBias{})}},
      {}, {std::uint64_t{1} << 27U});
  Options options;
  options.simulate = true;
  options.draws = 1024;
  const Result result = certify(network, Matrix::Ones(1600, 1), options, all_services()).front();
  EXPECT_TRUE(result.simulated->exists()) << result.simulated->gap;
  // Formally it stays a graph.
  const Result formal = certify(network, Matrix::Ones(1600, 1), Options{}, all_services()).front();
  EXPECT_EQ(formal.method, Method::Moment);
  EXPECT_GE(formal.w2.value, 0.0);
  const double apart = (formal.mixture.mean() - result.mixture.mean()).norm();
  EXPECT_LE(apart, formal.w2.value + result.simulated->w2);
}

TEST(CoupledMethod, SaysWhatToDoWhereNothingFormalFits) {
  const Network network = build_network(layers_of(0.2, 0.03), {}, {std::uint64_t{1} << 13U});
  try {
    (void)certify(network, inputs_of(), Options{}, all_services());
    ADD_FAILURE() << "no exception";
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("certify --simulate"), std::string::npos) << error.what();
  }
}

/// On 2 x 4 x 4 images, with little noise.
Conv2dSpec quiet_convolution(Generator& generator, const std::string& name) {
  Conv2dSpec spec = same_convolution(generator, {2, {4, 4}, true}, true, name);
  spec.kernel_mean *= 0.3;
  spec.kernel_variance = Vector::Constant(spec.kernel_mean.size(), 1e-4);
  spec.bias_variance = Vector();
  return spec;
}

TEST(GraphMethod, CertifiesWhatHasNoCanonicalForm) {
  Generator generator = make_generator(9, Stream::Example, 2922);
  const Conv2dSpec skip = quiet_convolution(generator, "skip"), inner = quiet_convolution(generator, "inner");
  const Network network = build_network(
      {ResidualSpec{{inner, activation_spec(ActivationFunction::Relu)}, {skip}},
       activation_spec(ActivationFunction::Relu), FlattenSpec{},
       DenseSpec{DenseLayer("head", 0.3 * random_matrix(generator, 2, 32), Vector::Zero(2),
                            MeanFieldWeights{Matrix::Constant(2, 32, 1e-4)}, DeterministicBias{})}});
  const Vector input = random_vector(generator, 32);
  Options options;
  options.statistics = 2000;
  const Result result = certify(network, input, options, all_services()).front();
  ASSERT_TRUE(result.w2.exists());
  EXPECT_GE(result.w2.value, result.statistics->w2_lower_statistical);
  EXPECT_LE(result.relative_w2, 0.3);
}

/// A convolution in the skip of a block, or channel dropout, which has no canonical form. One activation, and
/// a head behind it.
std::vector<LayerSpec> layers_with_skip(double channel_rate) {
  Generator generator = make_generator(10, Stream::Example, 2923);
  const Conv2dSpec skip = quiet_convolution(generator, "skip"), inner = quiet_convolution(generator, "inner");
  std::vector<LayerSpec> layers = {ResidualSpec{{inner, activation_spec(ActivationFunction::Relu)}, {skip}}};
  if (channel_rate > 0.0)
    layers = {inner, activation_spec(ActivationFunction::Relu), Dropout2dSpec{channel_rate}};
  layers.emplace_back(FlattenSpec{});
  layers.emplace_back(
      DenseSpec{DenseLayer("head", 0.3 * random_matrix(generator, 2, 32), Vector::Zero(2),
                           MeanFieldWeights{Matrix::Constant(2, 32, 1e-4)}, DeterministicBias{})});
  return layers;
}

TEST(CoupledMethod, TakesSkipsWithLayersAndDroppedChannelsWhereSimulationIsAskedFor) {
  for (const double rate : {0.0, 0.3}) {
    SCOPED_TRACE(rate);
    const Network network = build_network(layers_with_skip(rate));
    ASSERT_EQ(network.graph()->has_canonical_form(), rate == 0.0);
    Options options;
    options.simulate = true;
    options.draws = 8192;
    const Result result = certify(network, Vector::Ones(32), options, all_services()).front();
    EXPECT_EQ(result.method, Method::Coupled);
    ASSERT_TRUE(result.simulated->exists()) << result.simulated->gap;
    EXPECT_EQ(result.simulated->theorem, rate == 0.0 ? "O.7" : "O.22");
    EXPECT_EQ(result.w2.exists(), rate == 0.0);
  }
}

TEST(CoupledMethod, ChannelsOfOnePixelAreNeurons) {
  Generator generator = make_generator(11, Stream::Example, 2924);
  const LayerShape shape{3, {1, 1}, true};
  Conv2dSpec first = same_convolution(generator, shape, true, "first");
  const auto layers = [&](const LayerSpec& mask) {
    return std::vector<LayerSpec>{first, activation_spec(ActivationFunction::Relu), mask, FlattenSpec{},
                                  DenseSpec{DenseLayer("head", Matrix::Ones(1, 3), Vector::Zero(1),
                                                       DeterministicWeights{}, DeterministicBias{})}};
  };
  Options options;
  options.method = Method::Moment;
  const auto bound = [&](const LayerSpec& mask) {
    return certify(build_network(layers(mask)), Vector::Ones(3), options, all_services()).front().w2.value;
  };
  EXPECT_EQ(bound(Dropout2dSpec{0.25}), bound(DropoutSpec{0.25}));
}

TEST(GraphMethod, EnsemblesAndStatisticsWriteNothingOut) {
  const Network network = build_network(layers_with_skip(0.0));
  Services services = all_services();
  services.ensemble_statistics = ensemble_statistics_service();
  Options options;
  options.statistics = 500;
  const Result alone = certify(network, Vector::Ones(32), options, services).front();
  ASSERT_TRUE(alone.w2.exists());
  EXPECT_GE(alone.w2.value, alone.statistics->w2_lower_statistical);
  const Ensemble twice({network, network}, Vector::Constant(2, 0.5));
  const Result both = certify(twice, Vector::Ones(32), options, services).front();
  EXPECT_NEAR(both.w2.value, alone.w2.value, 1e-6 * alone.w2.value);
  EXPECT_EQ(explain(twice, Vector::Ones(32), Options{}, services).contributions.bound, alone.w2.value);
}

TEST(GraphMethod, CertifiesLenetFormally) {
  const Network network = build_network(lenet_layers(0.02, false));
  Options options;
  options.statistics = 500;
  const Result result = certify(network, lenet_input(), options, all_services()).front();
  EXPECT_EQ(result.method, Method::Moment);
  EXPECT_LE(result.relative_w2, 0.142);
  EXPECT_GE(result.w2.value, result.statistics->w2_lower_statistical);
  std::printf("LeNet-5, noise 0.02, formal: %.4f of the output's size\n", result.relative_w2);
  // Other Gaussians of the same network are as near as both bounds say.
  options.method = Method::Coupled;
  options.simulate = true;
  options.draws = 2048;
  const Result drawn = certify(network, lenet_input(), options, all_services()).front();
  EXPECT_TRUE(drawn.w2.exists());
  EXPECT_LE((drawn.mixture.mean() - result.mixture.mean()).norm(), result.w2.value + drawn.simulated->w2);
}

}  // namespace coupled_method_test
}  // namespace mixcert::testing
