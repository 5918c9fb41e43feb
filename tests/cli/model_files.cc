// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files of small networks.
#include "cli/model_files.h"

#include <cmath>
#include <fstream>

#include "io/formats/safetensors.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {

Network small_network(const std::vector<Index>& widths) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    const Index in = widths[k];
    const Index out = widths[k + 1];
    Matrix mean(out, in);
    for (Index i = 0; i < mean.size(); ++i) {
      mean(i) = std::sin(1.0 + 1.7 * static_cast<double>(i)) / std::sqrt(static_cast<double>(in));
    }
    const double variance = 0.02 / static_cast<double>(in);
    layers.emplace_back(std::to_string(k), mean, Vector::Constant(out, 0.1),
                        MeanFieldWeights{Matrix::Constant(out, in, variance)},
                        IndependentBias{Vector::Constant(out, 0.01)});
    activations.emplace_back(Activation(k == 0 ? ActivationFunction::Identity : ActivationFunction::Tanh));
  }
  return {layers, activations};
}

void write_inputs(const std::filesystem::path& path, Index count, Index features) {
  std::ofstream file(path);
  for (Index f = 0; f < features; ++f) file << (f == 0 ? "x" : ",x") << f;
  file << "\n";
  for (Index i = 0; i < count; ++i) {
    for (Index f = 0; f < features; ++f) {
      file << (f == 0 ? "" : ",") << std::sin(0.7 * static_cast<double>(i) + static_cast<double>(f));
    }
    file << "\n";
  }
}

void write_edited_model(const std::filesystem::path& path,
                        const std::function<void(Tensors&, Metadata&)>& edit) {
  save_network(path, small_network({2, 4, 1}));
  const SafetensorsReader reader(path);
  Tensors tensors;
  for (const auto& [name, info] : reader.tensors()) tensors[name] = reader.read(name);
  Metadata metadata = reader.metadata();
  edit(tensors, metadata);
  write_safetensors(path, tensors, metadata);
}

}  // namespace mixcert::test
