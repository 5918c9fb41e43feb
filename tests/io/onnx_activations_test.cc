// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activations of ONNX models, as operators and written out as exporters write them, against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "io/onnx/onnx_import.h"
#include "io/test_files.h"
#include "mixcert/core/error.h"
#include "support/naive_onnx.h"

namespace mixcert::test {
namespace onnx_activations_test {

using Function = std::function<double(double)>;

/// The one layer behind a model whose input goes through `build`.
std::vector<LayerSpec> layers_of(const std::function<std::string(OnnxBuilder&)>& build, Index opset = 13) {
  OnnxBuilder builder({std::nullopt, 2}, opset);
  const std::string y = build(builder);
  const std::string z = builder.node("Gemm", {y, builder.constant("w", {2, 2}, {1.0, 0.0, 0.0, 1.0})});
  return io::onnx_layers(builder.model({z}), {}, {}).layers;
}

double applied(const LayerSpec& layer, double x) {
  if (const auto* activation = std::get_if<ActivationSpec>(&layer)) return activation->activation(x);
  if (const auto* affine = std::get_if<AffineSpec>(&layer)) {
    return (affine->scale.size() > 0 ? affine->scale(0) : 1.0) * x +
           (affine->shift.size() > 0 ? affine->shift(0) : 0.0);
  }
  ADD_FAILURE() << type_name(layer);
  return 0.0;
}

void expect_function(const std::function<std::string(OnnxBuilder&)>& build, const Function& formula,
                     std::size_t count = 1, Index opset = 13) {
  const std::vector<LayerSpec> layers = layers_of(build, opset);
  ASSERT_EQ(layers.size(), count + 1);
  for (double x = -7.0; x <= 7.0; x += 0.35) {
    double y = x;
    for (std::size_t k = 0; k < count; ++k) y = applied(layers[k], y);
    EXPECT_NEAR(y, formula(x), 1e-12 * (1.0 + std::abs(x))) << x;
  }
}

double softplus(double x) { return std::log1p(std::exp(x)); }
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); }
double clip(double x, double lower, double upper) { return std::min(std::max(x, lower), upper); }
double hardsigmoid(double x) { return clip(x / 6.0 + 0.5, 0.0, 1.0); }
double selu(double x) {
  return 1.0507009873554804934 * (x > 0.0 ? x : 1.6732632423543772848 * std::expm1(x));
}

struct Case {
  const char* type;
  Function formula;
  OnnxAttributes attributes = {};
};

TEST(OnnxActivations, Operators) {
  const std::vector<Case> cases = {
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"LeakyRelu", [](double x) { return x > 0.0 ? x : 0.25 * x; }, {{"alpha", 0.25}}},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Sigmoid", sigmoid},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Softplus", softplus},
      {"Elu", [](double x) { return x > 0.0 ? x : 0.5 * std::expm1(x); }, {{"alpha", 0.5}}},
      {"Celu", [](double x) { return x > 0.0 ? x : 2.0 * std::expm1(x / 2.0); }, {{"alpha", 2.0}}},
      {"Selu", selu},
      {"Selu", selu, {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}},
      {"HardSigmoid", hardsigmoid, {{"alpha", static_cast<double>(1.0F / 6.0F)}}},
      {"HardSwish", [](double x) { return x * hardsigmoid(x); }},
      {"Mish", [](double x) { return x * std::tanh(softplus(x)); }},
      {"Softsign", [](double x) { return x / (1.0 + std::abs(x)); }},
      {"Gelu", gelu},
      {"Clip", [](double x) { return clip(x, 0.0, 6.0); }, {{"min", 0.0}, {"max", 6.0}}},
      {"Clip", [](double x) { return clip(x, -2.0, 0.5); }, {{"min", -2.0}, {"max", 0.5}}},
      {"Clip", [](double x) { return std::max(x, 0.0); }, {{"min", 0.0}}}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.type);
    expect_function([&](OnnxBuilder& b) { return b.node(one.type, {"x"}, one.attributes); }, one.formula);
  }
}

TEST(OnnxActivations, ClipHasItsEndsAsInputs) {
  expect_function(
      [](OnnxBuilder& b) {
        return b.node("Clip", {"x", b.constant("l", {}, {-1.0}), b.constant("u", {}, {2.0})});
      },
      [](double x) { return clip(x, -1.0, 2.0); });
  expect_function(
      [](OnnxBuilder& b) {
        return b.node("Clip", {"x", b.constant("l", {}, {0.0}), ""});
      },
      [](double x) { return std::max(x, 0.0); });
}

