// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Products are flattened: their factors are single numbers, multiplied together, and tensors.
#include "io/onnx/onnx_patterns.h"

#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace mixcert::io {

bool is_single_precision(double number, double meant) {
  return std::abs(number - meant) <= std::abs(meant) * 0x1p-22;
}

namespace {

/// Products of more factors are no activation.
constexpr std::size_t kMaxFactors = 4;

struct Product {
  double number = 1.0;
  std::vector<std::string> tensors = {};
};

class PatternFinder {
 public:
  explicit PatternFinder(const OnnxModel& model) : model_(model) {
    for (const OnnxNode& node : model.nodes) {
      if (!node.outputs.empty() && !node.outputs.front().empty())
        producers_.emplace(node.outputs.front(), &node);
    }
  }

  /// Type and argument of the activation that ends in this node; an empty type: none.
  [[nodiscard]] std::pair<std::string, std::string> find(const OnnxNode& node) const {
    if (node.type == "Mul") return find_product(node);
    if (node.inputs.empty() || node.inputs.size() > 2) return {};
    const std::string& x = node.inputs.front();
    if (node.type == "Log" && node.inputs.size() == 1) {
      if (const OnnxNode* inner = made_by(x, "Sigmoid")) return {"@logsigmoid", inner->inputs.front()};
    }
    if (node.inputs.size() < 2) return {};
    const std::string& y = node.inputs[1];
    if (node.type == "Sub" && is_function(y, "Tanh", x)) return {"@tanhshrink", x};
    if (node.type == "Div" && is_one_plus(y, "Abs", x)) return {"@softsign", x};
    return {};
  }

 private:
  [[nodiscard]] std::pair<std::string, std::string> find_product(const OnnxNode& node) const {
    Product product;
    if (!add_factor(node, product, 0) || product.tensors.size() != 2) return {};
    for (const std::size_t k : {0U, 1U}) {
      const std::string& x = product.tensors[k];
      const std::string& f = product.tensors[1 - k];
      if (is_single_precision(product.number, 0.5) && is_one_plus_erf(f, x)) return {"@gelu", x};
      if (product.number != 1.0) continue;
      if (is_function(f, "Sigmoid", x)) return {"@silu", x};
      if (is_torch_hardsigmoid(f, x)) return {"@hardswish", x};
      const OnnxNode* tanh = made_by(f, "Tanh");
      if (tanh != nullptr && is_function(tanh->inputs.front(), "Softplus", x)) return {"@mish", x};
    }
    return {};
  }

  /// Multiplies the two inputs of a product into `product`; false where they are too many.
  bool add_factor(const OnnxNode& mul, Product& product, std::size_t depth) const {
    if (depth > kMaxFactors || mul.inputs.size() != 2) return false;
    for (const std::string& input : mul.inputs) {
      if (const OnnxTensor* number = one_number(input)) {
        product.number *= number->values.front();
      } else if (const OnnxNode* inner = made_by(input, "Mul", 2); inner != nullptr) {
        if (!add_factor(*inner, product, depth + 1)) return false;
      } else {
        product.tensors.push_back(input);
        if (product.tensors.size() > kMaxFactors) return false;
      }
    }
    return true;
  }

  [[nodiscard]] const OnnxNode* made_by(const std::string& tensor, const std::string& type,
                                        std::size_t inputs = 1) const {
    const auto found = producers_.find(tensor);
    if (found == producers_.end()) return nullptr;
    const OnnxNode& node = *found->second;
    return node.type == type && node.inputs.size() == inputs ? &node : nullptr;
  }
  /// Is the tensor type(argument)?
  [[nodiscard]] bool is_function(const std::string& tensor, const std::string& type,
                                 const std::string& argument) const {
    const OnnxNode* node = made_by(tensor, type);
    return node != nullptr && node->inputs.front() == argument;
  }

  /// A floating-point initialiser or constant of one value; null otherwise.
  [[nodiscard]] const OnnxTensor* one_number(const std::string& tensor) const {
    const OnnxTensor* found = nullptr;
    if (const auto at = model_.initialisers.find(tensor); at != model_.initialisers.end()) {
      found = &at->second;
    } else if (const OnnxNode* node = made_by(tensor, "Constant", 0)) {
      const auto value = node->attributes.find("value");
      if (value != node->attributes.end()) found = std::get_if<OnnxTensor>(&value->second);
    }
    // More axes than one could give the result a shape of its own.
    return found != nullptr && found->values.size() == 1 && found->shape.size() <= 1 ? found : nullptr;
  }
  [[nodiscard]] bool is_number(const std::string& tensor, double meant) const {
    const OnnxTensor* number = one_number(tensor);
    return number != nullptr && is_single_precision(number->values.front(), meant);
  }

  /// The other summand of 1 + y; an empty name: it is no such sum.
  [[nodiscard]] std::string beside_one(const std::string& tensor) const {
    const OnnxNode* sum = made_by(tensor, "Add", 2);
    if (sum == nullptr) return {};
    for (const std::size_t k : {0U, 1U})
      if (is_number(sum->inputs[k], 1.0)) return sum->inputs[1 - k];
    return {};
  }
  [[nodiscard]] bool is_one_plus(const std::string& tensor, const std::string& type,
                                 const std::string& argument) const {
    const std::string summand = beside_one(tensor);
    return !summand.empty() && is_function(summand, type, argument);
  }
  [[nodiscard]] bool is_one_plus_erf(const std::string& tensor, const std::string& x) const {
    const OnnxNode* erf = made_by(beside_one(tensor), "Erf");
    if (erf == nullptr) return false;
    if (const OnnxNode* ratio = made_by(erf->inputs.front(), "Div", 2))
      return ratio->inputs[0] == x && is_number(ratio->inputs[1], std::numbers::sqrt2);
    if (const OnnxNode* scaled = made_by(erf->inputs.front(), "Mul", 2)) {
      for (const std::size_t k : {0U, 1U}) {
        if (scaled->inputs[k] == x && is_number(scaled->inputs[1 - k], 1.0 / std::numbers::sqrt2))
          return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool is_torch_hardsigmoid(const std::string& tensor, const std::string& x) const {
    if (!is_function(tensor, "HardSigmoid", x)) return false;
    const OnnxNode& node = *producers_.at(tensor);
    const auto number = [&](const char* name, double fallback) {
      const auto found = node.attributes.find(name);
      if (found == node.attributes.end()) return fallback;
      const double* value = std::get_if<double>(&found->second);
      return value == nullptr ? std::nan("") : *value;
    };
    return is_single_precision(number("alpha", 0.2), 1.0 / 6.0) && number("beta", 0.5) == 0.5;
  }

  const OnnxModel& model_;
  std::map<std::string, const OnnxNode*> producers_;
};

}  // namespace

void join_onnx_patterns(OnnxModel& model) {
  std::vector<std::pair<std::size_t, std::pair<std::string, std::string>>> found;
  const PatternFinder finder(model);
  for (std::size_t k = 0; k < model.nodes.size(); ++k) {
    std::pair<std::string, std::string> pattern = finder.find(model.nodes[k]);
    if (!pattern.first.empty()) found.emplace_back(k, std::move(pattern));
  }
  for (auto& [k, pattern] : found) {
    model.nodes[k].type = pattern.first;
    model.nodes[k].inputs = {pattern.second};
    model.nodes[k].attributes.clear();
  }
}

}  // namespace mixcert::io
