// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "activation_law.h"

#include "moments.h"

namespace mixcert_check {
namespace {

template <class Number, class Matrix>
Matrix correlation_of(const GaussianLaw& law) {
  std::vector<Number> scale;
  for (const Ball& variance : law.variances)
    scale.emplace_back(variance.is_positive() ? Ball(1.0) / root(variance) : Ball(0.0));
  const slong n = law.covariance->rows();
  // Where it cannot be told from zero, anything that a correlation may be.
  const Number any(around(0.0, 1.0));
  const auto is_known = [&law](slong i) {
    const Ball& variance = law.variances[static_cast<std::size_t>(i)];
    return variance.is_positive() || variance.is_zero();
  };
  Matrix made(n, n);
  for (slong i = 0; i < n; ++i) {
    for (slong j = 0; j <= i; ++j) {
      const Number value = is_known(i) && is_known(j)
                               ? Number(law.covariance->at(i, j)) * scale[static_cast<std::size_t>(i)] *
                                     scale[static_cast<std::size_t>(j)]
                               : any;
      made.set(i, j, value);
      made.set(j, i, value);
    }
    if (!is_known(i)) made.set(i, i, Number(Ball(1.0)));
  }
  return made;
}

Balls numbers_of(const Balls& balls, const BallMatrix&) { return balls; }
DoubleBalls numbers_of(const Balls& balls, const DoubleMatrix&) { return in_doubles(balls); }

/// a k, k symmetric.
BallMatrix times_symmetric(const BallMatrix& a, const BallMatrix& k) { return a.times(k); }
DoubleMatrix times_symmetric(const DoubleMatrix& a, const DoubleMatrix& k) { return rounded_product(a, k); }

}  // namespace

ActivationLaw::ActivationLaw(const GaussianLaw& law, const Activation& f, const Mask& mask,
                             WhichBalls which) {
  for (std::size_t j = 0; j < law.mean.size(); ++j) {
    deviations.push_back(root(law.variances[j]));
    const Moments a = moments_of(f, law.mean[j], deviations.back());
    const Ball deviation = root(a.variance);
    mean.push_back(a.mean);
    gain.push_back(a.linear.about() < 0.0 ? -deviation : deviation);
    linear.push_back(a.linear - gain.back());
    quadratic.push_back(a.quadratic);
    rest.push_back(root(a.variance - square(a.linear) - square(a.quadratic)));
    second.push_back(positive_part(a.second));
    square_slope.push_back(a.square_slope);
    square_rest.push_back(root(a.square_variance - square(a.square_slope)));
    if (mask.is_random) apply(mask);
  }
  if (law.covariance && which.exact) correlation = correlation_of<Ball, BallMatrix>(law);
  if (law.covariance && which.rounded) rounded_correlation = correlation_of<DoubleBall, DoubleMatrix>(law);
}

/// c = nu E a^2 + tau^2 - 2 tau kap* E|a| with tau^2 = nu E a^2; E|a| >= |E a| and >= (E a^2)^{3/2} / (E
/// a^4)^{1/2}.
void ActivationLaw::apply(const Mask& mask) {
  Ball &a2 = second.back(), &slope = square_slope.back(), &other = square_rest.back();
  const Ball fourth = square(a2) + square(slope) + square(other);
  Ball size = absolute(mean.back());
  const Ball by_moments = a2 * root(a2 / fourth);
  if (by_moments.is_finite()) size = larger(size, by_moments);
  const Ball added = mask.variance * a2, factor = Ball(1.0) + mask.variance;
  mask_variance.push_back(added);
  mask_cost.push_back(positive_part(Ball(2.0) * (added - root(added) * mask.coupling * size)));
  mask_square.push_back((mask.fourth - square(factor)) * fourth);
  a2 *= factor;
  slope *= factor;
  other *= factor;
}

Ball ActivationLaw::own_form(const Ball& entry, const Balls& first, std::size_t neuron) const {
  return positive_part(entry) * (square(first[neuron]) + square(quadratic[neuron]) + square(rest[neuron]));
}

Ball ActivationLaw::hermite_form(const BallMatrix& b, const Balls& first) const {
  Ball total;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto row = static_cast<slong>(i);
    total += own_form(b.at(row, row), first, i);
    if (!correlation) continue;
    Balls ranks[3];  // B r, B r^2 and |B r^3|, left of the diagonal
    for (slong j = 0; j < row; ++j) {
      const Ball r = correlation->at(row, j);
      const Ball entry = b.at(row, j) * r, entry2 = entry * r;
      ranks[0].push_back(entry);
      ranks[1].push_back(entry2);
      ranks[2].push_back(absolute(entry2 * r));
    }
    total += Ball(2.0) * (first[i] * dot(ranks[0], first) + quadratic[i] * dot(ranks[1], quadratic) +
                          rest[i] * dot(ranks[2], rest));
  }
  return positive_part(total);
}

