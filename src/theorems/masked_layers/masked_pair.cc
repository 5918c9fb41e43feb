// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Quadratic forms in the columns' Gram matrix (D.17). Every form with signs is enlarged by what rounding may
// hide of the same form with absolute values.
#include "theorems/masked_layers/masked_pair.h"

#include <algorithm>
#include <cmath>

#include "core/elementary.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// What numbers below 2^-1022 in units hide.
constexpr double kHidden = 1e-140;

/// sum_lk |w_l.w_k| x_l x_k of nonnegative x.
double absolute_form(const ColumnGram& columns, const Vector& x) {
  const double sum = x.dot(columns.gram.cwiseAbs() * x);
  const Index n = x.size();
  return enlarged(sum + rounding_gamma(columns.operations + 4 * n + 64) * square(columns.roots.dot(x)));
}

/// Rounding of <x, gram y> summed over columns, relative to majorants.
double form_rounding(const ColumnGram& columns, const Matrix& x) {
  return rounding_gamma(columns.operations + 2 * columns.roots.size() + x.size() + 64);
}

double majorant(const ColumnGram& columns, const Matrix& x) {
  return enlarged((columns.roots.transpose() * x.cwiseAbs()).squaredNorm());
}

/// sum_j | sum_l w_l (slopes_lj X_j - lines_lj g_j) |^2.
double linear_square(const ColumnGram& columns, const Matrix& slopes, const Matrix& lines, double coupling) {
  const Matrix image = columns.gram * slopes;
  const double own = inner(image, slopes), common = inner(image, lines);
  const double other = inner(columns.gram * lines, lines);
  // Where signs differ the coupling makes it larger, and the largest coupling is one.
  const double sum = own + other - 2.0 * (common >= 0.0 ? coupling : 1.0) * common;
  const double error =
      4.0 * form_rounding(columns, slopes) * (majorant(columns, slopes) + majorant(columns, lines));
  return positive_part(sum) + enlarged(error);
}

/// The part of second order, P = sum_l w_l curve_l Q_l, and what is left, S = sum_l w_l rest_l.
class SecondOrder {
 public:
  SecondOrder(const ColumnGram& columns, const MaskedLayer& layer) : columns_(columns), layer_(layer) {
    const Matrix& v = layer.directions;
    common_ = curve_products(layer);
    // Its entries are off by gamma |v_l|^2 |v_k|^2.
    sizes_ = larger_or_nan(v.cwiseAbs2().rowwise().sum(), 1.0);
    total_ = enlarged(columns.roots.dot(layer.curve.cwiseAbs().cwiseProduct(sizes_)));
    rounding_ = rounding_gamma(columns.operations + 4 * v.cols() + v.rows() * (v.rows() + 2) + 64);
  }
  /// No less than |P|^2.
  [[nodiscard]] double square_of_curves() const {
    const double sum = layer_.curve.dot(columns_.gram.cwiseProduct(common_) * layer_.curve);
    return positive_part(sum) + enlarged(rounding_ * square(total_));
  }
  /// No less than |E P.S|: what is left of h_l is orthogonal to Q_l.
  [[nodiscard]] double product() const {
    const Matrix parts = columns_.gram * layer_.curve.asDiagonal();  // w_l.P = sum_k parts_lk Q_k
    const Matrix image = parts * common_;
    double sum = 0.0;
    for (Index l = 0; l < parts.rows(); ++l) {
      const double error = 4.0 * rounding_ * square(columns_.roots(l) * total_);
      const double whole = image.row(l).dot(parts.row(l));
      const double along = layer_.curve(l) == 0.0 ? 0.0 : square(image(l, l));
      sum += layer_.rest(l) * std::sqrt(positive_part(whole - along) + enlarged(error));
    }
    return enlarged(sum);
  }

 private:
  const ColumnGram& columns_;
  const MaskedLayer& layer_;
  Matrix common_;  ///< E Q_l Q_k
  Vector sizes_;   ///< |v_l|^2, no less than one
  double total_ = 0.0;
  double rounding_ = 0.0;
};

/// What the second layer's masks cost: nu E h^2 + t^2 - 2 t kap* E|h|.
double mask_square(const ColumnGram& columns, const MaskedLayer& layer, const MaskedStandIn& stand_in,
                   const MaskedPair& masks) {
  double sum = 0.0;
  for (Index l = 0; l < layer.mean.size(); ++l) {
    if (!masks.is_masked[static_cast<std::size_t>(l)]) continue;
    const double gain = stand_in.mask_gain(l);
    const double squares = masks.second_variance * layer.second(l) + square(gain);
    const double cost = squares * (1.0 + 32 * kUnitRoundoff) -
                        (1.0 - 32 * kUnitRoundoff) * 2.0 * gain * masks.second_coupling * layer.absolute(l);
    sum += square(columns.roots(l)) * positive_part(cost);
  }
  return enlarged(sum);
}

