// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Prints one line for each of several hundred configurations: its name, a fingerprint of everything that
// certification returned, and the bound in hexadecimal. A change that must not change results is made between
// two runs of this program on one machine with one compiler; the outputs are then compared with diff.
//     result_bits [THREADS] > before.txt
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "bits/digest.h"
#include "certify/moment_property.h"
#include "certify/small_networks.h"
#include "gradient/moment/moment_gradient.h"
#include "mixcert/gradient/objective.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

int threads = 1;

Options options_of(Method method) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  options.threads = threads;
  return options;
}

const std::vector<Method>& all_methods() {
  static const std::vector<Method> methods = {Method::Auto, Method::Moment, Method::Signature, Method::Cross};
  return methods;
}

/// One line; a refusal is a result too.
template <class Compute>
void line(const std::string& name, const Compute& compute) {
  Digest digest;
  double bound = 0.0;
  try {
    bound = compute(digest);
  } catch (const std::exception& error) {
    digest.add(std::string_view(error.what()));
    bound = -1.0;
  }
  std::printf("%s %016llx %a\n", name.c_str(), static_cast<unsigned long long>(digest.value()), bound);
}

Services all_services() {
  Services services;
  services.statistics = statistics_service();
  services.ensemble_statistics = ensemble_statistics_service();
  services.mixture_plan = [](const GaussianMixture& a, const GaussianMixture& b) {
    return mixture_transport(a, b).plan.entries;
  };
  return services;
}

void certified(const std::string& name, const Ensemble& ensemble, const Matrix& inputs,
               const Options& options) {
  line(name, [&](Digest& digest) {
    const std::vector<Result> results = certify(ensemble, inputs, options, all_services());
    for (const Result& result : results) digest.add(result);
    return results.front().w2.value;
  });
}

void explained(const std::string& name, const Ensemble& ensemble, const Matrix& inputs,
               const Options& options) {
  line("explain " + name, [&](Digest& digest) {
    const Explanation explanation = explain(ensemble, inputs, options, all_services());
    digest.add(explanation.contributions);
    return explanation.result.w2.value;
  });
}

Matrix inputs_of(Index features, Index count, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, 909);
  return random_matrix(generator, features, count);
}

ActivationFunction activation_number(std::size_t i) {
  constexpr std::size_t kOldest = 10;  // so that fingerprints of earlier commits can be compared with
  return all_activation_functions()[i % kOldest];
}

Network network_number(std::size_t i, WeightFamily family, std::vector<Index> widths,
                       double deviation = 0.3) {
  NetworkRecipe recipe;
  recipe.widths = std::move(widths);
  recipe.weights = family;
  recipe.bias = all_bias_families()[i % all_bias_families().size()];
  recipe.activation = activation_number(i);
  recipe.deviation = deviation;
  recipe.seed = i;
  return random_network(recipe);
}

void families_and_methods() {
  const std::vector<std::vector<Index>> shapes = {
      {2, 7, 1}, {2, 7, 3}, {3, 6, 5, 1}, {3, 6, 5, 2}, {2, 5, 4, 6, 2}};
  std::size_t number = 0;
  for (const WeightFamily family : all_weight_families()) {
    for (const auto& shape : shapes) {
      const Network network = network_number(number, family, shape);
      const Matrix inputs = inputs_of(shape.front(), 2, number);
      const std::string name = to_string(family) + "-" + std::to_string(number);
      for (const Method method : all_methods())
        certified(name + " " + std::string(to_string(method)), Ensemble(network), inputs, options_of(method));
      explained(name, Ensemble(network), inputs.leftCols(1),
                options_of(number % 3 == 0 ? Method::Signature : Method::Auto));
      ++number;
    }
  }
}

void odd_networks() {
  for (std::uint64_t i = 0; i < 60; ++i) {
    const MomentCase tested = moment_case(i);
    Options split = options_of(Method::Moment);
    split.pieces = tested.pieces;
    certified("case-" + std::to_string(i) + " moment", Ensemble(tested.network), tested.input, split);
    certified("case-" + std::to_string(i) + " auto", Ensemble(tested.network), tested.input,
              options_of(Method::Auto));
  }
}

