// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The envelope of the logistic function (U.12), and its tables.
//
// h(v) = s(v) + kappa (u - v)^2 has h'' = s'' + 2 kappa, and s'' + 2 kappa < 0 on one interval (z1, z2) of
// v > 0 at most. h is convex before and after it and concave within, so that its least value is that of the
// two convex parts, each found by Newton's method (U.12).
#include <array>
#include <cmath>
#include <memory>
#include <mutex>

#include "answer/dual_bounds.h"

namespace mixcert {
namespace {

constexpr Index kTableCount = 193;
// Errors of h: terms below 2, exp accurate to 16 u. Far below the table's error.
constexpr double kEnvelopeError = 1e-13;
// Where s'' is least, log(2 + sqrt 3).
constexpr double kSteepest = 1.3169578969248167;

double logistic(double v) { return 1.0 / (1.0 + std::exp(-v)); }
double logistic_slope(double v) { return logistic(v) * logistic(-v); }
double logistic_curvature(double v) { return logistic_slope(v) * (logistic(-v) - logistic(v)); }

/// Where s'' + 2 kappa turns from positive to negative, between points with these signs; the side returned
/// is the positive one.
double curvature_zero(double positive, double negative, double kappa) {
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (positive + negative);
    (logistic_curvature(middle) + 2.0 * kappa > 0.0 ? positive : negative) = middle;
  }
  return positive;
}

/// A number no more than the least value of h on [low, high], where h is convex: by h(v) - |h'(v)| (high -
/// low) at a v found by Newton's method, kept within the bracket.
double least_of_convex(double u, double kappa, double low, double high) {
  double v = high;
  double lower = 0.0;
  for (int step = 0; step < 100; ++step) {
    const double slope = logistic_slope(v) - 2.0 * kappa * (u - v);
    const double slack = std::abs(slope) * (high - low);
    lower = std::max(lower, logistic(v) + kappa * (u - v) * (u - v) - slack);
    if (slack < 1e-14) break;
    (slope < 0.0 ? low : high) = v;
    const double next = v - slope / (logistic_curvature(v) + 2.0 * kappa);
    v = next > low && next < high ? next : 0.5 * (low + high);
  }
  return lower;
}

struct ConvexParts {
  double first_end;     ///< z1
  double second_start;  ///< z2
};

ConvexParts convex_parts(double kappa) {
  if (logistic_curvature(kSteepest) + 2.0 * kappa > 0.0) return {kSteepest, kSteepest};
  return {curvature_zero(0.0, kSteepest, kappa), curvature_zero(800.0, kSteepest, kappa)};
}

double envelope(double u, double kappa, const ConvexParts& parts) {
  // Minimisers satisfy 2 kappa (u - v) = s'(v), in (0, 1/4].
  const double low = u - 0.126 / kappa;
  double least = least_of_convex(u, kappa, std::min(low, parts.first_end), std::min(u, parts.first_end));
  if (u > parts.second_start) {
    least = std::min(least, least_of_convex(u, kappa, std::max(low, parts.second_start), u));
  }
  return positive_part(least - kEnvelopeError);
}

}  // namespace

double sigmoid_envelope(double u, double kappa) { return envelope(u, kappa, convex_parts(kappa)); }

EnvelopeTable::EnvelopeTable(double kappa) : kappa_(kappa) {
  const ConvexParts parts = convex_parts(kappa);
  const auto nodes = static_cast<std::size_t>((kLast - kFirst) * kNodesPerUnit) + 1;
  values_.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    values_[i] = envelope(kFirst + static_cast<double>(i) / kNodesPerUnit, kappa, parts);
  }
}

Index EnvelopeTable::count() { return kTableCount; }

double EnvelopeTable::kappa_of(Index k) { return std::exp2(0.125 * static_cast<double>(k) - 14.0); }

const EnvelopeTable& EnvelopeTable::at(Index k) {
  static std::array<std::once_flag, kTableCount> built;
  static std::array<std::unique_ptr<const EnvelopeTable>, kTableCount> tables;
  const auto place = static_cast<std::size_t>(k);
  std::call_once(built.at(place),
                 [&] { tables.at(place) = std::make_unique<const EnvelopeTable>(kappa_of(k)); });
  return *tables.at(place);
}

}  // namespace mixcert