/// The same, pairs of neurons in doubles (I.7).
Ball ActivationLaw::hermite_form(const DoubleMatrix& b, const Balls& first) const {
  const DoubleBalls p = in_doubles(first), q = in_doubles(quadratic), t = in_doubles(rest);
  Ball total;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto row = static_cast<slong>(i);
    total += own_form(b.at(row, row).ball(), first, i);
    if (!rounded_correlation) continue;
    DoubleBall ranks[3];
    for (slong j = 0; j < row; ++j) {
      const auto column = static_cast<std::size_t>(j);
      const DoubleBall &r = rounded_correlation->at(row, j), entry = b.at(row, j) * r, entry2 = entry * r;
      ranks[0] = ranks[0] + entry * p[column];
      ranks[1] = ranks[1] + entry2 * q[column];
      ranks[2] = ranks[2] + absolute(entry2 * r) * t[column];
    }
    total +=
        Ball(2.0) * (first[i] * ranks[0].ball() + quadratic[i] * ranks[1].ball() + rest[i] * ranks[2].ball());
  }
  return positive_part(total);
}

/// sum_ij v_i v_j (e_i e_j r_ij + r_ij^2 w_i w_j), and what masks add.
template <class Number, class Matrix>
Balls ActivationLaw::variances_by(const std::optional<Matrix>& r, const Matrix& rows) const {
  Balls variances;
  if (!r) {
    Balls each;
    for (std::size_t j = 0; j < size(); ++j) each.push_back(square(square_slope[j]) + square(square_rest[j]));
    variances = rows.squared_entries().times(each);
  } else {
    const auto slopes = numbers_of(square_slope, rows), others = numbers_of(square_rest, rows);
    Matrix kernel(r->rows(), r->rows());
    for (slong row = 0; row < r->rows(); ++row) {
      for (slong column = 0; column <= row; ++column) {
        const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
        const Number& correlated = r->at(row, column);
        const Number value = correlated * (slopes[i] * slopes[j] + correlated * others[i] * others[j]);
        kernel.set(row, column, value);
        kernel.set(column, row, value);
      }
    }
    const Matrix carried = times_symmetric(rows, kernel);
    for (slong l = 0; l < rows.rows(); ++l) variances.push_back(positive_part(dot_of_rows(carried, rows, l)));
  }
  if (is_masked()) {
    const Balls by_masks = rows.squared_entries().times(mask_square);
    for (std::size_t l = 0; l < variances.size(); ++l) variances[l] += by_masks[l];
  }
  return variances;
}

Balls ActivationLaw::variances_of_squares(const BallMatrix& rows) const {
  return variances_by<Ball>(correlation, rows);
}

Balls ActivationLaw::variances_of_squares(const DoubleMatrix& rows) const {
  return variances_by<DoubleBall>(rounded_correlation, rows);
}

BallMatrix ActivationLaw::covariance() const {
  const auto n = static_cast<slong>(size());
  BallMatrix made(n, n);
  if (correlation) {
    const Balls first = slopes();
    const BallMatrix r2 = correlation->squared_entries();
    made = correlation->rows_scaled(first).columns_scaled(first);
    made.add(r2.rows_scaled(quadratic).columns_scaled(quadratic));
    for (slong i = 0; i < n; ++i) {
      for (slong j = 0; j < n; ++j) {
        const Ball cube = r2.at(i, j) * correlation->at(i, j);
        made.add(i, j, cube * rest[static_cast<std::size_t>(i)] * rest[static_cast<std::size_t>(j)]);
      }
    }
  }
  for (slong i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    made.set(i, i, positive_part(second[at] - square(mean[at])));
  }
  return made;
}

Balls ActivationLaw::slopes() const {
  Balls made;
  for (std::size_t j = 0; j < size(); ++j) made.push_back(linear[j] + gain[j]);
  return made;
}

}  // namespace mixcert_check
