// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "local_error.h"

#include <utility>

namespace mixcert_check {
namespace {

BallMatrix correlation_of(const GaussianLaw& law) {
  Balls scale;
  for (const Ball& variance : law.variances)
    scale.push_back(variance.is_zero() ? Ball(0.0) : Ball(1.0) / root(variance));
  return law.covariance.front().rows_scaled(scale).columns_scaled(scale);
}

/// E (S^{1/2} - Sb^{1/2})^2 by (H.2), S >= least; with `convex` by (Y.27) too, 2 Sb (1 - (1 - v/2)^{1/4}). It
/// is 2 Sb - 2 Sb^{1/2} E S^{1/2}, at most 2 Sb, which is what is left where Sb is too near zero to divide
/// by.
Ball root_deviation(const Ball& variance, const Ball& mean, const Ball& least, bool convex) {
  Ball best = Ball(2.0) * positive_part(mean);
  const auto offer = [&best](const Ball& bound) {
    if (bound.is_finite()) best = smaller(best, bound);
  };
  const Ball v = variance / square(mean);
  offer(variance / square(root(mean) + root(least)));
  offer(Ball(2.0) * mean * (Ball(1.0) - Ball(1.0) / root(Ball(1.0) + v)));
  const Ball inside = Ball(1.0) - v / 2.0;
  if (convex && inside.is_positive()) offer(Ball(2.0) * mean * (Ball(1.0) - root(root(inside))));
  return best;
}

}  // namespace

GaussianLaw first_law(const Layer& layer, const std::vector<double>& input) {
  const Balls x = balls(input);
  Balls squares;
  for (const Ball& value : x) squares.push_back(square(value));
  GaussianLaw law;
  law.mean = layer.mean.times(x);
  law.variances = balls(layer.bias_variance);
  const Balls spread = layer.variance.times(squares);
  for (std::size_t i = 0; i < law.mean.size(); ++i) {
    law.mean[i] += layer.bias_mean[i];
    law.variances[i] += spread[i];
  }
  return law;
}

Step::Step(const GaussianLaw& law, const Activation& f, const Mask& mask, const Layer& next)
    : next_(next), has_convex_size_(f.has_convex_size() && !mask.is_random) {
  for (std::size_t j = 0; j < law.mean.size(); ++j) {
    const Moments a = moments_of(f, law.mean[j], root(law.variances[j]));
    const Ball deviation = root(a.variance);
    mean_.push_back(a.mean);
    gain_.push_back(a.linear.about() < 0.0 ? -deviation : deviation);
    linear_.push_back(a.linear - gain_.back());
    quadratic_.push_back(a.quadratic);
    rest_.push_back(root(a.variance - square(a.linear) - square(a.quadratic)));
    second_.push_back(positive_part(a.second));
    square_slope_.push_back(a.square_slope);
    square_rest_.push_back(root(a.square_variance - square(a.square_slope)));
    if (mask.is_random) apply(mask);
  }
  if (!law.covariance.empty()) correlation_.push_back(correlation_of(law));
  compute_noise();
}

/// c = nu E a^2 + tau^2 - 2 tau kap* E|a| with tau^2 = nu E a^2; E|a| >= |E a| and >= (E a^2)^{3/2} / (E
/// a^4)^{1/2}.
void Step::apply(const Mask& mask) {
  Ball &second = second_.back(), &slope = square_slope_.back(), &rest = square_rest_.back();
  const Ball fourth = square(second) + square(slope) + square(rest);
  Ball size = absolute(mean_.back());
  const Ball by_moments = second * root(second / fourth);
  if (by_moments.is_finite()) size = larger(size, by_moments);
  const Ball added = mask.variance * second, factor = Ball(1.0) + mask.variance;
  mask_variance_.push_back(added);
  mask_cost_.push_back(positive_part(Ball(2.0) * (added - root(added) * mask.coupling * size)));
  mask_square_.push_back((mask.fourth - square(factor)) * fourth);
  second *= factor;
  slope *= factor;
  rest *= factor;
}

void Step::compute_noise() {
  noise_mean_ = balls(next_.bias_variance);
  noise_error_.assign(noise_mean_.size(), Ball(0.0));
  if (!next_.is_random) return;
  const BallMatrix& v = next_.variance;
  const Balls added = v.times(second_);
  // Var S_l <= sum_ij V_li V_lj (e_i e_j r_ij + r_ij^2 w_i w_j)
  Balls variance;
  if (correlation_.empty()) {
    Balls each;
    for (std::size_t j = 0; j < mean_.size(); ++j)
      each.push_back(square(square_slope_[j]) + square(square_rest_[j]));
    variance = v.squared_entries().times(each);
  } else {
    BallMatrix kernel = correlation_.front().rows_scaled(square_slope_).columns_scaled(square_slope_);
    const BallMatrix further =
        correlation_.front().squared_entries().rows_scaled(square_rest_).columns_scaled(square_rest_);
    for (slong i = 0; i < kernel.rows(); ++i) {
      for (slong j = 0; j < kernel.columns(); ++j) kernel.add(i, j, further.at(i, j));
    }
    const BallMatrix carried = v.times(kernel);
    for (slong l = 0; l < v.rows(); ++l) {
      Ball total;
      for (slong j = 0; j < v.columns(); ++j) total += carried.at(l, j) * v.at(l, j);
      variance.push_back(positive_part(total));
    }
  }
  if (!mask_square_.empty()) {
    const Balls by_masks = v.squared_entries().times(mask_square_);
    for (std::size_t l = 0; l < variance.size(); ++l) variance[l] += by_masks[l];
  }
  for (std::size_t l = 0; l < noise_mean_.size(); ++l) {
    const Ball least = noise_mean_[l];
    noise_mean_[l] += added[l];
    noise_error_[l] = root_deviation(variance[l], noise_mean_[l], least, has_convex_size_);
  }
}

GaussianLaw Step::pushed() const {
  const BallMatrix& m = next_.mean;
  GaussianLaw law;
  law.mean = m.times(mean_);
  const BallMatrix factor = m.columns_scaled(gain_);
  BallMatrix covariance =
      (correlation_.empty() ? factor : factor.times(correlation_.front())).times(factor.transposed());
  if (!mask_variance_.empty()) {
    const BallMatrix further = m.columns_scaled(mask_variance_).times(m.transposed());
    for (slong i = 0; i < covariance.rows(); ++i) {
      for (slong j = 0; j < covariance.columns(); ++j) covariance.add(i, j, further.at(i, j));
    }
  }
  for (slong l = 0; l < covariance.rows(); ++l) {
    const auto place = static_cast<std::size_t>(l);
    law.mean[place] += next_.bias_mean[place];
    covariance.add(l, l, noise_mean_[place]);
    law.variances.push_back(positive_part(covariance.at(l, l)));
  }
  law.covariance.push_back(std::move(covariance));
  return law;
}

Ball Step::squared_error(const Norm& norm) const {
  const BallMatrix& b = norm.gram;
  Ball total = dot(norm.diagonal, noise_error_);
  const auto n = static_cast<slong>(mean_.size());
  for (slong i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Ball own = square(linear_[at]) + square(quadratic_[at]) + square(rest_[at]);
    total += positive_part(b.at(i, i)) * (mask_cost_.empty() ? own : own + mask_cost_[at]);
    if (correlation_.empty()) continue;
    for (slong j = 0; j < i; ++j) {
      const auto other = static_cast<std::size_t>(j);
      const Ball r = correlation_.front().at(i, j), entry = b.at(i, j), size = absolute(r);
      const Ball signed_part =
          entry * r * (linear_[at] * linear_[other] + quadratic_[at] * quadratic_[other] * r);
      total += Ball(2.0) * (signed_part + absolute(entry) * size * square(size) * rest_[at] * rest_[other]);
    }
  }
  return positive_part(total);
}

}  // namespace mixcert_check
