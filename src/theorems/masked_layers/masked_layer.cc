// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Errors of moments become moves of the functions that have them (D.18).
#include "theorems/masked_layers/masked_layer.h"

#include <cmath>

#include "core/elementary.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Slopes of neurons that are hardly linear in the masks grow no more than this; a choice.
constexpr double kMostStretched = 2.0;

/// Where all masks are enumerated there are no columns, and no memory whose address Eigen's row() could form.
void scale_row(Matrix& matrix, Index row, double factor) {
  if (matrix.cols() > 0) matrix.row(row) *= factor;
}

}  // namespace

MaskedLayer masked_layer(const std::vector<LatticeMoments>& neurons, Index masks) {
  const auto n = static_cast<Index>(neurons.size());
  MaskedLayer layer;
  for (Vector* field :
       {&layer.mean, &layer.curve, &layer.rest, &layer.second, &layer.absolute, &layer.moved}) {
    *field = Vector::Zero(n);
  }
  layer.slopes = layer.directions = Matrix::Zero(n, masks);
  for (Index l = 0; l < n; ++l) {
    const LatticeMoments& one = neurons[static_cast<std::size_t>(l)];
    // Functions with exactly these mean, slopes and curve are so near.
    const double off = enlarged(one.error * (1.0 + std::sqrt(static_cast<double>(masks))) + one.curve_error);
    if (!(off < 0.25)) return layer;
    layer.mean(l) = one.mean;
    if (masks > 0) layer.slopes.row(l) = one.slopes;
    layer.curve(l) = one.curve;
    if (one.directions.size() > 0) layer.directions.row(l) = one.directions;
    layer.moved(l) = enlarged(one.moved + off);
    layer.second(l) = enlarged(square(std::sqrt(positive_part(one.second) + one.error) + off));
    layer.absolute(l) = positive_part(reduced(one.absolute) - one.error - off);
    const double known = square(one.mean) + one.slopes.squaredNorm() + square(one.curve);
    const double error =
        rounding_gamma(masks + 64) * (layer.second(l) + known) + 2.0 * one.curve_error * std::abs(one.curve);
    layer.rest(l) = enlarged(std::sqrt(positive_part(layer.second(l) - known) + error));
    layer.exponents.push_back(one.exponent);
  }
  return layer;
}

MaskedLayer in_units(MaskedLayer layer, const std::vector<int>& exponents) {
  for (Index l = 0; l < layer.mean.size(); ++l) {
    int& exponent = layer.exponents[static_cast<std::size_t>(l)];
    const int wanted = exponents[static_cast<std::size_t>(l)];
    // Digits that are lost below the smallest doubles are among the hidden ones.
    const double unit = std::ldexp(1.0, exponent - wanted);
    for (Vector* field : {&layer.mean, &layer.curve, &layer.rest, &layer.absolute, &layer.moved}) {
      (*field)(l) *= unit;
    }
    layer.second(l) *= unit * unit;
    scale_row(layer.slopes, l, unit);
    exponent = wanted;
  }
  return layer;
}

MaskedLayer with_factors(MaskedLayer layer, const Vector& factors) {
  const double room = 1.0 + 8 * kUnitRoundoff;
  for (Index l = 0; l < factors.size(); ++l) {
    const double factor = factors(l);
    // Mean, slopes and curve are rounded once: what that moves is charged.
    layer.moved(l) = room * factor * (layer.moved(l) + 8 * kUnitRoundoff * std::sqrt(layer.second(l)));
    layer.mean(l) *= factor;
    scale_row(layer.slopes, l, factor);
    layer.curve(l) *= factor;
    layer.rest(l) *= factor * room;
    layer.second(l) *= room * factor * factor;
    layer.absolute(l) *= factor / room;
  }
  return layer;
}

Matrix curve_products(const MaskedLayer& layer) {
  const Matrix& v = layer.directions;
  const Matrix squares = v.cwiseAbs2();
  return 0.5 * ((v * v.transpose()).cwiseAbs2() - squares * squares.transpose());
}

MaskedStandIn own_stand_in(const MaskedLayer& layer, const std::vector<bool>& is_masked, double variance) {
  MaskedStandIn own{layer.mean, layer.slopes, Vector::Zero(layer.mean.size())};
  for (Index l = 0; l < own.mean.size(); ++l) {
    if (is_masked[static_cast<std::size_t>(l)]) own.mask_gain(l) = std::sqrt(variance * layer.second(l));
    const double line = layer.slopes.cols() > 0 ? layer.slopes.row(l).stableNorm() : 0.0;
    const double all = std::hypot(line, layer.curve(l), layer.rest(l));
    if (line > 0.0) own.lines.row(l) *= std::min(all / line, kMostStretched);
  }
  return own;
}

Vector about_deviations(const Matrix& columns, const MaskedLayer& layer, const Vector& mask_gain) {
  Vector alone = layer.rest.cwiseAbs2() + mask_gain.cwiseAbs2();
  Vector variances = (columns * layer.slopes).rowwise().squaredNorm();
  if (layer.curve.size() <= kMostProjected) {
    const Matrix curves = columns * layer.curve.asDiagonal();
    variances += (curves * curve_products(layer)).cwiseProduct(curves).rowwise().sum();
  } else {
    alone += layer.curve.cwiseAbs2();
  }
  variances += columns.cwiseAbs2() * alone;
  return positive_part(variances).cwiseSqrt();
}

}  // namespace mixcert
