// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Adds layer after layer to a canonical network under construction.
#pragma once

#include "network/layers/canonical_chain.h"
#include "network/layers/layer_kind.h"

namespace mixcert {

class ChainBuilder {
 public:
  /// `shape` of the values in front of the first layer; `budget` must outlive this.
  ChainBuilder(const LayerShape& shape, MemoryBudget& budget)
      : shape_(shape), budget_(budget), chain_(shape.size(), budget) {}

  [[nodiscard]] CanonicalChain& chain() { return chain_; }
  /// In front of the layer that is being added.
  [[nodiscard]] const LayerShape& shape() const { return shape_; }
  [[nodiscard]] MemoryBudget& budget() { return budget_; }

  void add(const LayerSpec& spec) {
    const LayerKindPointer layer = layer_kind(spec);
    const LayerShape after = layer->shape_after(shape_);
    layer->expand(*this);
    shape_ = after;
  }

 private:
  LayerShape shape_;
  MemoryBudget& budget_;
  CanonicalChain chain_;
};

}  // namespace mixcert
