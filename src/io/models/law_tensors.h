// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Families of weights in files, one record each: which tensors they have beside the mean, read and written.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "io/files/file_error.h"
#include "io/models/architecture.h"
#include "io/models/tensor_reader.h"
#include "mixcert/core/error.h"
#include "mixcert/io/array.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert::io {

/// Ends of the names of a dense layer's tensors.
inline constexpr std::array<std::string_view, 13> kDenseTensors = {
    ".weight.mean",      ".weight.variance",     ".weight.row_covariance", ".weight.column_covariance",
    ".weight.row_basis", ".weight.column_basis", ".weight.factor",         ".weight.covariance",
    ".covariance",       ".bias.mean",           ".bias.variance",         ".bias.covariance",
    ".bias.factor"};

/// Tensors of one layer of a file.
class DenseSource {
 public:
  DenseSource(const SafetensorsReader& reader, const DenseEntry& entry)
      : reader_(reader), entry_(entry), tensors_(reader, entry.name) {}

  [[nodiscard]] Index outputs() const { return entry_.outputs; }
  [[nodiscard]] Index inputs() const { return entry_.inputs; }
  [[nodiscard]] bool has(std::string_view name) const { return tensors_.has(name); }
  [[nodiscard]] Matrix matrix(std::string_view name, Index rows, Index columns) const {
    return tensors_.matrix(name, rows, columns);
  }
  [[nodiscard]] Vector vector(std::string_view name) const { return tensors_.values(name, {outputs()}); }
  /// Columns of [out * in, rank], each reshaped to out x in.
  [[nodiscard]] std::vector<Matrix> factor() const {
    const std::string name = tensors_.full(".weight.factor");
    const std::vector<Index>& shape = reader_.tensors().at(name).shape;
    const Index entries = outputs() * inputs();
    if (shape.size() != 2 || shape[0] != entries || shape[1] < 1) {
      bad_file(reader_.label(), "tensor " + in_quotes(name),
               "shape [" + std::to_string(entries) + ", rank] with rank >= 1", shape_text(shape));
    }
    const Array array = reader_.read(name);
    std::vector<Matrix> columns(static_cast<std::size_t>(shape[1]), Matrix(outputs(), inputs()));
    for (Index entry = 0; entry < entries; ++entry) {
      for (Index s = 0; s < shape[1]; ++s) {
        columns[static_cast<std::size_t>(s)](entry / inputs(), entry % inputs()) =
            array.values[static_cast<std::size_t>(entry * shape[1] + s)];
      }
    }
    return columns;
  }
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    tensors_.fail(expected, got);
  }

 private:
  const SafetensorsReader& reader_;
  const DenseEntry& entry_;
  TensorReader tensors_;
};

/// The tensors of one layer on their way to a file.
class DenseSink {
 public:
  DenseSink(const DenseLayer& layer, std::map<std::string, Array>& tensors)
      : layer_(layer), tensors_(tensors) {}

  [[nodiscard]] const DenseLayer& layer() const { return layer_; }
  void add(const char* name, const Matrix& matrix) const {
    tensors_[layer_.name() + name] = to_array(matrix);
  }
  void add_vector(const char* name, const Vector& vector) const {
    tensors_[layer_.name() + name] = vector_to_array(vector);
  }
  /// Columns of [out * in, rank].
  void add_factor(const char* name, const std::vector<Matrix>& columns) const {
    const Index inputs = layer_.inputs();
    Matrix factor(layer_.outputs() * inputs, static_cast<Index>(columns.size()));
    for (Index s = 0; s < factor.cols(); ++s) {
      for (Index entry = 0; entry < factor.rows(); ++entry) {
        factor(entry, s) = columns[static_cast<std::size_t>(s)](entry / inputs, entry % inputs);
      }
    }
    add(name, factor);
  }

 private:
  const DenseLayer& layer_;
  std::map<std::string, Array>& tensors_;
};

/// A family of weights in files: the exact set of its tensors beside the mean, in the order of kDenseTensors,
/// by which it is recognised. A family of the variant without this record does not compile.
template <class Law>
struct LawTensors;

using TensorSet = std::optional<std::string_view>;

template <>
struct LawTensors<DeterministicWeights> {
  static constexpr TensorSet kSet = "";
  static DeterministicWeights read(const DenseSource& /*from*/) { return {}; }
  static void write(const DeterministicWeights& /*law*/, const DenseSink& /*to*/) {}
};

template <>
struct LawTensors<MeanFieldWeights> {
  static constexpr TensorSet kSet = " weight.variance";
  static MeanFieldWeights read(const DenseSource& from) {
    return {from.matrix(".weight.variance", from.outputs(), from.inputs())};
  }
  static void write(const MeanFieldWeights& law, const DenseSink& to) {
    to.add(".weight.variance", law.variance);
  }
};

