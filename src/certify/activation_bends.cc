// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Every bound is a bell-shaped function at the point of the interval nearest to zero times a polynomial at
// the farthest one, docs/theory/stein.md (Y.11); both are in the functions' records.
#include "certify/activation_bends.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace mixcert {
namespace {

/// z0 and z1 are the ends.
struct Stretch {
  double z0, z1, steepest;
};

Bends bends_on(const Analytic& function, const Stretch& on) {
  const double first = std::abs(on.z0), last = std::abs(on.z1);
  const double nearest = on.z0 * on.z1 > 0.0 ? std::min(first, last) : 0.0;
  const Bends bends = function.bends(nearest, std::max(first, last), on.steepest);
  return {bends.second * kSafety, bends.third * kSafety};
}

Bends bends_on(const LeftAnalytic& function, const Stretch& on) {
  return on.z0 + on.z1 < 0.0 ? function.bends(on.steepest) : Bends{};
}

}  // namespace

double second_derivative(const Activation& f, double z, double value, double slope) {
  const Smooth* smooth = f.traits().smooth();
  return smooth != nullptr ? smooth->second_derivative(z, value, slope) : 0.0;
}

Bends bends_between(const Activation& f, double z0, double z1, double slope0, double slope1) {
  const Smooth* smooth = f.traits().smooth();
  if (smooth == nullptr) return {};
  const Stretch on{z0, z1, std::max(std::abs(slope0), std::abs(slope1)) * kSafety};
  return std::visit([&](const auto& function) { return bends_on(function, on); }, smooth->domain.get());
}

}  // namespace mixcert
