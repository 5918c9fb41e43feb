// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks with convolutions, one thread: two 3x3 convolutions with pooling, a dense layer of 128 and ten
// outputs.
//     convolutions [CHANNELS of the first stochastic convolution]
// First with deterministic convolutions and stochastic dense layers at 32x32x3 images, then with stochastic
// convolutions at 8x8x3 images, beside the speed of a matrix product.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench_networks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/rng.h"
#include "mixcert/network/network_builder.h"
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

}  // namespace

int main(int argc, char** argv) {
  const Index channels = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 8;
  std::printf("1024^3 matrix product: %.1f GFLOP/s\n", matrix_product_speed());
  time_images("deterministic convolutions (32, 64), 32x32x3", 32, 32, false, 20, Method::Moment);
  time_images("deterministic convolutions (32, 64), 32x32x3", 32, 32, false, 20, Method::Auto);
  const std::string what = "stochastic convolutions (" + std::to_string(channels) + ", " +
                           std::to_string(2 * channels) + "), 8x8x3";
  time_images(what.c_str(), 8, channels, true, 2, Method::Moment);
}
