// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Makes the network and inputs that ./run certifies: regression on noisy sines with two
// hidden layers of random tanh features (slightly uncertain) and an exact Bayesian linear
// output layer, mean-field. Seeded; the same file on every machine up to rounding.
//     make_example_network DIRECTORY
#include <Eigen/Cholesky>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "mixcert/io/model_file.h"
#include "mixcert/simulate/normal_source.h"

namespace {

using namespace mixcert;

constexpr Index kWidth = 16;
constexpr Index kTrainingPoints = 256;
constexpr double kNoise = 0.1;

Matrix normals(Generator& generator, Index rows, Index columns) {
  Matrix result(rows, columns);
  fill_normal(generator, result);
  return result;
}

/// Random features with standard deviation `spread` of each weight around its mean.
DenseLayer feature_layer(const std::string& name, Index out, Index in, double scale, double spread,
                         Generator& generator) {
  const Matrix mean = scale / std::sqrt(static_cast<double>(in)) * normals(generator, out, in);
  const Matrix variance = Matrix::Constant(out, in, spread * spread / static_cast<double>(in));
  const Vector bias = 0.5 * normals(generator, out, 1);
  return {name, mean, bias, MeanFieldWeights{variance},
          IndependentBias{Vector::Constant(out, 0.1 * spread * spread)}};
}

double target(double x) { return 0.6 * std::sin(2.0 * std::numbers::pi * x) + 0.4 * std::sin(5.0 * x); }

/// Posterior of the output layer given the mean features: a Gaussian, kept mean-field.
DenseLayer output_layer(const DenseLayer& first, const DenseLayer& second, Generator& generator) {
  const Activation tanh(ActivationFunction::Tanh);
  const Vector x = Vector::LinSpaced(kTrainingPoints, -1.0, 1.0);
  const Vector y = x.unaryExpr(&target) + kNoise * normals(generator, kTrainingPoints, 1);
  Matrix hidden = tanh.apply((first.weight_mean() * x.transpose()).colwise() + first.bias_mean());
  hidden = tanh.apply((second.weight_mean() * hidden).colwise() + second.bias_mean());
  Matrix features(kWidth + 1, kTrainingPoints);
  features << hidden, Vector::Ones(kTrainingPoints).transpose();
  const double precision = 1.0 / (kNoise * kNoise);
  const Matrix posterior_precision =
      precision * features * features.transpose() + 4.0 * Matrix::Identity(kWidth + 1, kWidth + 1);
  const Vector mean = posterior_precision.llt().solve(precision * features * y);
  // The mean-field Gaussian closest in Kullback-Leibler divergence has the inverse diagonal.
  const Vector variance = posterior_precision.diagonal().cwiseInverse();
  return {"2", mean.head(kWidth).transpose(), mean.tail(1),
          MeanFieldWeights{variance.head(kWidth).transpose()}, IndependentBias{variance.tail(1)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_example_network DIRECTORY\n", stderr);
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  Generator generator = make_generator(7, Stream::Example);
  const DenseLayer first = feature_layer("0", kWidth, 1, 2.5, 0.02, generator);
  const DenseLayer second = feature_layer("1", kWidth, kWidth, 1.0, 0.02, generator);
  const DenseLayer last = output_layer(first, second, generator);
  const Activation tanh(ActivationFunction::Tanh);
  save_network(directory / "example.safetensors",
               Network({first, second, last}, {Activation(ActivationFunction::Identity), tanh, tanh}));
  std::ofstream inputs(directory / "inputs.csv");
  inputs << "x\n";
  for (int i = -4; i <= 4; ++i) inputs << 0.25 * i << "\n";
  return inputs ? 0 : 1;
}