/// Wide enough for every theorem to be the smallest somewhere.
void wide_networks() {
  const std::vector<std::vector<Index>> shapes = {
      {2, 48, 1}, {2, 48, 2}, {2, 48, 3}, {2, 32, 32, 1}, {2, 32, 32, 2}, {2, 40, 24, 3}, {2, 16, 24, 24, 1}};
  std::size_t number = 200;
  for (const auto& shape : shapes) {
    for (const double deviation : {0.1, 0.3, 0.8}) {
      for (int repeat = 0; repeat < 3; ++repeat, ++number) {
        NetworkRecipe recipe;
        recipe.widths = shape;
        recipe.activation = repeat == 0 ? ActivationFunction::Relu : activation_number(number);
        recipe.deviation = deviation;
        recipe.seed = number;
        const Network network = random_network(recipe);
        const std::string name = "wide-" + std::to_string(number);
        const Matrix inputs = inputs_of(2, 2, number);
        certified(name + " auto", Ensemble(network), inputs, options_of(Method::Auto));
        explained(name, Ensemble(network), inputs.leftCols(1), options_of(Method::Auto));
      }
    }
  }
}

void every_option() {
  const Network network = network_number(1, WeightFamily::MeanField, {2, 8, 6, 2});
  const Matrix inputs = inputs_of(2, 2, 5);
  for (const CertificateMode mode :
       {CertificateMode::Best, CertificateMode::Metric, CertificateMode::Expected, CertificateMode::Paper}) {
    for (const GridPlacement grid : {GridPlacement::Adaptive, GridPlacement::Uniform}) {
      Options options = options_of(Method::Signature);
      options.certificate = mode;
      options.grid = grid;
      certified("option " + std::string(to_string(mode)) + " " + std::string(to_string(grid)),
                Ensemble(network), inputs, options);
    }
  }
  for (const Method method : {Method::Auto, Method::Moment, Method::Signature}) {
    const std::string name = "option " + std::string(to_string(method));
    Options options = options_of(method);
    options.epsilon = 0.2;
    options.max_components = 40;
    certified(name + " epsilon", Ensemble(network), inputs, options);
    options = options_of(method);
    options.statistics = 500;
    certified(name + " statistics", Ensemble(network), inputs, options);
    if (method == Method::Signature) continue;
    options = options_of(method);
    options.sensitivity = SensitivityMode::Sdp;
    certified(name + " sdp", Ensemble(network), inputs, options);
    options = options_of(method);
    options.pieces = 6;
    certified(name + " pieces", Ensemble(network), inputs, options);
    explained(name + " pieces", Ensemble(network), inputs.leftCols(1), options);
  }
}

void joint_laws() {
  std::size_t number = 100;
  for (const WeightFamily family :
       {WeightFamily::Deterministic, WeightFamily::MeanField, WeightFamily::Kronecker}) {
    for (const std::vector<Index>& shape : {std::vector<Index>{2, 6, 1}, {2, 6, 2}, {2, 5, 4, 2}}) {
      for (const Method method : all_methods()) {
        Options options = options_of(method);
        options.joint = true;
        const Network network = network_number(number, family, shape);
        const std::string name = "joint " + to_string(family) + "-" + std::to_string(number) + " " +
                                 std::string(to_string(method));
        certified(name, Ensemble(network), inputs_of(2, 3, number), options);
        if (method == Method::Auto) explained(name, Ensemble(network), inputs_of(2, 3, number), options);
      }
      ++number;
    }
  }
}

/// Convolutions, pooling, normalisation, dropout and noise, a residual block and a mixture of dense layers.
std::vector<LayerSpec> image_layers(std::uint64_t number) {
  Generator generator = make_generator(number, Stream::Example, 910);
  LayerShape shape;
  shape.channels = 1;
  shape.image = {4, 4};
  shape.is_image = true;
  std::vector<LayerSpec> layers;
  const auto add = [&](LayerSpec spec) {
    shape = shape_after(spec, shape);
    layers.push_back(std::move(spec));
  };
  add(random_convolution(generator, shape, number % 2 == 0, "conv"));
  if (number % 3 == 0) add(random_batch_norm(generator, shape.channels));
  if (number % 3 == 1) add(ResidualSpec{{same_convolution(generator, shape, false)}});
  add(activation_spec(activation_number(number)));
  if (number % 4 == 1) add(DropoutSpec{0.25});
  if (number % 4 == 2) add(GaussianNoiseSpec{0.1});
  add(FlattenSpec{});
  const Index flat = shape.size();
  add(DenseSpec{
      random_layer(generator, {WeightFamily::MeanField, BiasFamily::Independent, flat, 4}, "dense")});
  add(activation_spec(activation_number(number + 3)));
  if (number % 2 == 1) add(GaussianDropoutSpec{0.3});
  const DenseSpec head{
      random_layer(generator, {WeightFamily::MeanField, BiasFamily::Independent, 4, 2}, "head")};
  if (number % 5 == 0) {
    add(MixtureSpec{{0.25, 0.75}, {head, head}});
  } else {
    add(head);
  }
  return layers;
}

