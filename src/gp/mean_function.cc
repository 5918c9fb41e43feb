// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Zero, constant and linear mean functions.
#include "gp/call_parser.h"
#include "mixcert/core/error.h"
#include "mixcert/gp/kernel.h"

namespace mixcert {
namespace {

const std::vector<gp::ArgumentSpec>& constant_specs() {
  static const std::vector<gp::ArgumentSpec> specs = {{"value", 0.0, false, false}};
  return specs;
}

const std::vector<gp::ArgumentSpec>& linear_specs() {
  static const std::vector<gp::ArgumentSpec> specs = {{"weights", 0.0, false, true},
                                                      {"offset", 0.0, false, false}};
  return specs;
}

}  // namespace

MeanFunction MeanFunction::constant(double value) {
  MeanFunction mean;
  mean.kind_ = Kind::Constant;
  require_value(constant_specs()[0], value);
  mean.offset_ = value;
  return mean;
}

MeanFunction MeanFunction::linear(ConstVectorRef weights, double offset) {
  require(weights.size() > 0, "mean: expected at least one weight, got none");
  for (const double weight : weights) require_value(linear_specs()[0], weight);
  require_value(linear_specs()[1], offset);
  MeanFunction mean;
  mean.kind_ = Kind::Linear;
  mean.weights_ = weights;
  mean.weights_are_list_ = true;
  mean.offset_ = offset;
  return mean;
}

MeanFunction MeanFunction::parse(std::string_view text) {
  TextCursor cursor(text, {"mean", gp::kLongestText});
  const std::string_view name = cursor.word();
  MeanFunction mean;
  if (name == "zero") {
    gp::parse_arguments(cursor, {});
  } else if (name == "constant") {
    mean = constant(gp::parse_arguments(cursor, constant_specs())[0].values(0));
  } else if (name == "linear") {
    const gp::Arguments arguments = gp::parse_arguments(cursor, linear_specs());
    mean = linear(arguments[0].values, arguments[1].values(0));
    mean.weights_are_list_ = arguments[0].is_list;
  } else {
    cursor.fail(cursor.position() - name.size(), "a mean function (zero, constant, linear)");
  }
  cursor.expect_end("the end of the text");
  return mean;
}

std::string MeanFunction::text() const {
  const gp::Argument offset{Vector::Constant(1, offset_), false};
  if (kind_ == Kind::Zero) return "zero";
  if (kind_ == Kind::Constant) return arguments_text("constant", constant_specs(), {offset});
  return arguments_text("linear", linear_specs(), {{weights_, weights_are_list_}, offset});
}

Vector MeanFunction::at(ConstMatrixRef inputs) const {
  Vector values = Vector::Constant(inputs.cols(), offset_);
  if (kind_ == Kind::Linear) {
    values += inputs.transpose() * gp::per_coordinate("mean", {weights_, weights_are_list_}, inputs.rows());
  }
  return values;
}

Vector MeanFunction::parameters() const {
  if (kind_ == Kind::Zero) return {};
  Vector parameters(weights_.size() + 1);
  parameters << weights_, offset_;
  return parameters;
}

MeanFunction MeanFunction::with_parameters(ConstVectorRef parameters) const {
  require(parameters.size() == parameter_count(), "mean: expected " + std::to_string(parameter_count()) +
                                                      " parameters, got " +
                                                      std::to_string(parameters.size()));
  if (kind_ == Kind::Zero) return {};
  const double offset = parameters(parameters.size() - 1);
  if (kind_ == Kind::Constant) return constant(offset);
  MeanFunction mean = linear(parameters.head(parameters.size() - 1), offset);
  mean.weights_are_list_ = weights_are_list_;
  return mean;
}

Vector MeanFunction::weighted_gradient(ConstMatrixRef inputs, ConstVectorRef weights) const {
  Vector gradient(parameter_count());
  if (kind_ == Kind::Zero) return gradient;
  if (kind_ == Kind::Linear) {
    gp::require_dimension("mean", {weights_, weights_are_list_}, inputs.rows());
    const Vector by_coordinate = inputs * weights;
    if (weights_are_list_) {
      gradient.head(weights_.size()) = by_coordinate;
    } else {
      gradient(0) = by_coordinate.sum();
    }
  }
  gradient(gradient.size() - 1) = weights.sum();
  return gradient;
}

}  // namespace mixcert
