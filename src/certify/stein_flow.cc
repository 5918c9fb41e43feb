// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Upper sums: what is bounded is a convex function of kappa = 1/w^2 - 1, so chords between bounds at nodes
// lie above it. The noise is random; its effect is a sum over the outputs, docs/theory/stein.md (Y.12).
#include "certify/stein_flow.h"

#include <algorithm>
#include <cmath>

#include "certify/noise_moments.h"

namespace mixcert {
namespace {

/// The random noise at one time: per output for the second order, largest for the third.
struct NoiseAt {
  Vector plain, cross, square, growth;
  double third_plain = 1.0, third_cross = 0.0, third_rest = 0.0;

  [[nodiscard]] double largest() const {
    return std::max(1.0, (plain + square + growth + cross).maxCoeff()) + third_plain + third_cross +
           third_rest;
  }
};

class FlowIntegrand {
 public:
  FlowIntegrand(const SteinNorms& norms, const SteinCoordinates& at, const NoiseTransform& transform)
      : norms_(norms),
        at_(at),
        first_(first_transform_flow_node()),
        second_(noise_moments(transform, 2)),
        third_(noise_moments(transform, 3)),
        directions_(at.shares.size() * (at.shares.size() + 1) / 2, at.shares.size()) {
    for (Index c = 0; c < at.root.rows(); ++c) {
      for (Index a = 0; a <= c; ++a) {
        directions_.row(packed_place(a, c)) =
            at.root.row(a).cwiseProduct(at.root.row(c)).cwiseProduct(at.noise.transpose());
      }
    }
  }

  /// w^2 (E N_2 + w^2 E N_3)^{1/2} at node i, or more.
  [[nodiscard]] double at_node(int i) const {
    const double w = flow_node(i);
    const Vector denominators = (w * w * at_.shares).array() + (1.0 - w * w);
    if (!(denominators.minCoeff() > 1e-9)) return INFINITY;
    const Vector omega = (w * w) * denominators.cwiseInverse();
    const NoiseAt noise = noise_at(i, w);
    const double most = noise.largest(), top = omega.maxCoeff();
    const double inflation = 16.0 * at_.defect * top * most * static_cast<double>(omega.size() + 1);
    if (!(most < INFINITY) || !(inflation < 1e-3)) return INFINITY;
    const double square = second_order(omega, noise, w) + third_order(omega, noise);
    const SteinForm &two = norms_.second, &three = norms_.third;
    const double cube = top * std::sqrt(top);
    const double rounding =
        norms_.gamma * most * (std::pow(two.size * top, 2) + std::pow(three.size * cube, 2));
    const double missed = (two.error * top + three.error * cube) * std::sqrt(most);
    return (std::sqrt((square + rounding) * (1.0 + inflation)) + missed) * kSafety;
  }

 private:
  [[nodiscard]] NoiseAt noise_at(int i, double w) const {
    NoiseAt noise;
    const Index n = at_.shares.size();
    if (i < first_) {  // zeta >= 0
      const double h = 1.0 / (1.0 - w * w);
      noise.plain = Vector::Constant(n, h * h);
      noise.cross = noise.square = noise.growth = Vector::Zero(n);
      noise.third_plain = h * h * h;
      return noise;
    }
    const Index row = i - first_;
    noise.plain = second_.plain.row(row).cwiseMax(1.0);
    noise.cross = second_.cross.row(row);
    noise.square = second_.square.row(row);
    noise.growth = second_.growth.row(row);
    noise.third_plain = std::max(1.0, third_.plain.row(row).maxCoeff());
    noise.third_cross = third_.cross.row(row).maxCoeff();
    noise.third_rest = (third_.square.row(row) + third_.growth.row(row)).maxCoeff();
    return noise;
  }

  /// w^4 E N_2.
  [[nodiscard]] double second_order(const Vector& omega, const NoiseAt& noise, double w) const {
    const Index n = omega.size();
    const Vector mean = norms_.second.mean.transpose() * omega;
    const Vector fluctuation = norms_.second.fluctuation.transpose() * omega;
    const Vector shared = norms_.second_shared.transpose() * omega;
    Vector scale(mean.size());
    double sum = 0.0;
    for (Index c = 0; c < n; ++c) {
      for (Index a = 0; a <= c; ++a) scale(packed_place(a, c)) = omega(a) * omega(c) / (w * w);
      const Index place = packed_place(c, c);
      sum += omega(c) * (mean(place) + fluctuation(place));
    }
    // sum_l tau_l N_l (R e_l)(R e_l)' in the metric.
    const auto metric = [&](const Vector& tau) -> Vector { return (directions_ * tau).cwiseProduct(scale); };
    const Vector more = noise.plain.array() - 1.0;
    const Vector cross = metric(noise.cross);
    sum += mean.dot(metric(more)) + fluctuation.dot(metric(more + noise.square)) +
           shared.dot(metric(noise.growth));
    return sum + 2.0 * std::sqrt(std::max(0.0, mean.dot(cross)) * std::max(0.0, fluctuation.dot(cross)));
  }

  /// w^6 E N_3.
  [[nodiscard]] double third_order(const Vector& omega, const NoiseAt& noise) const {
    const Index n = omega.size();
    Vector pairs(n * (n + 1) / 2);
    for (Index c = 0; c < n; ++c) pairs.segment(c * (c + 1) / 2, c + 1) = omega(c) * omega.head(c + 1);
    const double mean = omega.dot(norms_.third.mean * pairs);
    const double fluctuation = omega.dot(norms_.third.fluctuation * pairs);
    return noise.third_plain * (mean + fluctuation) + noise.third_rest * fluctuation +
           2.0 * noise.third_cross * std::sqrt(std::max(0.0, mean * fluctuation));
  }

  const SteinNorms& norms_;
  const SteinCoordinates& at_;
  const int first_;
  NoiseMoments second_, third_;
  Matrix directions_;  ///< packed N_l (R e_l)(R e_l)', one column per output
};

}  // namespace

double stein_flow(const SteinNorms& norms, const SteinCoordinates& at, const NoiseTransform& transform) {
  const FlowIntegrand integrand(norms, at, transform);
  double best = norms.first;
  double sum = 0.0, before = 0.0;
  for (int i = 1; i <= kFlowCells; ++i) {
    const double left = flow_node(i - 1), w = flow_node(i);
    const double value = integrand.at_node(i);
    // The chord in kappa = 1/w^2 - 1, integrated over w.
    sum += (w - left) * (left * std::min(before, value) + w * value) / (left + w);
    if (!(sum < best)) break;
    best = std::min(best, sum + norms.first * std::sqrt(std::max(0.0, 1.0 - w * w)));
    before = value;
  }
  return best * kSafety;
}

}  // namespace mixcert
