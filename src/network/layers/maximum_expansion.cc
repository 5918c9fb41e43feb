// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Max pooling as a network (L.4): max(a, b) = b + relu(a - b), pair by pair until one value of each window is
// left. Each round is a matrix whose outputs are differences, on which relu acts, and values that pass
// unchanged.
#include <algorithm>
#include <utility>

#include "network/layers/layer_expansion.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

/// A value as a sum of coordinates: one pixel, or a difference (behind relu) and its second argument.
using Term = std::vector<Index>;
/// What is left to compare in one window.
using Window = std::vector<Term>;

class MaximumTree {
 public:
  MaximumTree(const Window2d& window, const LayerShape& shape, MemoryBudget& budget)
      : coordinates_(shape.size()), budget_(budget) {
    for (Index channel = 0; channel < shape.channels; ++channel) {
      for (const std::vector<Index>& pixels : window_pixels(window, shape.image)) {
        Window terms;
        for (const Index pixel : pixels) terms.push_back({channel * shape.positions() + pixel});
        windows_.push_back(std::move(terms));
      }
    }
  }

  std::vector<MaximumLayer> layers() {
    std::vector<MaximumLayer> layers;
    const auto open = [](const Window& window) { return window.size() > 1; };
    while (std::any_of(windows_.begin(), windows_.end(), open)) layers.push_back(round());
    layers.push_back(collect());
    return layers;
  }

 private:
  /// One row of the next layer: a value, or a difference of two.
  struct Row {
    Term plus;
    Term minus;
  };

  MaximumLayer round() {
    std::vector<Row> rows;
    std::vector<bool> unchanged;
    const auto pass = [&](const Term& term) {
      rows.push_back({term, {}});
      unchanged.push_back(true);
      return static_cast<Index>(rows.size()) - 1;
    };
    for (Window& window : windows_) {
      Window next;
      for (std::size_t i = 0; i + 1 < window.size(); i += 2) {
        rows.push_back({window[i], window[i + 1]});
        unchanged.push_back(false);
        const Index difference = static_cast<Index>(rows.size()) - 1;
        next.push_back({difference, pass(window[i + 1])});
      }
      if (window.size() % 2 == 1) next.push_back({pass(window.back())});
      window = std::move(next);
    }
    return {layer(rows), std::move(unchanged)};
  }

  MaximumLayer collect() {
    std::vector<Row> rows;
    for (const Window& window : windows_) rows.push_back({window.front(), {}});
    return {layer(rows), {}};
  }

  DenseLayer layer(const std::vector<Row>& rows) {
    const auto count = static_cast<Index>(rows.size());
    budget_.take_matrix("max_pool2d", count, coordinates_);
    Matrix matrix = Matrix::Zero(count, coordinates_);
    for (Index i = 0; i < count; ++i) {
      for (const Index j : rows[static_cast<std::size_t>(i)].plus) matrix(i, j) += 1.0;
      for (const Index j : rows[static_cast<std::size_t>(i)].minus) matrix(i, j) -= 1.0;
    }
    coordinates_ = count;
    return {"max_pool2d", std::move(matrix), Vector::Zero(count), DeterministicWeights{},
            DeterministicBias{}};
  }

  Index coordinates_;
  MemoryBudget& budget_;
  std::vector<Window> windows_;
};

}  // namespace

std::vector<MaximumLayer> expand_max_pool(const Window2d& window, const LayerShape& shape,
                                          MemoryBudget& budget) {
  return MaximumTree(window, shape, budget).layers();
}

}  // namespace mixcert