void layers_and_masks() {
  for (std::uint64_t number = 0; number < 12; ++number) {
    const Ensemble ensemble = build_ensemble(image_layers(number));
    for (const Method method : all_methods())
      certified("image-" + std::to_string(number) + " " + std::string(to_string(method)), ensemble,
                inputs_of(16, 1, number), options_of(method));
  }
  for (std::size_t number = 0; number < 6; ++number) {
    const Network plain = network_number(
        number, number % 2 == 0 ? WeightFamily::Deterministic : WeightFamily::MeanField, {2, 5, 4, 2});
    const Network network =
        with_masks(plain, {Mask(), number < 3 ? Mask::bernoulli(0.3) : Mask(), Mask::bernoulli(0.5)});
    for (const Method method : {Method::Auto, Method::Moment, Method::Signature}) {
      Options options = options_of(method);
      if (method == Method::Moment) options.pieces = 8;
      certified("mask-" + std::to_string(number) + " " + std::string(to_string(method)), Ensemble(network),
                inputs_of(2, 1, number), options);
    }
    explained("mask-" + std::to_string(number), Ensemble(network), inputs_of(2, 1, number),
              options_of(Method::Auto));
  }
}

void ensembles() {
  const Ensemble ensemble({network_number(1, WeightFamily::MeanField, {3, 6, 5, 2}),
                           network_number(2, WeightFamily::Kronecker, {3, 5, 2}),
                           network_number(3, WeightFamily::LowRank, {3, 2})},
                          Vector{{0.2, 0.5, 0.3}});
  for (const Method method : all_methods()) {
    Options options = options_of(method);
    certified("ensemble " + std::string(to_string(method)), ensemble, inputs_of(3, 2, 1), options);
    options.statistics = 300;
    if (method != Method::Cross)
      certified("ensemble statistics " + std::string(to_string(method)), ensemble, inputs_of(3, 2, 1),
                options);
  }
}

void gradients() {
  for (std::size_t number = 0; number < 10; ++number) {
    const Network network =
        network_number(3 * number + 1, WeightFamily::MeanField,
                       number % 2 == 0 ? std::vector<Index>{2, 6, 2} : std::vector<Index>{2, 5, 4, 1});
    const Matrix inputs = inputs_of(2, 2, number);
    line("gradient bound-" + std::to_string(number), [&](Digest& digest) {
      const MomentBound bound(network, inputs.col(0));
      digest.add(bound.gradient(1.0));
      return bound.bound();
    });
    for (const Method method : {Method::Moment, Method::Signature}) {
      line("gradient objective-" + std::to_string(number) + " " + std::string(to_string(method)),
           [&](Digest& digest) {
             ObjectiveOptions options;
             options.method = method;
             options.beta = 0.3;
             options.components = 2;
             const Index size = 2 * network.outputs();
             const GaussianMixture target(
                 Gaussian{Vector::Constant(size, 0.25), Covariance::diagonal(Vector::Constant(size, 0.5))});
             const ObjectiveValue value = evaluate_objective(network, inputs, target, options, true);
             digest.add(value.mixture);
             digest.add(value.gradient);
             digest.add(value.distance);
             return value.bound;
           });
    }
  }
}

}  // namespace
}  // namespace mixcert::testing

int main(int argc, char** argv) {
  using namespace mixcert::testing;
  if (argc > 1) threads = std::atoi(argv[1]);
  families_and_methods();
  odd_networks();
  wide_networks();
  every_option();
  joint_laws();
  layers_and_masks();
  ensembles();
  gradients();
  return 0;
}