template <>
struct LawTensors<KroneckerWeights> {
  static constexpr TensorSet kSet = " weight.row_covariance weight.column_covariance";
  static KroneckerWeights read(const DenseSource& from) {
    return {from.matrix(".weight.row_covariance", from.outputs(), from.outputs()),
            from.matrix(".weight.column_covariance", from.inputs(), from.inputs())};
  }
  static void write(const KroneckerWeights& law, const DenseSink& to) {
    to.add(".weight.row_covariance", law.row_covariance);
    to.add(".weight.column_covariance", law.column_covariance);
  }
};

template <>
struct LawTensors<KroneckerEigenbasisWeights> {
  static constexpr TensorSet kSet = " weight.variance weight.row_basis weight.column_basis";
  static KroneckerEigenbasisWeights read(const DenseSource& from) {
    return {from.matrix(".weight.row_basis", from.outputs(), from.outputs()),
            from.matrix(".weight.column_basis", from.inputs(), from.inputs()),
            from.matrix(".weight.variance", from.outputs(), from.inputs())};
  }
  static void write(const KroneckerEigenbasisWeights& law, const DenseSink& to) {
    to.add(".weight.row_basis", law.row_basis);
    to.add(".weight.column_basis", law.column_basis);
    to.add(".weight.variance", law.variance);
  }
};

template <>
struct LawTensors<LowRankWeights> {
  static constexpr TensorSet kSet = " weight.variance weight.factor";
  static LowRankWeights read(const DenseSource& from) {
    LowRankWeights law{from.matrix(".weight.variance", from.outputs(), from.inputs()), from.factor()};
    if (from.has(".bias.factor")) {
      law.bias_factor = from.matrix(".bias.factor", from.outputs(), static_cast<Index>(law.factor.size()));
    }
    return law;
  }
  static void write(const LowRankWeights& law, const DenseSink& to) {
    to.add(".weight.variance", law.variance);
    to.add_factor(".weight.factor", law.factor);
    if (law.bias_factor.size() > 0) to.add(".bias.factor", law.bias_factor);
  }
};

template <>
struct LawTensors<FullWeights> {
  static constexpr TensorSet kSet = " weight.covariance";
  static FullWeights read(const DenseSource& from) {
    const Index entries = from.outputs() * from.inputs();
    return {from.matrix(".weight.covariance", entries, entries)};
  }
  static void write(const FullWeights& law, const DenseSink& to) {
    to.add(".weight.covariance", law.covariance);
  }
};

template <>
struct LawTensors<JointWeights> {
  static constexpr TensorSet kSet = " covariance";
  static JointWeights read(const DenseSource& from) {
    const Index entries = from.outputs() * (from.inputs() + 1);
    return {from.matrix(".covariance", entries, entries)};
  }
  static void write(const JointWeights& law, const DenseSink& to) { to.add(".covariance", law.covariance); }
};

/// Convolutions have it once they are written out.
template <>
struct LawTensors<SharedWeights> {
  static constexpr TensorSet kSet = std::nullopt;
  static SharedWeights read(const DenseSource& /*from*/) { return {}; }
  static void write(const SharedWeights& /*law*/, const DenseSink& to) {
    throw InvalidArgument("layer '" + to.layer().name() +
                          "': a convolution is stored by save_layers, not as a matrix");
  }
};

/// Are all words of a set names of tensors? A tensor that is not listed would belong to no layer.
constexpr bool is_listed(TensorSet set) {
  std::string_view left = set.value_or("");
  while (!left.empty()) {
    left.remove_prefix(1);
    const std::string_view word = left.substr(0, left.find(' '));
    left.remove_prefix(word.size());
    bool found = false;
    for (const std::string_view name : kDenseTensors) found = found || name.substr(1) == word;
    if (!found) return false;
  }
  return true;
}

/// The family of that set of tensors; nothing where no family has it.
template <class... Laws>
std::optional<WeightCovariance> read_family(std::string_view set, const DenseSource& from,
                                            std::type_identity<std::variant<Laws...>> /*families*/) {
  static_assert((is_listed(LawTensors<Laws>::kSet) && ...), "a family has a tensor that is not listed");
  std::optional<WeightCovariance> found;
  const auto try_family = [&]<class Law>(std::type_identity<Law> /*family*/) {
    if (LawTensors<Law>::kSet == set) found = LawTensors<Law>::read(from);
  };
  (try_family(std::type_identity<Laws>()), ...);
  return found;
}

}  // namespace mixcert::io
