// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the tests of imports share: dictionaries of numbers, what they mean in the library's own formula, and
// the naive sampler that the imported network is compared with.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "mixcert/io/weight_conventions.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert::test {

/// Numbers that look trained, the same in every run.
class Numbers {
 public:
  Array array(std::vector<Index> shape, double centre, double spread) {
    Index count = 1;
    for (const Index size : shape) count *= size;
    Array result{std::move(shape), {}};
    for (Index i = 0; i < count; ++i) result.values.push_back(centre + spread * uniform_(engine_));
    return result;
  }

 private:
  std::mt19937 engine_{7};
  std::uniform_real_distribution<double> uniform_{-1.0, 1.0};
};

inline constexpr Index kIn = 3;
inline constexpr Index kHidden = 4;
inline constexpr Index kOut = 2;
inline constexpr const char* kWidths = "3-4-2";

/// Means and standard deviations of both layers, weights [out, in]: what the tests compare with.
struct Truth {
  Matrix mean[2];
  Matrix deviation[2];
  Vector bias_mean[2];
  Vector bias_deviation[2];
};

inline Matrix matrix(const Array& array) { return as_matrix(array); }
inline Vector vector(const Array& array) {
  return Eigen::Map<const Vector>(array.values.data(), array.size());
}
inline double log1p_exp(double x) { return std::log1p(std::exp(x)); }

/// One layer's arrays in the library's own terms: means, and scales before the formula.
struct RawLayer {
  Array weight, weight_scale, bias, bias_scale;
};

inline RawLayer raw_layer(Numbers& numbers, int layer, double centre, double spread) {
  const Index in = layer == 0 ? kIn : kHidden;
  const Index out = layer == 0 ? kHidden : kOut;
  RawLayer raw;
  raw.weight = numbers.array({out, in}, 0.0, 1.0);
  raw.weight_scale = numbers.array({out, in}, centre, spread);
  raw.bias = numbers.array({out}, 0.0, 0.5);
  raw.bias_scale = numbers.array({out}, centre, spread);
  return raw;
}

inline void set_truth(Truth& truth, int layer, const RawLayer& raw,
                      const std::function<double(double)>& formula) {
  truth.mean[layer] = matrix(raw.weight);
  truth.deviation[layer] = matrix(raw.weight_scale).unaryExpr(formula);
  truth.bias_mean[layer] = vector(raw.bias);
  truth.bias_deviation[layer] = vector(raw.bias_scale).unaryExpr(formula);
}

/// Means and covariance of outputs of naive samples: every weight drawn, relu between.
inline void check_moments(const Truth& truth, const std::vector<LayerSpec>& layers) {
  const Vector input = (Vector(kIn) << 0.7, -1.1, 0.4).finished();
  constexpr Index kSamples = 20000;
  std::mt19937_64 engine(11);
  std::normal_distribution<double> normal;
  Matrix outputs(kOut, kSamples);
  for (Index s = 0; s < kSamples; ++s) {
    Vector x = input;
    for (int layer = 0; layer < 2; ++layer) {
      Vector y = truth.bias_mean[layer];
      for (Index i = 0; i < y.size(); ++i) {
        y[i] += truth.bias_deviation[layer][i] * normal(engine);
        for (Index j = 0; j < x.size(); ++j)
          y[i] += (truth.mean[layer](i, j) + truth.deviation[layer](i, j) * normal(engine)) * x[j];
      }
      x = layer == 0 ? Vector(y.cwiseMax(0.0)) : y;
    }
    outputs.col(s) = x;
  }
  const Matrix ours = simulate(build_network(layers), input, 0, {kSamples, 3, 1, nullptr});
  const auto covariance = [](const Matrix& samples) {
    const Matrix centred = samples.colwise() - samples.rowwise().mean();
    return Matrix(centred * centred.transpose() / static_cast<double>(samples.cols()));
  };
  const Matrix expected = covariance(outputs);
  const double scale = expected.diagonal().maxCoeff();
  // Five standard errors of a difference of two means; variances within a generous tenth.
  EXPECT_LT((ours.rowwise().mean() - outputs.rowwise().mean()).cwiseAbs().maxCoeff(),
            5.0 * std::sqrt(2.0 * scale / kSamples));
  EXPECT_LT((covariance(ours) - expected).cwiseAbs().maxCoeff(), 0.1 * scale);
}

inline void check_deviations(const Truth& truth, const std::vector<LayerSpec>& layers) {
  ASSERT_EQ(layers.size(), 3U);
  for (const int k : {0, 1}) {
    const DenseLayer& layer = std::get<DenseSpec>(layers[static_cast<std::size_t>(2 * k)].variant()).layer;
    EXPECT_EQ(layer.weight_mean(), truth.mean[k]);
    EXPECT_EQ(layer.bias_mean(), truth.bias_mean[k]);
    const Matrix variance = std::get<MeanFieldWeights>(layer.weights()).variance;
    EXPECT_LT((variance.cwiseSqrt() - truth.deviation[k]).cwiseAbs().maxCoeff(), 1e-12);
    const Vector bias = std::get<IndependentBias>(layer.bias()).variance;
    EXPECT_LT((bias.cwiseSqrt() - truth.bias_deviation[k]).cwiseAbs().maxCoeff(), 1e-12);
  }
}

inline void check(const Truth& truth, const NamedArrays& arrays, ImportOptions options) {
  if (options.architecture.empty()) options.architecture = kWidths;
  const ImportedModel model = import_weights(arrays, options);
  EXPECT_TRUE(model.assumptions.empty());
  check_deviations(truth, model.layers);
  check_moments(truth, model.layers);
}

}  // namespace mixcert::test
