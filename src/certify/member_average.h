// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Averages over the members of an ensemble, docs/theory/ensembles.md (B.1).
#pragma once

#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

/// sum_i w_i f(i) / sum_i w_i, f(i) the UpperBound of member i.
template <class Value>
UpperBound member_average(const Vector& weights, const Value& value) {
  UpperBound sum;
  for (Index i = 0; i < weights.size(); ++i) sum = sum + UpperBound::exact(weights(i)) * value(i);
  const double total = weights.sum();
  const double least = next_down(total * next_down(1.0 - rounding_gamma(weights.size())));
  return sum * UpperBound{1.0 / total, next_up(1.0 / least)};
}

/// The root of the average of squares.
template <class Value>
UpperBound member_root_mean_square(const Vector& weights, const Value& value) {
  return sqrt(member_average(weights, [&](Index i) {
    const UpperBound one = value(i);
    return one * one;
  }));
}

}  // namespace mixcert
