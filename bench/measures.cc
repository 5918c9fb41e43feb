// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Times of products and samples.
#include "measures.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench_networks.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {
namespace {

double batch_products(const Network& network, const Matrix& x) {
  double sink = 0.0;
  Matrix activations = x;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const Matrix& m = network.layer(k).weight_mean();
    const Matrix& v = std::get<MeanFieldWeights>(network.layer(k).weights()).variance;
    Matrix means = m * activations;
    const Matrix variances = v * activations.cwiseAbs2();
    sink += means(0, 0) + variances(0, 0);
    activations = std::move(means);
  }
  return sink;
}

/// Behind layer 1 the neurons are independent given the input, so its covariance is a diagonal; the first
/// dense one is a symmetric product of rank n, all further ones are products of dense matrices.
double covariance_products(const Network& network, double scale) {
  double sink = 0.0;
  Matrix covariance;
  for (Index k = 1; k < network.layer_count(); ++k) {
    const Matrix& m = network.layer(k).weight_mean();
    if (covariance.size() == 0) {
      const Matrix factor = scale * m;
      covariance.setZero(m.rows(), m.rows());
      covariance.selfadjointView<Eigen::Lower>().rankUpdate(factor);
      sink += covariance(0, 0);
      continue;
    }
    const Matrix image = m * covariance;
    const Matrix linear = m * covariance;
    const Matrix quadratic = m * covariance;
    covariance = image * m.transpose();
    sink += covariance(0, 0) + linear(0, 0) + quadratic(0, 0);
  }
  return sink;
}

}  // namespace

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double unavoidable_products(const Network& network, const Matrix& x) {
  double sink = batch_products(network, x);
  for (Index i = 0; i < x.cols(); ++i)
    sink += covariance_products(network, 1.0 + 1e-3 * static_cast<double>(i));
  return sink;
}

double monte_carlo_seconds(const Network& network, Index samples, int repeats) {
  const Matrix x = uniform_inputs(network.inputs(), 1);
  SimulationOptions options;
  options.threads = 1;
  options.samples = samples;
  std::vector<double> times;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double start = processor_seconds();
    const Matrix drawn = simulate(network, x.col(0), 0, options);
    times.push_back(processor_seconds() - start + (drawn.hasNaN() ? 1e9 : 0.0));
  }
  const auto middle = times.begin() + repeats / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double peak_memory_in_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::string width_text(const std::vector<Index>& widths) {
  std::string text;
  for (const Index width : widths) text += (text.empty() ? "" : "-") + std::to_string(width);
  return text;
}

}  // namespace mixcert
