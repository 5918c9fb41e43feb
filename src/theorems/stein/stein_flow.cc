// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What is integrated is convex in 1/w^2, so chords in 1/w^2 between bounds at nodes are above it. The noise
// is random; its effect is a sum over the outputs, docs/theory/stein.md (Y.12). All nodes are dealt with at
// once: columns below are nodes of the flow.
#include <algorithm>
#include <cmath>
#include <utility>

#include "theorems/stein/noise_transform.h"
#include "theorems/stein/stein_distance.h"

namespace mixcert {
namespace {

/// Of rows and columns: Eigen's maxCoeff may lose NaN.
constexpr auto kLarger = [](double a, double b) { return larger_or_nan(a, b); };

/// The random noise: for the second order one row per output, for the third the largest over the outputs.
struct FlowNoise {
  Matrix plain, cross, square, growth;
  Eigen::RowVectorXd third_plain, third_cross, third_rest;

  FlowNoise(const NoiseTransform& transform, Index outputs) {
    plain = Matrix::Ones(outputs, kFlowCells);
    cross = square = growth = Matrix::Zero(outputs, kFlowCells);
    third_plain = Eigen::RowVectorXd::Ones(kFlowCells);
    third_cross = third_rest = Eigen::RowVectorXd::Zero(kFlowCells);
    const int first = first_transform_flow_node();
    for (int i = 1; i < first; ++i) {  // zeta >= 0
      const double w = flow_node(i), h = 1.0 / (1.0 - w * w);
      plain.col(i - 1).setConstant(enlarged(h * h));
      third_plain(i - 1) = enlarged(h * h * h);
    }
    const auto [second, third] = noise_moments(transform);
    const Index count = second.plain.rows();
    plain.rightCols(count) = larger_or_nan(second.plain.transpose(), 1.0);
    cross.rightCols(count) = second.cross.transpose();
    square.rightCols(count) = second.square.transpose();
    growth.rightCols(count) = second.growth.transpose();
    third_plain.rightCols(count) = larger_or_nan(third.plain.rowwise().redux(kLarger).transpose(), 1.0);
    third_cross.rightCols(count) = third.cross.rowwise().redux(kLarger).transpose();
    third_rest.rightCols(count) = (third.square + third.growth).rowwise().redux(kLarger).transpose();
  }

  /// Per node.
  [[nodiscard]] Eigen::RowVectorXd largest() const {
    return larger_or_nan((plain + square + growth + cross).colwise().redux(kLarger), 1.0) + third_plain +
           third_cross + third_rest;
  }
};

/// w^2 (E N_2 + w^2 E N_3)^{1/2} at the nodes of the flow, or more.
class FlowIntegrand {
 public:
  FlowIntegrand(const SteinNorms& norms, const SteinCoordinates& at, const NoiseTransform& transform)
      : norms_(norms), at_(at), noise_(transform, at.shares.size()), omega_(at.shares.size(), kFlowCells) {
    for (int i = 1; i <= kFlowCells; ++i) {
      const double w = flow_node(i);
      squares_(i - 1) = w * w;
      omega_.col(i - 1) = (w * w) / larger_or_nan((w * w * at.shares).array() + (1.0 - w * w), kLeastShare);
    }
    const Index n = omega_.rows();
    pairs_.resize(packed_count(n), kFlowCells);
    for (Index c = 0; c < n; ++c) {
      for (Index a = 0; a <= c; ++a) {
        pairs_.row(packed_place(a, c)) = omega_.row(a).cwiseProduct(omega_.row(c));
      }
    }
  }

  [[nodiscard]] Eigen::RowVectorXd values() const {
    const Eigen::RowVectorXd square = second_order() + third_order();
    const Eigen::RowVectorXd largest = noise_.largest(), tops = omega_.colwise().redux(kLarger);
    const SteinForm &two = norms_.second, &three = norms_.third;
    Eigen::RowVectorXd made(kFlowCells);
    for (int i = 0; i < kFlowCells; ++i) {
      const double most = largest(i), top = tops(i), cube = top * std::sqrt(top);
      const double inflation = 16.0 * at_.defect * top * most * static_cast<double>(omega_.rows() + 1);
      const double rounding =
          norms_.gamma * most * (std::pow(two.size * top, 2) + std::pow(three.size * cube, 2));
      const double missed = (two.error * top + three.error * cube) * std::sqrt(most);
      const bool is_known = most < INFINITY && inflation < 1e-3 && top < 0.5 * squares_(i) / kLeastShare;
      made(i) =
          is_known ? enlarged(std::sqrt((square(i) + rounding) * (1.0 + inflation)) + missed) : INFINITY;
    }
    return made;
  }

