// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Kernels evaluated over their expression: values forwards, derivatives backwards (K.2). A product hands each
// factor the weights times the other factors, a sum hands its weights on.
#include "mixcert/gp/kernel.h"

#include <cmath>
#include <utility>

#include "gp/kernel_node.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

using gp::KernelNode;
using gp::NodePointer;
using gp::PointPair;

void require_points(ConstMatrixRef points) {
  require(points.rows() > 0, "kernel: expected points with at least one coordinate, got none");
  require(points.allFinite(), "kernel: expected finite points, got infinity or NaN");
}

/// Values of children joined by + or *.
template <class Value, class Evaluate>
Value combine(const KernelNode& node, Evaluate evaluate) {
  Value value = evaluate(*node.children.front());
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    if (node.kind == KernelNode::Kind::Sum) {
      value += evaluate(*node.children[i]);
    } else {
      value.array() *= evaluate(*node.children[i]).array();
    }
  }
  return value;
}

Matrix node_values(const KernelNode& node, const PointPair& points) {
  if (node.kind == KernelNode::Kind::Leaf) return node.family->values(node.arguments, points);
  return combine<Matrix>(node, [&](const KernelNode& child) { return node_values(child, points); });
}

Vector node_variances(const KernelNode& node, ConstMatrixRef inputs) {
  if (node.kind == KernelNode::Kind::Leaf) return node.family->variances(node.arguments, inputs);
  return combine<Vector>(node, [&](const KernelNode& child) { return node_variances(child, inputs); });
}

/// Calls visit(leaf) in the order of the text.
template <class Visit>
void for_each_leaf(const KernelNode& node, const Visit& visit) {
  if (node.kind == KernelNode::Kind::Leaf) {
    visit(node);
  } else {
    for (const NodePointer& child : node.children) for_each_leaf(*child, visit);
  }
}

Matrix product_of_others(const KernelNode& node, std::size_t left_out, const PointPair& points,
                         const Matrix& weights) {
  Matrix product = weights;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (i != left_out) product.array() *= node_values(*node.children[i], points).array();
  }
  return product;
}

void append_gradient(const KernelNode& node, ConstMatrixRef inputs, const Matrix& weights,
                     std::vector<double>& gradient) {
  if (node.kind == KernelNode::Kind::Leaf) {
    const Vector own = node.family->gradient(node.arguments, inputs, weights);
    gradient.insert(gradient.end(), own.begin(), own.end());
    return;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (node.kind == KernelNode::Kind::Sum) {
      append_gradient(*node.children[i], inputs, weights, gradient);
    } else {
      append_gradient(*node.children[i], inputs, product_of_others(node, i, {inputs, inputs, true}, weights),
                      gradient);
    }
  }
}

NodePointer with_values(const KernelNode& node, ConstVectorRef parameters, Index& next) {
  if (node.kind == KernelNode::Kind::Leaf) {
    gp::Arguments arguments = node.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      for (double& value : arguments[i].values) {
        const double parameter = parameters(next++);
        value = node.family->arguments[i].positive ? std::exp(parameter) : parameter;
      }
    }
    return make_leaf(*node.family, std::move(arguments));
  }
  std::vector<NodePointer> children;
  for (const NodePointer& child : node.children) children.push_back(with_values(*child, parameters, next));
  return make_combination(node.kind, children);
}

Vector to_vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

NodePointer joined(KernelNode::Kind kind, const NodePointer& left, const NodePointer& right) {
  const Index leaves = leaf_count(*left) + leaf_count(*right);
  require(leaves <= gp::kMostLeaves, "kernel: expected at most " + std::to_string(gp::kMostLeaves) +
                                         " terms and factors, got " + std::to_string(leaves));
  return make_combination(kind, {left, right});
}

}  // namespace

Kernel::Kernel() : Kernel(parse("rbf")) {}

Kernel Kernel::parse(std::string_view text) { return Kernel(gp::parse_kernel(text)); }

Kernel Kernel::rbf(ConstVectorRef lengthscales, double variance) {
  require(lengthscales.size() > 0, "kernel: expected at least one length-scale, got none");
  return Kernel(make_leaf(gp::rbf_family(), {{lengthscales, true}, {Vector::Constant(1, variance), false}}));
}

std::string Kernel::text() const { return gp::kernel_text(*node_); }

Matrix Kernel::covariance(ConstMatrixRef inputs) const {
  require_points(inputs);
  Matrix values = node_values(*node_, {inputs, inputs, true});
  // Sums in another order may differ in the last bit; decompositions want symmetry.
  values.triangularView<Eigen::StrictlyUpper>() = values.transpose();
  return values;
}

Matrix Kernel::cross(ConstMatrixRef a, ConstMatrixRef b) const {
  require_points(a);
  require_points(b);
  require(a.rows() == b.rows(), "kernel: expected points with equally many coordinates, got " +
                                    std::to_string(a.rows()) + " and " + std::to_string(b.rows()));
  return node_values(*node_, {a, b, false});
}

Vector Kernel::variances(ConstMatrixRef inputs) const {
  require_points(inputs);
  return node_variances(*node_, inputs);
}

Vector Kernel::parameters() const {
  std::vector<double> parameters;
  for_each_leaf(*node_, [&](const KernelNode& leaf) {
    for (std::size_t i = 0; i < leaf.arguments.size(); ++i) {
      for (const double value : leaf.arguments[i].values) {
        parameters.push_back(leaf.family->arguments[i].positive ? std::log(value) : value);
      }
    }
  });
  return to_vector(parameters);
}

std::vector<std::string> Kernel::parameter_names() const {
  std::vector<std::string> names;
  const bool numbered = node_->kind != KernelNode::Kind::Leaf;
  Index leaf_number = 0;
  for_each_leaf(*node_, [&](const KernelNode& leaf) {
    ++leaf_number;
    const std::string prefix =
        (numbered ? std::to_string(leaf_number) + ":" : std::string()) + std::string(leaf.family->name) + ".";
    for (std::size_t i = 0; i < leaf.arguments.size(); ++i) {
      const std::string name = prefix + std::string(leaf.family->arguments[i].name);
      for (Index j = 0; j < leaf.arguments[i].values.size(); ++j) {
        names.push_back(leaf.arguments[i].is_list ? name + "[" + std::to_string(j) + "]" : name);
      }
    }
  });
  return names;
}

Kernel Kernel::with_parameters(ConstVectorRef parameters) const {
  const Index expected = parameter_count();
  require(parameters.size() == expected, "kernel: expected " + std::to_string(expected) +
                                             " parameters, got " + std::to_string(parameters.size()));
  Index next = 0;
  return Kernel(with_values(*node_, parameters, next));
}

Vector Kernel::weighted_gradient(ConstMatrixRef inputs, ConstMatrixRef weights) const {
  require_points(inputs);
  require(weights.rows() == inputs.cols() && weights.cols() == inputs.cols(),
          "kernel: expected weights for " + std::to_string(inputs.cols()) + " x " +
              std::to_string(inputs.cols()) + " entries, got " + std::to_string(weights.rows()) + " x " +
              std::to_string(weights.cols()));
  std::vector<double> gradient;
  append_gradient(*node_, inputs, weights, gradient);
  return to_vector(gradient);
}

Kernel Kernel::operator+(const Kernel& other) const {
  return Kernel(joined(KernelNode::Kind::Sum, node_, other.node_));
}

Kernel Kernel::operator*(const Kernel& other) const {
  return Kernel(joined(KernelNode::Kind::Product, node_, other.node_));
}

}  // namespace mixcert
