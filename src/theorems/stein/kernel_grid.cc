// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Three grids, made once: cells of 1/11, 1/16 and 1/32 near zero, wider ones where little mass is.
#include "theorems/stein/kernel_grid.h"

#include <algorithm>
#include <array>

#include "activation/quadrature_rules.h"
#include "core/normal.h"

namespace mixcert {
namespace {

constexpr double kWidestCell = 0.2;

std::vector<KernelCell> cells_of(double narrowest) {
  std::vector<KernelCell> cells;
  KernelNode left = kernel_node(0.0);
  while (left.x < kFarKernel) {
    const double width = std::min(kWidestCell, narrowest * (1.0 + left.x / 6.0));
    const double end = left.x + width;
    const KernelNode right = kernel_node(end > kFarKernel - 0.5 * width ? kFarKernel : end);
    cells.push_back(kernel_cell(left, right));
    left = right;
  }
  return cells;
}

}  // namespace

KernelNode kernel_node(double x) { return {x, normal_tail(x), 1.0 / normal_density(x)}; }

KernelCell kernel_cell(const KernelNode& left, const KernelNode& right) {
  KernelCell cell{left, right};
  if (!(cell.width() > 0.0)) return cell;
  WeightedNodes rule;
  place_equal_panels(left.x, right.x, 1.0, rule);
  for (Eigen::Index i = 0; i < rule.nodes.size(); ++i) {
    const double lb = (rule.nodes(i) - left.x) / cell.width();
    const double la = 1.0 - lb;
    cell.aa += rule.weights(i) * la * la;
    cell.ab += rule.weights(i) * la * lb;
    cell.bb += rule.weights(i) * lb * lb;
  }
  return cell;
}

const std::vector<KernelCell>& kernel_cells(double s) {
  static const std::array<std::vector<KernelCell>, 3> grids = {cells_of(1.0 / 11), cells_of(1.0 / 16),
                                                               cells_of(1.0 / 32)};
  return grids[s <= 0.8 ? 0 : s <= 1.8 ? 1 : 2];
}

}  // namespace mixcert
