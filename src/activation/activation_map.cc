// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activations of whole layers.
#include <algorithm>
#include <cmath>
#include <utility>

#include "mixcert/activation/activation.h"

namespace mixcert {

ActivationMap::ActivationMap(Activation common, std::vector<bool> unchanged)
    : common_(common), unchanged_(std::move(unchanged)) {
  if (std::find(unchanged_.begin(), unchanged_.end(), true) == unchanged_.end()) unchanged_.clear();
}

const Activation& ActivationMap::at(Index neuron) const {
  static const Activation identity;
  return !unchanged_.empty() && unchanged_[static_cast<std::size_t>(neuron)] ? identity : common_;
}

Matrix ActivationMap::apply(ConstMatrixRef x, Index input_count) const {
  Matrix values = common_.apply(x);
  for (std::size_t j = 0; j < unchanged_.size(); ++j) {
    if (!unchanged_[j]) continue;
    const Index first = static_cast<Index>(j) * input_count;
    values.middleRows(first, input_count) = x.middleRows(first, input_count);
  }
  return values;
}

UpperBound ActivationMap::lipschitz() const {
  const UpperBound common = common_.lipschitz();
  return is_uniform() || common.nominal >= 1.0 ? common : UpperBound::exact(1.0);
}

double ActivationMap::at_zero() const { return std::abs(common_(0.0)); }

}  // namespace mixcert