TEST(OnnxActivations, PReluOfOneSlope) {
  expect_function(
      [](OnnxBuilder& b) {
        return b.node("PRelu", {"x", b.constant("s", {1}, {-0.5})});
      },
      [](double x) { return x > 0.0 ? x : -0.5 * x; });
}

TEST(OnnxActivations, HardSigmoidOfOtherNumbers) {
  expect_function([](OnnxBuilder& b) { return b.node("HardSigmoid", {"x"}); },
                  [](double x) { return clip(0.2 * x + 0.5, 0.0, 1.0); }, 2);
}

/// x/sqrt2, erf, + 1 in single precision.
std::string one_plus_erf(OnnxBuilder& b) {
  const std::string root = b.constant("root", {}, {static_cast<double>(std::sqrt(2.0F))});
  const std::string erf = b.node("Erf", {b.node("Div", {"x", root})});
  return b.node("Add", {erf, b.constant("one", {}, {1.0})});
}

TEST(OnnxActivations, GeluWrittenOut) {
  const auto half = [](OnnxBuilder& b) { return b.constant("half", {}, {0.5}); };
  expect_function(
      [&](OnnxBuilder& b) {
        return b.node("Mul", {b.node("Mul", {"x", one_plus_erf(b)}), half(b)});
      },
      gelu);
  expect_function(
      [&](OnnxBuilder& b) {
        return b.node("Mul", {b.node("Mul", {"x", half(b)}), one_plus_erf(b)});
      },
      gelu);
  expect_function(
      [&](OnnxBuilder& b) {
        return b.node("Mul", {"x", b.node("Mul", {half(b), one_plus_erf(b)})});
      },
      gelu);
}

TEST(OnnxActivations, OthersWrittenOut) {
  expect_function(
      [](OnnxBuilder& b) {
        return b.node("Mul", {b.node("Sigmoid", {"x"}), "x"});
      },
      [](double x) { return x * sigmoid(x); });
  expect_function(
      [](OnnxBuilder& b) {
        return b.node("Mul", {"x", b.node("Tanh", {b.node("Softplus", {"x"})})});
      },
      [](double x) { return x * std::tanh(softplus(x)); });
  expect_function(
      [](OnnxBuilder& b) {
        const OnnxAttributes numbers = {{"alpha", static_cast<double>(1.0F / 6.0F)}, {"beta", 0.5}};
        return b.node("Mul", {"x", b.node("HardSigmoid", {"x"}, numbers)});
      },
      [](double x) { return x * hardsigmoid(x); });
  expect_function(
      [](OnnxBuilder& b) {
        const std::string sum = b.node("Add", {b.node("Abs", {"x"}), b.constant("one", {}, {1.0})});
        return b.node("Div", {"x", sum});
      },
      [](double x) { return x / (1.0 + std::abs(x)); });
  expect_function([](OnnxBuilder& b) { return b.node("Log", {b.node("Sigmoid", {"x"})}); },
                  [](double x) { return -softplus(-x); });
  expect_function(
      [](OnnxBuilder& b) {
        return b.node("Sub", {"x", b.node("Tanh", {"x"})});
      },
      [](double x) { return x - std::tanh(x); });
}

TEST(OnnxActivations, ProductsThatAreNoActivationAreRefused) {
  const auto message = [](const std::function<std::string(OnnxBuilder&)>& build) {
    return message_of<FileError>([&] { (void)layers_of(build); });
  };
  EXPECT_CONTAINS(message([](OnnxBuilder& b) {
                    return b.node("Mul", {"x", b.node("Tanh", {"x"})});
                  }),
                  "node 'Mul.1' (Mul): expected a product with a constant");
  // The argument of erf is another one than the factor.
  EXPECT_CONTAINS(message([](OnnxBuilder& b) {
                    const std::string other = b.node("Relu", {"x"});
                    const std::string product = b.node("Mul", {other, one_plus_erf(b)});
                    return b.node("Mul", {product, b.constant("half", {}, {0.5})});
                  }),
                  "(Mul): expected a product with a constant");
  EXPECT_CONTAINS(message([](OnnxBuilder& b) {
                    return b.node("Gelu", {"x"}, {{"approximate", std::string("tanh")}});
                  }),
                  "'tanh'");
}

}  // namespace onnx_activations_test
}  // namespace mixcert::test
