// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the parts of an import hand to each other: layers recognised by the names of their keys, and
// posteriors of all weights in one vector, cut into layers.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/io/weight_conventions.h"
#include "mixcert/network/weight_law.h"

namespace mixcert::io {

/// Arrays without values: not there. Laws replace deviations where weights are correlated.
struct ImportedLayer {
  std::string name;
  std::string weight_key;  ///< for messages
  std::string bias_key;
  Array weight_mean;
  Array weight_deviation;
  Array bias_mean;
  Array bias_deviation;
  std::optional<WeightCovariance> weights = {};
  std::optional<BiasCovariance> bias = {};
};

/// Room for one layer's parameters in a vector of all: weights, then bias.
struct LayerSlot {
  std::string name;
  std::vector<Index> weight_shape;

  [[nodiscard]] Index outputs() const { return weight_shape.front(); }
  [[nodiscard]] Index weights() const {
    Index count = 1;
    for (const Index size : weight_shape) count *= size;
    return count;
  }
};

struct ImportSource {
  const NamedArrays& arrays;
  const ImportOptions& options;
  const std::string& label;

  [[noreturn]] void fail(const std::string& key, const std::string& expected, const std::string& got) const;
  /// The one key that is `ending` or ends in "." + ending; FileError where there is none or several. Its
  /// values are finite.
  [[nodiscard]] const Array& one(std::string_view ending) const;
  [[nodiscard]] bool has(std::string_view ending) const;
  /// The same with a single value.
  [[nodiscard]] double number(std::string_view ending) const;
  /// Throws FileError unless all values are finite.
  void require_finite_values(const std::string& key, const Array& array) const;
};

/// log(1 + exp(x)) without overflow.
double softplus(double x);
/// Is `key` the ending itself, or does it end in "." + ending?
bool has_ending(std::string_view key, std::string_view ending);

/// Conventions with one entry per layer and parameter.
bool is_flat(const std::string& library);
/// In the order of the dictionary where it keeps one, otherwise by name, numbers as numbers. Keys that belong
/// to nothing are refused; those of batch norm and `others` are left to whoever reads them.
std::vector<ImportedLayer> recognise_layers(const ImportSource& source, const std::set<std::string>& others,
                                            std::vector<std::string>& assumptions);
/// IVON: deviations of recognised layers from the optimizer's vector.
void add_ivon_deviations(const ImportSource& source, std::vector<ImportedLayer>& layers);
/// Conventions with one vector of all parameters, cut into the slots.
std::vector<ImportedLayer> split_flat(const ImportSource& source, const std::vector<LayerSlot>& slots,
                                      std::vector<std::string>& assumptions);

}  // namespace mixcert::io
