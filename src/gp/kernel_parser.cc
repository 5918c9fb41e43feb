// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text to expression and back:
//     sum := product { '+' product };  product := factor { '*' factor };  factor := '(' sum ')' | call.
#include <algorithm>

#include "gp/kernel_node.h"
#include "mixcert/core/error.h"

namespace mixcert::gp {
namespace {

constexpr int kDeepest = 64;

class KernelParser {
 public:
  explicit KernelParser(std::string_view text) : cursor_(text, {"kernel", kLongestText}) {}

  NodePointer parse() {
    NodePointer node = sum(0);
    cursor_.expect_end("'+', '*' or the end of the text");
    return node;
  }

 private:
  NodePointer sum(int depth) {
    std::vector<NodePointer> terms;
    do terms.push_back(product(depth));
    while (cursor_.accept('+'));
    return make_combination(KernelNode::Kind::Sum, terms);
  }

  NodePointer product(int depth) {
    std::vector<NodePointer> factors;
    do factors.push_back(factor(depth));
    while (cursor_.accept('*'));
    return make_combination(KernelNode::Kind::Product, factors);
  }

  NodePointer factor(int depth) {
    const std::size_t start = cursor_.position();
    if (!cursor_.accept('(')) return leaf();
    if (depth == kDeepest) {
      cursor_.fail(start, "at most " + std::to_string(kDeepest) + " nested parentheses");
    }
    NodePointer inner = sum(depth + 1);
    cursor_.expect(')', "'+', '*' or ')'");
    return inner;
  }

  NodePointer leaf() {
    const std::size_t start = cursor_.position();
    const std::string_view name = cursor_.word();
    if (++leaves_ > kMostLeaves) cursor_.fail(start, "at most " + std::to_string(kMostLeaves) + " kernels");
    const auto& families = kernel_families();
    const auto found =
        std::find_if(families.begin(), families.end(), [&](const auto* f) { return f->name == name; });
    if (found == families.end()) cursor_.fail(start, "a kernel (" + family_names() + ")");
    return make_leaf(**found, parse_arguments(cursor_, (*found)->arguments));
  }

  static std::string family_names() {
    std::string names;
    for (const auto* family : kernel_families()) {
      names += (names.empty() ? "" : ", ") + std::string(family->name);
    }
    return names;
  }

  TextCursor cursor_;
  Index leaves_ = 0;
};

}  // namespace

NodePointer make_leaf(const KernelFamily& family, Arguments arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const double value : arguments[i].values) require_value(family.arguments[i], value);
  }
  return std::make_shared<const KernelNode>(
      KernelNode{KernelNode::Kind::Leaf, &family, std::move(arguments), {}});
}

NodePointer make_combination(KernelNode::Kind kind, const std::vector<NodePointer>& children) {
  if (children.size() == 1) return children.front();
  KernelNode node{kind, nullptr, {}, {}};
  for (const NodePointer& child : children) {
    if (child->kind == kind) {
      node.children.insert(node.children.end(), child->children.begin(), child->children.end());
    } else {
      node.children.push_back(child);
    }
  }
  return std::make_shared<const KernelNode>(std::move(node));
}

NodePointer parse_kernel(std::string_view text) { return KernelParser(text).parse(); }

std::string kernel_text(const KernelNode& node) {
  if (node.kind == KernelNode::Kind::Leaf) {
    return arguments_text(node.family->name, node.family->arguments, node.arguments);
  }
  const bool is_sum = node.kind == KernelNode::Kind::Sum;
  std::string text;
  for (const NodePointer& child : node.children) {
    if (!text.empty()) text += is_sum ? " + " : " * ";
    const bool wrap = !is_sum && child->kind == KernelNode::Kind::Sum;
    text += wrap ? "(" + kernel_text(*child) + ")" : kernel_text(*child);
  }
  return text;
}

Index leaf_count(const KernelNode& node) {
  if (node.kind == KernelNode::Kind::Leaf) return 1;
  Index count = 0;
  for (const NodePointer& child : node.children) count += leaf_count(*child);
  return count;
}

}  // namespace mixcert::gp
