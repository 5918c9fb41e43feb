// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Targets of prior selection.
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/tune/tune.h"

namespace mixcert {
namespace {

/// Covariance and mean of independent copies, input-major.
Gaussian copies_of(const Gaussian& one, Index copies) {
  if (copies == 1) return one;
  const Matrix covariance = one.covariance.to_dense();
  const Index inputs = one.dimension();
  Matrix all = Matrix::Zero(inputs * copies, inputs * copies);
  Vector mean(inputs * copies);
  for (Index d = 0; d < inputs; ++d) {
    mean.segment(d * copies, copies).setConstant(one.mean(d));
    for (Index e = 0; e < inputs; ++e) {
      all.block(d * copies, e * copies, copies, copies).diagonal().setConstant(covariance(d, e));
    }
  }
  return {std::move(mean), Covariance::dense(std::move(all))};
}

}  // namespace

std::string fingerprint(ConstMatrixRef numbers) {
  std::uint64_t hash = split_mix(static_cast<std::uint64_t>(numbers.cols()));
  for (Index j = 0; j < numbers.cols(); ++j) {
    for (Index i = 0; i < numbers.rows(); ++i)
      hash = split_mix(hash ^ std::bit_cast<std::uint64_t>(numbers(i, j)));
  }
  std::string digits(16, '0');
  for (char& digit : digits) {
    digit = "0123456789abcdef"[hash & 15U];
    hash >>= 4U;
  }
  return digits;
}

Matrix TuneProblem::inputs_at(const std::vector<Index>& chosen) const { return inputs(Eigen::all, chosen); }

TuneProblem process_problem(const GaussianProcess& process, Matrix inputs, Index outputs) {
  TuneProblem problem{std::move(inputs), outputs, {}, process.mean.text() + " + " + process.kernel.text()};
  require(problem.inputs.cols() > 0, "tune: expected at least one input");
  // Finds a kernel that does not fit before the work begins.
  static_cast<void>(process.law(problem.inputs.leftCols(1)));
  problem.target = [process, columns = problem.inputs, outputs](const std::vector<Index>& chosen) {
    return GaussianMixture(copies_of(process.law(columns(Eigen::all, chosen)), outputs));
  };
  return problem;
}

TuneProblem mixture_problem(GaussianMixture mixture, Matrix inputs, Index outputs) {
  require(mixture.dimension() == inputs.cols() * outputs,
          "tune: expected a target over " + std::to_string(inputs.cols() * outputs) + " numbers (" +
              std::to_string(outputs) + " at each of " + std::to_string(inputs.cols()) + " inputs), got " +
              std::to_string(mixture.dimension()));
  TuneProblem problem{std::move(inputs),
                      outputs,
                      {},
                      "mixture " + fingerprint(mixture.mean()) + fingerprint(mixture.covariance())};
  problem.target = [mixture = std::move(mixture), outputs](const std::vector<Index>& chosen) {
    std::vector<Index> coordinates;
    for (const Index d : chosen) {
      for (Index l = 0; l < outputs; ++l) coordinates.push_back(d * outputs + l);
    }
    return mixture.marginal(coordinates);
  };
  return problem;
}

}  // namespace mixcert
