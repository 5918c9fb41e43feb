// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Limits of size and the charge for underflow (R.9).
#include <algorithm>
#include <cmath>
#include <limits>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "network/ordinary_scale.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

// Exponents of two; (R.9) needs 12 - kIgnored - kSmallest + kRoom + kLargestHidden to be at most 255.
constexpr double kLargestHidden = 40.0;   // typical size of a hidden layer's outputs
constexpr double kLargestOutput = 100.0;  // of the network's
constexpr double kSmallest = -70.0;       // layers count as no smaller
constexpr double kIgnored = -76.0;        // of a layer's size: what may be lost
constexpr double kRoom = 56.0;            // of a layer's size: the largest number at any input

double clipped(double log_size) { return std::max(log_size, kSmallest); }

/// What is ignored of one number of a layer: nothing where all are zero.
double ignored(double log_size) {
  return std::isfinite(log_size) ? std::exp2(kIgnored + clipped(log_size)) : 0.0;
}

/// The least over the chains of the root of the sum of the metric at hidden layer k, on pre-activations and
/// on activations, whichever is larger.
double root_metric(const Sensitivity& sensitivity, std::size_t k) {
  double least = std::numeric_limits<double>::infinity();
  const double l = std::max(1.0, sensitivity.lipschitz[k].upper);
  for (const MetricChain& chain : sensitivity.metrics) {
    const double sum = chain.inflation[k] * chain.activation_weights[k].sum();
    if (!(sum >= least)) least = sum;
  }
  return l * std::sqrt(least);
}

}  // namespace

void require_ordinary_sizes(const Network& network, const std::vector<double>& log_sizes) {
  for (Index k = 0; k < network.layer_count(); ++k) {
    const double size = log_sizes[static_cast<std::size_t>(k)];
    const std::string layer = "layer '" + network.layer(k).name() + "': ";
    const double largest = k < network.hidden_count() ? kLargestHidden : kLargestOutput;
    require(size <= largest, layer + "for inputs of size one its outputs are of size 2^" +
                                 format_number(std::round(size)) + ", above 2^" + format_number(largest) +
                                 ": measure inputs or outputs in larger units");
    require(
        !has_extreme_factors(network.layer(k)),
        layer + "its factors are of sizes so far apart that double precision has no room for their squares");
  }
}

double underflow_charge(const Sensitivity& sensitivity, Index outputs) {
  const std::vector<double>& sizes = sensitivity.log_sizes;
  double charge = ignored(sizes.back()) * std::sqrt(static_cast<double>(outputs));
  for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
    if (const double part = ignored(sizes[k]); part > 0.0) charge += part * root_metric(sensitivity, k);
  }
  // Pairs of correlated neurons are 2^24 terms for 4,096 of them, and more for more.
  double widest = 4096.0;
  for (const MetricChain& chain : sensitivity.metrics) {
    for (const Vector& g : chain.activation_weights) widest = std::max(widest, static_cast<double>(g.size()));
  }
  return enlarged(charge * (widest / 4096.0));
}

void require_moderate(const Gaussian& law, const Network& network, const Sensitivity& sensitivity, Index k) {
  const double limit = std::exp2(kRoom + clipped(sensitivity.log_sizes[static_cast<std::size_t>(k)]));
  const double mean = law.mean.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  const double deviation = std::sqrt(law.covariance.variances().maxCoeff<Eigen::PropagateNaN>());
  // NaN is no number below the limit.
  if (mean <= limit && deviation <= limit) return;
  throw Error("layer '" + network.layer(k).name() + "': at this input its outputs have mean " +
              format_number(mean) + " and deviation " + format_number(deviation) +
              "; double precision has no room for their squares (limit " + format_number(limit) + ")");
}

void require_moderate(const GaussianMixture& law, const Network& network, const Sensitivity& sensitivity,
                      Index k) {
  for (Index i = 0; i < law.size(); ++i) require_moderate(law.component(i), network, sensitivity, k);
}

}  // namespace mixcert
