// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Upper sums: every integrand grows with w, so its value at the right end of a cell is an upper bound on the
// cell.
#include "certify/stein_flow.h"

#include <algorithm>
#include <cmath>

namespace mixcert {
namespace {

constexpr int kFlowCells = 128;
constexpr double kLikely = 0.2;

/// Nodes that accumulate at w = 1.
double flow_node(int i) {
  const double rest = 1.0 - static_cast<double>(i) / kFlowCells;
  return 1.0 - rest * rest;
}

/// Values of a form at omega: mean square, and a bound of the L4 norm squared.
struct FormValue {
  double square, fourth;
};

FormValue value_of(const SteinForm& form, const Vector& omega, const Vector& right, double largest) {
  const double mean = omega.dot(form.mean * right);
  const double fluctuation = omega.dot(form.fluctuation * right);
  const double root = std::sqrt(mean + fluctuation) + form.error * largest;
  // |A|_4 <= |E A| + |A - E A|_4, E |sum X_j|^4 <= sum E |X_j|^4 + 3 (sum E |X_j|^2)^2.
  const double spread =
      std::sqrt(std::sqrt(form.fourth * std::pow(largest, 4) + 3.0 * fluctuation * fluctuation));
  const double norm = std::sqrt(mean) + form.error * largest + spread;
  return {root * root, norm * norm};
}

/// w^4 E N2 + w^6 E N3 at noise level z; infinite where the form is singular.
FormValue integrand_at(const SteinNorms& norms, const Vector& shares, double w, double z) {
  // w^2 Q <= root' diag(omega) root.
  const Vector denominators = (z * w * w * shares).array() + (1.0 - w * w);
  if (!(denominators.minCoeff() > 1e-9)) return {INFINITY, INFINITY};
  const Vector omega = (w * w) * denominators.cwiseInverse();
  const double largest = omega.maxCoeff();
  const Index n = omega.size();
  Vector pairs(n * (n + 1) / 2);
  for (Index c = 0; c < n; ++c) pairs.segment(c * (c + 1) / 2, c + 1) = omega(c) * omega.head(c + 1);
  const FormValue second = value_of(norms.second, omega, omega, largest);
  const FormValue third = value_of(norms.third, omega, pairs, largest * std::sqrt(largest));
  return {second.square + third.square, second.fourth + third.fourth};
}

/// The smallest over the rungs to start from: on the event that the noise is below a rung its probability's
/// root stands for it (Y.12).
double squared_integrand(const SteinNorms& norms, const NoiseLadder& ladder, double w) {
  double best = INFINITY;
  double below = 0.0;  // what lower rungs add
  for (std::size_t k = ladder.steps.size(); k-- > 0;) {
    const FormValue value = integrand_at(norms, ladder.shares, w, ladder.steps[k].level);
    best = std::min(best, value.square + below);
    // A rung that is likely to be missed is no place to start from.
    if (k > 0 && ladder.steps[k - 1].probability > kLikely) break;
    if (k > 0) below += std::sqrt(ladder.steps[k - 1].probability) * value.fourth;
    if (!(below < INFINITY)) break;
  }
  return best;
}

}  // namespace

double stein_flow(const SteinNorms& norms, const NoiseLadder& ladder) {
  double best = norms.first;
  double sum = 0.0;
  for (int i = 1; i <= kFlowCells; ++i) {
    const double w = flow_node(i);
    sum += (w - flow_node(i - 1)) * std::sqrt(squared_integrand(norms, ladder, w));
    if (!(sum < best)) break;
    best = std::min(best, sum + norms.first * std::sqrt(std::max(0.0, 1.0 - w * w)));
  }
  return best * kSafety;
}

}  // namespace mixcert
