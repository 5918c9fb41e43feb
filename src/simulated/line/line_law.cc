// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/line/line_law.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr double kReach = 9.0;  ///< deviations of each component
constexpr double kNodesPerDeviation = 2000.0;
constexpr double kMostLineNodes = 200000.0;
constexpr double kBeyondReach = 1.2e-19;  ///< no less than P(Z > 9) of a normal Z

}  // namespace

LineLaw::LineLaw(const GaussianMixture& mixture)
    : weights_(mixture.weights() / mixture.weights().sum()),
      means_(mixture.size()),
      deviations_(mixture.size()) {
  for (Index i = 0; i < mixture.size(); ++i) {
    means_(i) = mixture.component(i).mean(0);
    deviations_(i) = std::sqrt(mixture.component(i).covariance.variances()(0));
  }
}

double LineLaw::cdf(double x) const {
  double sum = 0.0;
  for (Index i = 0; i < weights_.size(); ++i) {
    const double off = x - means_(i), deviation = deviations_(i);
    const double atom = off >= 0.0 ? 1.0 : 0.0;
    sum += weights_(i) * (deviation > 0.0 ? 0.5 * std::erfc(-off / deviation / std::numbers::sqrt2) : atom);
  }
  return sum;
}

double LineLaw::deviation() const {
  const double mean = weights_.dot(means_);
  return std::sqrt(weights_.dot((means_.array() - mean).square().matrix() + deviations_.cwiseAbs2()));
}

std::vector<double> LineLaw::nodes() const {
  const double low = (means_ - (kReach + 0.01) * deviations_).minCoeff();
  const double high = (means_ + (kReach + 0.01) * deviations_).maxCoeff();
  // A law without deviation is one point; its nodes are a little apart from it.
  const double room = 1e-12 * (std::abs(low) + std::abs(high)) + 1e-140;
  const double wanted = std::ceil((high - low) / std::max(deviation(), room) * kNodesPerDeviation);
  const auto count = static_cast<std::size_t>(std::clamp(wanted, 2.0, kMostLineNodes));
  std::vector<double> nodes;
  for (std::size_t i = 0; i <= count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    nodes.push_back((low - room) + share * (high - low + 2.0 * room));
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

double LineLaw::end_square() const {
  // E (Z - a)_+^2 <= P(Z > a) for a >= 0, by Mills' ratio.
  return enlarged(kBeyondReach * weights_.dot(deviations_.cwiseAbs2()));
}

}  // namespace mixcert
