// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/stein/stein_estimate.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "simulated/simulated_moments.h"
#include "simulated/stein/stein_tensors.h"

namespace mixcert {
namespace {

constexpr Index kSteinDraws = 256;
constexpr Index kCells = 25;

/// Right end of cell i of (0, 1]: they accumulate at 1, where integrands are largest.
double right_end(Index i) {
  return std::sin(0.5 * std::numbers::pi * static_cast<double>(i + 1) / static_cast<double>(kCells));
}

/// Squares whose means over draws the two theorems integrate, and what the last cell may take instead.
struct Integrands {
  Eigen::ArrayXd first = Eigen::ArrayXd::Zero(kCells);   ///< w^2 N_w
  Eigen::ArrayXd second = Eigen::ArrayXd::Zero(kCells);  ///< w^4 M_w
  double without_noise = 0.0;                            ///< |(T0 - C) C^{-1/2}|_F^2
  Matrix off;                                            ///< (T - C) C^{-1/2}, the mean of both groups
};

/// tr(X Y') with X = (a - C) Q, Y = b - C.
double first_order(const Matrix& a, const Matrix& b, const Matrix& covariance, const Matrix& inverse) {
  return ((a - covariance) * inverse).cwiseProduct(b - covariance).sum();
}

/// sum_i sum_{l,l'} A_il A'_il' (Q_ll')^2.
double noise_order(const Matrix& a, const Matrix& b, const Matrix& inverse) {
  return (a * inverse.cwiseAbs2()).cwiseProduct(b).sum();
}

Matrix symmetric(const Matrix& kernel, const Matrix& noise, Index i) {
  Matrix all = kernel;
  all.diagonal() += noise.row(i).transpose();
  return 0.5 * (all + all.transpose());
}

Integrands integrands_of(const SteinDraw& draw, const Matrix& covariance, const Matrix& factor) {
  const SteinTensors &a = draw.groups[0], &b = draw.groups[1];
  const Index outputs = covariance.rows();
  Integrands made;
  for (Index cell = 0; cell < kCells; ++cell) {
    const double w2 = right_end(cell) * right_end(cell);
    Matrix spread = (1.0 - w2) * covariance;
    spread.diagonal() += w2 * draw.variances;
    const Matrix inverse = spread.llt().solve(Matrix::Identity(outputs, outputs));
    made.first(cell) = w2 * (first_order(a.first, b.first, covariance, inverse) +
                             2.0 * w2 * noise_order(a.first_noise, b.first_noise, inverse));
    double sum = 0.0;
    for (Index i = 0; i < outputs; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const Matrix x = symmetric(a.second[place], a.first_noise, i),
                   y = symmetric(b.second[place], b.first_noise, i);
      sum += 2.0 * (inverse * x * inverse).cwiseProduct(y).sum();
      sum +=
          6.0 * w2 *
          (inverse * a.second_noise[place] * inverse.cwiseAbs2()).cwiseProduct(b.second_noise[place]).sum();
    }
    made.second(cell) = w2 * w2 * sum;
  }
  const Matrix own = factor * factor.transpose();  // C^{-1}
  made.without_noise = first_order(a.first, b.first, covariance, own);
  for (Index k = 0; k < outputs; ++k) {
    if (draw.variances(k) > 0.0)
      made.without_noise += a.first_noise.col(k).dot(b.first_noise.col(k)) / draw.variances(k) * own(k, k);
  }
  made.off = (0.5 * (a.first + b.first) - covariance) * factor;
  return made;
}

/// Root of a mean of draws, and the same a standard error higher.
struct Root {
  double value, raised;

