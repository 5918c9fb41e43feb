// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks and inputs of the benchmarks.
#include "bench_networks.h"

#include <chrono>
#include <cmath>
#include <string>

#include "mixcert/core/rng.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

Network mean_field_network(const std::vector<Index>& widths, ActivationFunction activation) {
  Generator generator = make_generator(11, Stream::Example);
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    const Index in = widths[k];
    const Index out = widths[k + 1];
    const double fan_in = static_cast<double>(in);
    Matrix mean(out, in);
    fill_normal(generator, mean);
    Matrix spread(out, in);
    fill_normal(generator, spread);
    mean *= 1.4 / std::sqrt(fan_in);
    const Matrix variance = 0.01 / fan_in * spread.cwiseAbs2();
    layers.emplace_back(std::to_string(k), mean, Vector::Zero(out), MeanFieldWeights{variance},
                        IndependentBias{Vector::Constant(out, 1e-4)});
    activations.emplace_back(Activation(k == 0 ? ActivationFunction::Identity : activation));
  }
  return {std::move(layers), std::move(activations)};
}

double matrix_product_speed() {
  const Matrix a = Matrix::Random(1024, 1024);
  const Matrix b = Matrix::Random(1024, 1024);
  Matrix c(1024, 1024);
  const auto start = std::chrono::steady_clock::now();
  c.noalias() = a * b;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // The product has to be used, or it would not be computed.
  return std::isnan(c(0, 0)) ? 0.0 : 2.0 * 0x1.0p30 / seconds / 1e9;
}

Matrix uniform_inputs(Index features, Index count) {
  Generator generator = make_generator(12, Stream::Example);
  return Matrix::NullaryExpr(features, count, [&] { return uniform(generator); });
}

}  // namespace mixcert
