// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A walk over the entries of a list by their names, as docs/model-format.md says it: what values and draws of
// naive layers share.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert::testing {

template <class Real>
struct NaiveValue {
  LayerShape shape;
  std::vector<Real> x;
};

/// As entries name each other, kind by kind.
inline std::string naive_name(const LayerSpec& spec) {
  if (!spec.node.empty()) return spec.node;
  if (const auto* dense = std::get_if<DenseSpec>(&spec.variant())) return dense->layer.name();
  if (const auto* conv = std::get_if<Conv2dSpec>(&spec.variant())) return conv->name;
  if (const auto* norm = std::get_if<BatchNormSpec>(&spec.variant())) return norm->name;
  if (const auto* affine = std::get_if<AffineSpec>(&spec.variant())) return affine->name;
  return "";
}

template <class Real>
NaiveValue<Real> naive_join(bool is_sum, const std::vector<NaiveValue<Real>>& seen) {
  NaiveValue<Real> made = seen.front();
  for (std::size_t i = 1; i < seen.size(); ++i) {
    if (is_sum) {
      for (std::size_t j = 0; j < made.x.size(); ++j) made.x[j] += seen[i].x[j];
    } else {
      made.x.insert(made.x.end(), seen[i].x.begin(), seen[i].x.end());
      made.shape.channels += seen[i].shape.channels;
    }
  }
  return made;
}

/// Value by value.
template <class Real>
std::vector<Real> plus(std::vector<Real> sum, const std::vector<Real>& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  return sum;
}

/// layer(spec, shape in front, x) is what one layer of one input makes.
template <class Real, class Layer>
std::vector<Real> naive_list(const std::vector<LayerSpec>& layers, const LayerShape& shape,
                             const std::vector<Real>& x, Layer layer) {
  std::map<std::string, NaiveValue<Real>> named = {{"input", {shape, x}}};
  NaiveValue<Real> last{shape, x};
  for (const LayerSpec& spec : layers) {
    std::vector<NaiveValue<Real>> seen;
    for (const std::string& name : spec.inputs) seen.push_back(named.at(name));
    if (seen.empty()) seen.push_back(last);
    const bool is_sum = std::holds_alternative<AddSpec>(spec.variant());
    if (is_sum || std::holds_alternative<ConcatSpec>(spec.variant())) {
      last = naive_join(is_sum, seen);
    } else {
      last = {shape_after(spec, seen.front().shape), layer(spec, seen.front().shape, seen.front().x)};
    }
    named[naive_name(spec)] = last;
  }
  return last.x;
}

}  // namespace mixcert::testing
