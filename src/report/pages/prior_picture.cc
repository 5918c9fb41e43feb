// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Samples of network and target at inputs that are spread over all.
#include <algorithm>
#include <numeric>

#include "mixcert/statistics/simulate.h"
#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

constexpr Index kSide = 48;
constexpr Index kSamples = 4000;
constexpr Index kFunctions = 16;

/// From left to right where inputs are numbers, in their order otherwise.
std::vector<Index> chosen_inputs(const Matrix& inputs) {
  std::vector<Index> order(static_cast<std::size_t>(inputs.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  if (inputs.rows() == 1) {
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return inputs(0, a) < inputs(0, b); });
  }
  if (inputs.cols() <= kSide) return order;
  std::vector<Index> chosen;
  for (Index i = 0; i < kSide; ++i) {
    chosen.push_back(order[static_cast<std::size_t>(i * (inputs.cols() - 1) / (kSide - 1))]);
  }
  return chosen;
}

std::vector<double> row_major(const Matrix& matrix) {
  std::vector<double> values;
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) values.push_back(matrix(i, j));
  }
  return values;
}

/// The first output of some samples, one function per sample.
std::vector<std::vector<double>> functions(const Matrix& samples) {
  std::vector<std::vector<double>> all;
  for (Index s = 0; s < std::min(samples.cols(), kFunctions); ++s) {
    const Vector one = samples.col(s);
    all.emplace_back(one.data(), one.data() + one.size());
  }
  return all;
}

/// Every `outputs`-th row: the first output at each input.
Matrix first_output(const Matrix& stacked, Index outputs) {
  Matrix rows(stacked.rows() / outputs, stacked.cols());
  for (Index i = 0; i < rows.rows(); ++i) rows.row(i) = stacked.row(i * outputs);
  return rows;
}

Matrix covariance_of(const Matrix& samples) {
  const Matrix centred = samples.colwise() - samples.rowwise().mean();
  return centred * centred.transpose() / static_cast<double>(samples.cols());
}

}  // namespace

PriorPicture prior_picture(const Network& network, const TuneProblem& problem, std::uint64_t seed,
                           int threads) {
  const std::vector<Index> chosen = chosen_inputs(problem.inputs);
  const Matrix inputs = problem.inputs_at(chosen);
  SimulationOptions options;
  options.samples = kSamples;
  options.seed = seed;
  options.threads = threads;
  const Matrix drawn = first_output(simulate_joint(network, inputs, options), problem.outputs);
  const GaussianMixture target = problem.target(chosen);

  PriorPicture picture;
  picture.side = static_cast<int>(chosen.size());
  picture.samples = kSamples;
  picture.network_covariance = row_major(covariance_of(drawn));
  std::vector<Index> coordinates;
  for (Index i = 0; i < inputs.cols(); ++i) coordinates.push_back(i * problem.outputs);
  const GaussianMixture marginal = target.marginal(coordinates);
  picture.target_covariance = row_major(marginal.covariance());
  if (inputs.rows() != 1) return picture;
  picture.x.assign(inputs.data(), inputs.data() + inputs.cols());
  picture.network_functions = functions(drawn);
  picture.target_functions = functions(sample_mixture(marginal, kFunctions, seed, Stream::Example, 0));
  return picture;
}

}  // namespace mixcert::page
