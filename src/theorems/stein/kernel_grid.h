// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Cells of a half-line for the Stein kernels of a neuron (Y.11), with the integrals of products of their two
// hat functions under the normal density: with them the integral of a product of two functions that are
// linear on a cell is exact.
#pragma once

#include <vector>

namespace mixcert {

/// Cells end here.
inline constexpr double kFarKernel = 7.0;

struct KernelNode {
  double x = 0.0;
  double tail = 0.0;             ///< P(Z > x)
  double inverse_density = 0.0;  ///< 1/phi(x)
};

/// [left, right]: hats la = (right - x)/w and lb = (x - left)/w.
struct KernelCell {
  KernelNode left, right;
  double aa = 0.0, ab = 0.0, bb = 0.0;  ///< int la^2 phi, int la lb phi, int lb^2 phi

  [[nodiscard]] double width() const { return right.x - left.x; }
  [[nodiscard]] double mass() const { return aa + 2.0 * ab + bb; }
};

KernelNode kernel_node(double x);
/// Relative error of the integrals and of the mass below 1e-12.
KernelCell kernel_cell(const KernelNode& left, const KernelNode& right);

/// Cells of [0, kFarKernel] from the left to the right, narrow enough for an activation of z = m + s x.
const std::vector<KernelCell>& kernel_cells(double s);

}  // namespace mixcert