 private:
  /// Smaller denominators count as unknown.
  static constexpr double kLeastShare = 1e-9;

  /// sum over the packed entries of two forms, per node.
  static Eigen::RowVectorXd dot(const Matrix& x, const Matrix& y) {
    return x.cwiseProduct(y).colwise().sum();
  }

  /// w^4 E N_2.
  [[nodiscard]] Eigen::RowVectorXd second_order() const {
    const Index n = omega_.rows();
    const Matrix mean = norms_.second.mean.transpose() * omega_;
    const Matrix fluctuation = norms_.second.fluctuation.transpose() * omega_;
    const Matrix shared = norms_.second_shared.transpose() * omega_;
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(kFlowCells);
    Matrix directions(pairs_.rows(), n);  // packed N_l (R e_l)(R e_l)'
    for (Index c = 0; c < n; ++c) {
      const Index place = packed_place(c, c);
      sum += omega_.row(c).cwiseProduct(mean.row(place) + fluctuation.row(place));
      for (Index a = 0; a <= c; ++a) {
        directions.row(packed_place(a, c)) =
            at_.root.row(a).cwiseProduct(at_.root.row(c)).cwiseProduct(at_.noise.transpose());
      }
    }
    // sum_l tau_l N_l (R e_l)(R e_l)' in the metric.
    const Matrix scale = pairs_ * squares_.cwiseInverse().asDiagonal();
    const auto metric = [&](const Matrix& tau) -> Matrix { return (directions * tau).cwiseProduct(scale); };
    const Matrix more = metric(noise_.plain.array() - 1.0), cross = metric(noise_.cross);
    sum += dot(mean + fluctuation, more) + dot(fluctuation, metric(noise_.square)) +
           dot(shared, metric(noise_.growth));
    return sum + 2.0 * positive_part(dot(mean, cross))
                           .cwiseProduct(positive_part(dot(fluctuation, cross)))
                           .cwiseSqrt();
  }

  /// w^6 E N_3.
  [[nodiscard]] Eigen::RowVectorXd third_order() const {
    const Eigen::RowVectorXd mean = dot(omega_, norms_.third.mean * pairs_);
    const Eigen::RowVectorXd fluctuation = dot(omega_, norms_.third.fluctuation * pairs_);
    return noise_.third_plain.cwiseProduct(mean + fluctuation) + noise_.third_rest.cwiseProduct(fluctuation) +
           2.0 * noise_.third_cross.cwiseProduct(positive_part(mean.cwiseProduct(fluctuation)).cwiseSqrt());
  }

  const SteinNorms& norms_;
  const SteinCoordinates& at_;
  FlowNoise noise_;
  Matrix omega_, pairs_;  ///< w^2/(w^2 share + 1 - w^2), and packed products of two of them
  Eigen::Matrix<double, 1, kFlowCells> squares_;  ///< w^2
};

}  // namespace

double stein_flow(const SteinNorms& norms, const SteinCoordinates& at, const NoiseTransform& transform) {
  const Eigen::RowVectorXd values = FlowIntegrand(norms, at, transform).values();
  double best = norms.first, sum = 0.0, left = 0.0, left_value = 0.0;
  for (int i = 1; i <= kFlowCells; ++i) {
    const double w = flow_node(i), value = values(i - 1);
    // The chord in 1/w^2 over the cell; from w = 0 on it is the right end's value.
    sum += (w - left) * (left * left_value + w * value) / (left + w);
    if (!(sum < best)) break;
    best = std::min(best, sum + norms.first * std::sqrt(positive_part(1.0 - w * w)));
    left = w;
    left_value = value;
  }
  return enlarged(best);
}

}  // namespace mixcert
