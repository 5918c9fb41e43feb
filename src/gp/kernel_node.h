// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The expression behind a kernel: leaves of a few families, sums and products. A family is a row of a table:
// names of its arguments and three functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gp/call_parser.h"

namespace mixcert::gp {

/// Columns of `a` against columns of `b`. `same` says that they are the same observations.
struct PointPair {
  ConstMatrixRef a;
  ConstMatrixRef b;
  bool same;
};

struct KernelFamily {
  std::string_view name;
  std::vector<ArgumentSpec> arguments;
  Matrix (*values)(const Arguments&, const PointPair&);
  /// k(x_i, x_i).
  Vector (*variances)(const Arguments&, ConstMatrixRef inputs);
  /// d/dparameters of sum_ij weights_ij k(x_i, x_j), argument by argument.
  Vector (*gradient)(const Arguments&, ConstMatrixRef inputs, const Matrix& weights);
};

const KernelFamily& rbf_family();
const KernelFamily& matern12_family();
const KernelFamily& matern32_family();
const KernelFamily& matern52_family();
const KernelFamily& periodic_family();
const KernelFamily& linear_family();
const KernelFamily& constant_family();
const KernelFamily& white_family();

/// All of them, in the order of the documentation.
const std::vector<const KernelFamily*>& kernel_families();

struct KernelNode {
  enum class Kind { Leaf, Sum, Product };
  Kind kind = Kind::Leaf;
  const KernelFamily* family = nullptr;                     ///< of a leaf
  Arguments arguments;                                      ///< of a leaf
  std::vector<std::shared_ptr<const KernelNode>> children;  ///< of the others
};

using NodePointer = std::shared_ptr<const KernelNode>;

inline constexpr Index kMostLeaves = 64;

NodePointer make_leaf(const KernelFamily& family, Arguments arguments);
/// Children of the same kind are taken over, so that a + b + c is one sum.
NodePointer make_combination(KernelNode::Kind kind, const std::vector<NodePointer>& children);
NodePointer parse_kernel(std::string_view text);
std::string kernel_text(const KernelNode& node);
Index leaf_count(const KernelNode& node);

}  // namespace mixcert::gp