  Root(double as_it_is, double with_error) : value(as_it_is), raised(with_error) {}
  explicit Root(const Eigen::ArrayXd& draws) {
    const double mean = draws.mean();
    const double error = std::sqrt((draws - mean).square().mean() / static_cast<double>(draws.size() - 1));
    value = std::sqrt(positive_part(mean));
    raised = std::sqrt(positive_part(mean + error));
    if (!std::isfinite(raised)) value = raised = INFINITY;
  }
};

/// |E T - C| over C^{1/2}, without the bias of its own noise.
Root size_of_mean(const std::vector<Integrands>& all) {
  Matrix mean = Matrix::Zero(all.front().off.rows(), all.front().off.cols());
  const auto n = static_cast<double>(all.size());
  for (const Integrands& one : all) mean += one.off / n;
  Eigen::ArrayXd squares(static_cast<Index>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Leave-one-out means: independent of the draw they are multiplied with.
    const Matrix others = (n * mean - all[i].off) / (n - 1.0);
    squares(static_cast<Index>(i)) = others.cwiseProduct(all[i].off).sum();
  }
  return Root(squares);
}

/// The smaller of both theorems in every cell, summed.
SteinEstimate summed(const std::vector<Integrands>& all, const Root& off_mean) {
  const auto column = [&](const auto& number) {
    Eigen::ArrayXd values(static_cast<Index>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) values(static_cast<Index>(i)) = number(all[i]);
    return Root(values);
  };
  const Root off = size_of_mean(all);
  double value = 0.0, raised = 0.0, before = 0.0;
  for (Index cell = 0; cell < kCells; ++cell) {
    const double end = right_end(cell), width = end - before;
    // (1 - w^2)^{1/2} at both ends: a cosine at the cell's angles.
    const double lost =
        std::sqrt(positive_part(1.0 - before * before)) - std::sqrt(positive_part(1.0 - end * end));
    const Root first = column([&](const Integrands& one) { return one.first(cell); });
    const Root second = column([&](const Integrands& one) { return one.second(cell); });
    double least = std::min(width * first.value, width * second.value + lost * off.value);
    double least_raised = std::min(width * first.raised, width * second.raised + lost * off.raised);
    if (cell + 1 == kCells) {
      const Root plain = column([](const Integrands& one) { return one.without_noise; });
      least = std::min(least, lost * plain.value);
      least_raised = std::min(least_raised, lost * plain.raised);
    }
    value += least;
    raised += least_raised;
    before = end;
  }
  const double w2 = std::hypot(value, off_mean.value);
  return {w2, std::hypot(raised, off_mean.raised) - w2, static_cast<Index>(all.size())};
}

}  // namespace

std::optional<SteinEstimate> stein_estimate(const SimulationRequest& request, const CoupledChain& chain,
                                            const SimulationSettings& settings) {
  const Gaussian& stored = request.mixture.component(0);
  const Matrix covariance = stored.covariance.to_dense();
  const Eigen::LLT<Matrix> decomposition(covariance);
  if (request.mixture.size() != 1 || decomposition.info() != Eigen::Success) return std::nullopt;
  // C^{-1} = factor factor'.
  const Matrix factor =
      decomposition.matrixL().transpose().solve(Matrix::Identity(covariance.rows(), covariance.cols()));
  std::vector<Integrands> all(static_cast<std::size_t>(kSteinDraws));
  parallel_for(
      kSteinDraws, settings.threads,
      [&](Index i) {
        RandomBits bits(settings.seed, DrawUse::Stein, settings.input, static_cast<std::uint64_t>(i));
        const auto draw = [&] { return Vector(standard_normals(bits, chain.normal_count(), 1)); };
        const auto uniform = [&] { return bits.uniform(); };
        all[static_cast<std::size_t>(i)] =
            integrands_of(stein_tensors(chain, draw, uniform), covariance, factor);
      },
      settings.cancel);
  // Not the pilot: the stored mean may have been made of it (F.13).
  const CoupledOutputs outputs = draw_coupled_outputs(chain, settings.plan(DrawUse::SteinMean, kPilotDraws),
                                                      settings.threads, settings.cancel);
  const Vector off = simulated_output_moments(chain, outputs).mean - stored.mean;
  const Matrix differences = outputs.network - outputs.chain;
  const double spread =
      (differences.colwise() - differences.rowwise().mean()).norm() / static_cast<double>(kPilotDraws);
  // |off|^2 has the mean |E y - m|^2 + spread^2.
  const double square = off.squaredNorm(), chance = spread * spread;
  const SteinEstimate made =
      summed(all, {std::sqrt(positive_part(square - chance)), std::sqrt(square) + spread});
  if (!std::isfinite(made.w2) || !std::isfinite(made.error)) return std::nullopt;
  return made;
}

}  // namespace mixcert
