// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "scalar_noise.h"

#include "root_deviation.h"

namespace mixcert_check {
namespace {

BallMatrix without_diagonal(BallMatrix form) {
  for (slong i = 0; i < form.rows(); ++i) form.set(i, i, Ball(0.0));
  return form;
}

/// No less than the largest eigenvalue of a correlation: by rows, and |r|^8 <= tr r^8 = |r^4|_F^2.
Ball eigenvalue_bound(const BallMatrix& r) {
  Ball rows;
  for (slong i = 0; i < r.rows(); ++i) {
    Ball row;
    for (slong j = 0; j < r.columns(); ++j) row += absolute(r.at(i, j));
    rows = larger(rows, row);
  }
  const BallMatrix square_of_r = r.times(r), fourth = square_of_r.times(square_of_r);
  return smaller(rows, root(root(root(inner_product(fourth, fourth)))));
}

}  // namespace

ScalarNoise::ScalarNoise(const Activation& f, const ActivationLaw& law, const BallMatrix& covariance)
    : law_(law),
      covariance_(covariance),
      steepest_(f.steepest_slope()),
      largest_eigenvalue_(law.correlation ? eigenvalue_bound(*law.correlation) : Ball(1.0)) {
  if (!f.largest_value()) return;
  Ball squares;
  for (const Ball& mean : law.mean) squares += square(*f.largest_value() + absolute(mean));
  reach_ = root(squares);
}

Ball ScalarNoise::deviation(const BallMatrix& form) const {
  const slong n = form.rows();
  const BallMatrix off = without_diagonal(form);
  const Balls slopes = law_.slopes(), line = off.times(law_.mean);
  // sum_j Q_jj a_j^2
  BallMatrix diagonal(1, n), dyad(n, n);
  for (slong i = 0; i < n; ++i) {
    diagonal.set(0, i, form.at(i, i));
    for (slong j = 0; j < n; ++j)
      dyad.set(i, j, line[static_cast<std::size_t>(i)] * line[static_cast<std::size_t>(j)]);
  }
  const Ball squares = root(law_.variances_of_squares(diagonal).front());
  const Ball linear = Ball(2.0) * root(law_.hermite_form(dyad, slopes));
  // d'Qd, by Poincare's inequality, and where neurons are bounded by |d| |Qd|.
  const BallMatrix scaled = off.columns_scaled(law_.deviations);
  Ball quadratic = Ball(2.0) * steepest_ * root(largest_eigenvalue_) *
                   root(law_.hermite_form(scaled.times(scaled.transposed()), slopes));
  if (reach_) quadratic = smaller(quadratic, *reach_ * root(law_.hermite_form(off.times(off), slopes)));
  return squares + linear + quadratic;
}

Ball ScalarNoise::cost(const BallMatrix& form, const Ball& least) const {
  const Ball mean = dot(law_.mean, form.times(law_.mean)) + least + inner_product(form, covariance_);
  // What E s may be off: covariances of Hermite rank three and more, which K~ takes as if neurons were alike.
  Ball off;
  for (slong i = 0; law_.correlation && i < form.rows(); ++i) {
    for (slong j = 0; j < i; ++j) {
      const Ball r = absolute(law_.correlation->at(i, j));
      off += Ball(4.0) * absolute(form.at(i, j)) * r * square(r) * law_.rest[static_cast<std::size_t>(i)] *
             law_.rest[static_cast<std::size_t>(j)];
    }
  }
  const Ball by_root = off / root(mean), by_size = root(off);
  const Ball shift = by_root.is_finite() ? smaller(by_root, by_size) : by_size;
  // The ends of an interval, and not a ball: its operations would double what is wide.
  const Ball low = larger(least, mean - off), high = mean + off;
  return square(root(root_deviation(square(deviation(form)), low, high, least, false)) + shift);
}

}  // namespace mixcert_check
