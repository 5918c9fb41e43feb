// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks with convolutions, one thread: two 3x3 convolutions with pooling, a dense layer of 128 and ten
// outputs.
//     convolutions [CHANNELS of the first stochastic convolution]
// First with deterministic convolutions and stochastic dense layers at 32x32x3 images, then with stochastic
// convolutions at 8x8x3 images, beside the speed of a matrix product.
//     convolutions draws
// The draws of method coupled against passes forward of the same network with fixed weights.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench_networks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/rng.h"
#include "mixcert/network/network_builder.h"
#include "simulated/graph/graph_coupling.h"
#include "statistics/simulate/normal_source.h"

namespace {

using namespace mixcert;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Conv2dSpec convolution(const std::string& name, Index in, Index out, Index side, bool stochastic,
                       Generator& generator) {
  Conv2dSpec spec{name, in, out, {side, side}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, 1, {}, {}, {}, {}};
  Matrix kernel(9 * in * out, 1);
  fill_normal(generator, kernel);
  const double fan_in = 9.0 * static_cast<double>(in);
  spec.kernel_mean = 1.4 / std::sqrt(fan_in) * kernel.col(0);
  spec.bias_mean = Vector::Zero(out);
  if (stochastic) spec.kernel_variance = Vector::Constant(kernel.size(), 1e-4 / fan_in);
  return spec;
}

/// Convolutions with `first` and 2 * `first` channels.
std::vector<LayerSpec> layers(Index side, Index first, bool stochastic) {
  Generator generator = make_generator(13, Stream::Example);
  const ActivationSpec relu{Activation(ActivationFunction::Relu)};
  const MaxPool2dSpec pool{{{2, 2}, {2, 2}, {0, 0}, {1, 1}}};
  const Index features = 2 * first * side * side / 16;
  const Network dense = mean_field_network({features, 128, 10}, ActivationFunction::Relu);
  return {convolution("c0", 3, first, side, stochastic, generator),
          relu,
          pool,
          convolution("c1", first, 2 * first, side / 2, stochastic, generator),
          relu,
          pool,
          FlattenSpec{},
          DenseSpec{dense.layer(0)},
          relu,
          DenseSpec{dense.layer(1)}};
}

void time_images(const char* what, Index side, Index first, bool stochastic, Index images, Method method) {
  auto start = std::chrono::steady_clock::now();
  const Network network = build_network(layers(side, first, stochastic));
  const Matrix x = uniform_inputs(network.inputs(), images);
  Options options;
  options.threads = 1;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  double bound = 0.0;
  double seconds = 0.0;
  Index results = 0;
  certify(network, x, options, [&](Result&& result) {
    bound += result.relative_w2;
    seconds += result.seconds;
    ++results;
  });
  const double all = seconds_since(start);
  const auto count = static_cast<double>(results);
  std::printf("%s, method %s: %.1f ms per image, %.2f s before the first, mean relative bound %.4g\n", what,
              std::string(to_string(method)).c_str(), 1e3 * seconds / count, all - seconds, bound / count);
}

/// Three stages of three residual blocks with 16, 32 and 64 channels, projections as skips, at 32x32x3.
std::vector<LayerSpec> residual_layers(bool stochastic) {
  Generator generator = make_generator(14, Stream::Example);
  const ActivationSpec relu{Activation(ActivationFunction::Relu)};
  std::vector<LayerSpec> all = {convolution("c", 3, 16, 32, stochastic, generator), relu};
  Index in = 16, side = 32;
  for (const Index out : {16, 32, 64}) {
    for (int block = 0; block < 3; ++block) {
      const Index step = in == out ? 1 : 2;
      const std::string name = std::to_string(out) + std::to_string(block);
      Conv2dSpec first = convolution("a" + name, in, out, side, stochastic, generator);
      first.window.stride = {step, step};
      ResidualSpec own{{first, relu, convolution("b" + name, out, out, side / step, stochastic, generator)}};
      if (step > 1) {
        Conv2dSpec skip = convolution("s" + name, in, out, side, stochastic, generator);
        skip.window.stride = {step, step};
        own.skip = {skip};
      }
      all.emplace_back(std::move(own));
      all.emplace_back(relu);
      in = out;
      side /= step;
    }
  }
  all.emplace_back(AvgPool2dSpec{{{8, 8}, {8, 8}, {0, 0}, {1, 1}}});
  all.emplace_back(FlattenSpec{});
  all.emplace_back(DenseSpec{mean_field_network({64, 10}, ActivationFunction::Relu).layer(0)});
  return all;
}

void time_draws(const char* what, const std::vector<LayerSpec>& fixed, const std::vector<LayerSpec>& random,
                Index draws) {
  const LayerGraph still = build_graph(fixed), graph = build_graph(random);
  const Vector x = uniform_inputs(graph.inputs(), 1).col(0);
  const NormalSource none = [](Matrix& out) { out.setZero(); };
  const GraphNorms norms(graph);
  const GraphCoupling coupling(graph, {x}, {.seed = 1, .threads = 1});
  std::vector<double> ratios;
  double sink = 0.0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    for (Index first = 0; first < draws; first += block_draws(graph))
      sink += run_block(still, x, BlockRandomness(still, std::min(block_draws(graph), draws - first), none))
                  .sum();
    const double forward = seconds_since(start);
    start = std::chrono::steady_clock::now();
    sink += coupling.proven_costs(DrawUse::Main, draws, norms).sum();
    ratios.push_back(seconds_since(start) / forward);
    std::printf("  %.2f ms a pass forward\n", 1e3 * forward / static_cast<double>(draws));
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("%s: a coupled draw takes %.2f times a pass forward%s\n", what, ratios[1],
              std::isfinite(sink) ? "" : "!");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "draws") {
    time_draws("two convolutions (32, 64), 32x32x3", layers(32, 32, false), layers(32, 32, true), 128);
    time_draws("residual network, 20 layers, 32x32x3", residual_layers(false), residual_layers(true), 64);
    return 0;
  }
  const Index channels = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 8;
  std::printf("1024^3 matrix product: %.1f GFLOP/s\n", matrix_product_speed());
  time_images("deterministic convolutions (32, 64), 32x32x3", 32, 32, false, 20, Method::Moment);
  time_images("deterministic convolutions (32, 64), 32x32x3", 32, 32, false, 20, Method::Auto);
  const std::string what = "stochastic convolutions (" + std::to_string(channels) + ", " +
                           std::to_string(2 * channels) + "), 8x8x3";
  time_images(what.c_str(), 8, channels, true, 2, Method::Moment);
}
