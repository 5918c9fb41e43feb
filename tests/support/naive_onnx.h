// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// ONNX models by hand, and what they compute by the texts of their operators alone: loops over all indices,
// whole batches, no layers. What imported networks are compared with.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "io/onnx/onnx_model.h"

namespace mixcert::test {

using OnnxAttributes = std::map<std::string, io::OnnxAttribute>;

class OnnxBuilder {
 public:
  /// Sizes of the input "x", the batch first.
  explicit OnnxBuilder(std::vector<std::optional<Index>> sizes, Index opset = 13);

  /// A node that is called as its only output, which is the result.
  std::string node(const std::string& type, std::vector<std::string> inputs, OnnxAttributes attributes = {});
  /// An initialiser of random numbers around zero; `shift` is added.
  std::string numbers(const std::string& name, std::vector<Index> shape, double shift = 0.0);
  std::string constant(const std::string& name, std::vector<Index> shape, std::vector<double> values);
  std::string integers(const std::string& name, std::vector<std::int64_t> values);

  [[nodiscard]] io::OnnxModel model(std::vector<std::string> outputs) const;

 private:
  io::OnnxModel model_;
  std::mt19937 engine_{5};
};

struct NaiveTensor {
  std::vector<Index> shape;
  std::vector<double> values;
};

/// The value of one output for this input, whose shape has the batch.
NaiveTensor naive_onnx(const io::OnnxModel& model, const std::string& output, const NaiveTensor& input);

/// Numbers in [-2, 2], the same in every run.
std::vector<double> naive_numbers(Index count);

}  // namespace mixcert::test