/// What replacing the neurons by functions with the stored moments moves the sum by.
double moved_by(const ColumnGram& columns, const MaskedLayer& layer, const MaskedPair& masks) {
  double squares = 0.0;
  for (Index l = 0; l < layer.moved.size(); ++l) {
    if (masks.is_masked[static_cast<std::size_t>(l)]) squares += square(columns.roots(l) * layer.moved(l));
  }
  return std::sqrt(absolute_form(columns, layer.moved)) + std::sqrt(masks.second_variance * squares);
}

int exponent_of(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent;
}

}  // namespace

ColumnGram column_gram(const Matrix& columns, const std::vector<int>& exponents) {
  ColumnGram made;
  bool any = false;
  for (Index l = 0; l < columns.cols(); ++l) {
    const double largest = columns.rows() == 0 ? 0.0 : columns.col(l).cwiseAbs().maxCoeff();
    if (largest == 0.0) continue;
    const int exponent = exponent_of(largest) + exponents[static_cast<std::size_t>(l)];
    made.exponent = any ? std::max(made.exponent, exponent) : exponent;
    any = true;
  }
  Matrix scaled(columns.rows(), columns.cols());
  for (Index l = 0; l < columns.cols(); ++l) {
    const int exponent = exponents[static_cast<std::size_t>(l)] - made.exponent;
    scaled.col(l) = columns.col(l).unaryExpr([exponent](double x) { return std::ldexp(x, exponent); });
  }
  made.gram = scaled.transpose() * scaled;
  made.roots = enlarged(scaled.colwise().norm().transpose().eval());
  made.operations = columns.rows() + 8;
  return made;
}

ColumnGram column_gram(const NormTerm& norm, const std::vector<int>& exponents) {
  ColumnGram made;
  const Index n = norm.gram_roots.size();
  bool any = false;
  for (Index l = 0; l < n; ++l) {
    if (!(norm.gram_roots(l) > 0.0)) continue;
    const int exponent = exponent_of(norm.gram_roots(l)) + exponents[static_cast<std::size_t>(l)];
    made.exponent = any ? std::max(made.exponent, exponent) : exponent;
    any = true;
  }
  made.gram = norm.gram;
  made.roots = norm.gram_roots;
  for (Index l = 0; l < n; ++l) {
    const double unit = std::ldexp(1.0, exponents[static_cast<std::size_t>(l)] - made.exponent);
    made.gram.row(l) *= unit;
    made.gram.col(l) *= unit;
    made.roots(l) *= unit;
  }
  made.operations = 4 * norm.metric.size() + 8;
  return made;
}

double rest_square(const ColumnGram& columns, const MaskedLayer& layer) {
  const double left = absolute_form(columns, layer.rest);
  if (layer.curve.isZero(0.0)) return left;
  const Index n = layer.mean.size();
  if (n > kMostProjected) {
    // Without the part of second order: what is left then is all of it.
    Vector all(n);
    for (Index l = 0; l < n; ++l) all(l) = enlarged(std::hypot(layer.rest(l), layer.curve(l)));
    return absolute_form(columns, all);
  }
  const SecondOrder order(columns, layer);
  const double curves = order.square_of_curves();
  const double product = std::min(order.product(), enlarged(std::sqrt(curves * left)));
  return enlarged(curves + left + 2.0 * product);
}

double masked_distance(const ColumnGram& columns, const MaskedLayer& layer, const MaskedStandIn& stand_in,
                       const MaskedPair& masks) {
  const Vector shift = layer.mean - stand_in.mean;
  const double shifted = positive_part(shift.dot(columns.gram * shift)) +
                         2.0 * form_rounding(columns, shift) *
                             square(columns.roots.dot(layer.mean.cwiseAbs() + stand_in.mean.cwiseAbs()));
  const double square = shifted + linear_square(columns, layer.slopes, stand_in.lines, masks.first_coupling) +
                        rest_square(columns, layer) + mask_square(columns, layer, stand_in, masks);
  const double distance = enlarged(std::sqrt(enlarged(square)) + moved_by(columns, layer, masks));
  return next_up(std::ldexp(next_up(distance + kHidden), columns.exponent));
}

}  // namespace mixcert
