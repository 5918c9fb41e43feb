// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers by the names of their keys (key_conventions): means, and standard deviations by each library's own
// formula.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "io/files/file_error.h"
#include "io/imports/imported_layers.h"
#include "io/imports/key_conventions.h"

namespace mixcert::io {
namespace {

/// Numbers inside names count as numbers: 2 before 10.
bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const auto digits = [&](std::string_view text) {
        std::size_t count = 0;
        while (count < text.size() && is_digit(text[count])) ++count;
        return count;
      };
      const std::string_view left = a.substr(0, digits(a));
      const std::string_view right = b.substr(0, digits(b));
      if (left != right) return left.size() != right.size() ? left.size() < right.size() : left < right;
      a.remove_prefix(left.size());
      b.remove_prefix(right.size());
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

/// [in, out] to [out, in].
Array transposed(const Array& array) {
  Array result{{array.shape[1], array.shape[0]}, {}};
  result.values.reserve(array.values.size());
  for (Index j = 0; j < array.shape[1]; ++j) {
    for (Index i = 0; i < array.shape[0]; ++i)
      result.values.push_back(array.values[static_cast<std::size_t>(i * array.shape[1] + j)]);
  }
  return result;
}

class LayerRecogniser {
 public:
  LayerRecogniser(const ImportSource& source, const std::set<std::string>& others,
                  std::vector<std::string>& assumptions)
      : source_(source), others_(others), assumptions_(assumptions), library_(source.options.library) {}

  std::vector<ImportedLayer> run() {
    find_batch_norms();
    for (const auto& [key, array] : source_.arrays.entries) take(key, array);
    std::vector<ImportedLayer> layers;
    for (const std::string& name : order_) layers.push_back(converted(name, found_.at(name)));
    if (layers.empty()) source_.fail("names", "layers as " + library_ + " names them", "none");
    return layers;
  }

 private:
  struct Parts {
    std::map<Part, std::pair<std::string, const Array*>> parts;
    ScaleFormula formula = ScaleFormula::None;
  };

  void find_batch_norms() {
    for (const auto& [key, array] : source_.arrays.entries) {
      if (has_ending(key, "running_mean")) batch_norms_.insert(layer_name_of(key, "running_mean"));
    }
  }

  void take(const std::string& key, const Array& array) {
    if (has_ending(key, "num_batches_tracked") || is_optimizer_key(key)) return;
    const std::optional<ClassifiedKey> found = classify_key(source_, key);
    if (found && batch_norms_.contains(found->layer) && library_ != "swag") return;
    if (has_ending(key, "running_mean") || has_ending(key, "running_var")) return;
    if (!found) {
      if (others_.contains(key)) return;
      if (array.rank() == 0 || array.size() <= 1) return;  // epochs, losses, noise levels
      source_.fail(in_quotes(key), "keys of layers as " + library_ + " names them", "another");
    }
    if (found->part == Part::Ignored) return;
    source_.require_finite_values(key, array);
    const auto [place, is_new] = found_.try_emplace(found->layer);
    if (is_new) order_.push_back(found->layer);
    if (found->formula != ScaleFormula::None) place->second.formula = found->formula;
    if (!place->second.parts.emplace(found->part, std::pair{key, &array}).second) {
      source_.fail(in_quotes(key), "one such key of layer " + in_quotes(found->layer), "two");
    }
  }

  [[nodiscard]] bool is_optimizer_key(const std::string& key) const {
    const std::string dotted = "." + key;
    return library_ == "ivon" && (dotted.find(".param_groups.") != std::string::npos ||
                                  dotted.find(".state.") != std::string::npos);
  }

  ImportedLayer converted(const std::string& name, const Parts& parts) {
    ImportedLayer layer{name, key_of(parts, Part::WeightMean), key_of(parts, Part::BiasMean), {}, {}, {}, {}};
    if (layer.weight_key.empty()) {
      source_.fail("of layer " + in_quotes(name), "one of the weights' means", "none");
    }
    layer.weight_mean = *parts.parts.at(Part::WeightMean).second;
    layer.weight_deviation = deviations(parts, Part::WeightMean, Part::WeightScale);
    if (!layer.bias_key.empty()) layer.bias_mean = *parts.parts.at(Part::BiasMean).second;
    layer.bias_deviation = deviations(parts, Part::BiasMean, Part::BiasScale);
    if (parts.parts.contains(Part::WeightFactor) || parts.parts.contains(Part::BiasFactor)) {
      add_low_rank(layer, parts);
    }
    if (library_ == "numpyro") transpose(layer);
    return layer;
  }

  static std::string key_of(const Parts& parts, Part part) {
    const auto found = parts.parts.find(part);
    return found == parts.parts.end() ? "" : found->second.first;
  }

  /// Empty where there is no scale.
  Array deviations(const Parts& parts, Part mean_part, Part scale_part) const {
    const auto mean = parts.parts.find(mean_part);
    const auto scale = parts.parts.find(scale_part);
    if (scale == parts.parts.end()) {
      const bool plain = mean == parts.parts.end() || has_ending(mean->second.first, "weight") ||
                         has_ending(mean->second.first, "bias");
      const bool must = library_ == "pyro" || library_ == "numpyro" || !plain;
      if (must && mean != parts.parts.end()) {
        source_.fail(in_quotes(mean->second.first), "a key of scales beside it", "none");
      }
      return {};
    }
    const auto& [key, array] = scale->second;
    if (mean == parts.parts.end()) source_.fail(in_quotes(key), "a key of means beside it", "none");
    const Array& means = *mean->second.second;
    if (means.shape != array->shape) {
      source_.fail(in_quotes(key), "shape " + shape_text(means.shape), shape_text(array->shape));
    }
    Array result = *array;
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      result.values[i] = deviation(parts.formula, result.values[i], means.values[i]);
      if (std::isfinite(result.values[i]) && result.values[i] >= 0.0) continue;
      source_.fail(in_quotes(key), "scales that make standard deviations",
                   std::to_string(array->values[i]) + " at flat index " + std::to_string(i));
    }
    return result;
  }

  [[nodiscard]] double deviation(ScaleFormula formula, double scale, double mean) const {
    switch (formula) {
      case ScaleFormula::Softplus:
        return softplus(scale);
      case ScaleFormula::Exponential:
        return std::exp(scale);
      case ScaleFormula::SecondMoment:  // SWAG clamps the variance at 1e-30
        return std::sqrt(swag_scale() * std::max(scale - mean * mean, 1e-30));
      case ScaleFormula::None:
        break;
    }
    return scale;
  }

  [[nodiscard]] bool has_factors() const {
    const auto& entries = source_.arrays.entries;
    return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
      return entry.first.ends_with("_cov_mat_sqrt") && entry.second.size() > 0;
    });
  }
  [[nodiscard]] double swag_scale() const {
    return source_.options.swag_scale.value_or(has_factors() ? 0.5 : 1.0);
  }

  /// SWAG: covariance scale (diag + D' D / (K - 1)), rows of D the last K deviations from the mean. D couples
  /// all layers (N.7), unless only the law of each is asked for.
  void add_low_rank(ImportedLayer& layer, const Parts& parts) {
    if (!has_factors()) return;
    if (layer.weight_mean.rank() != 2) {
      source_.fail(in_quotes(layer.weight_key), "dense layers beside SWAG's low-rank part", "a convolution");
    }
    const Matrix weight = factor(parts, Part::WeightFactor, layer.weight_mean);
    const Index out = layer.weight_mean.shape[0];
    const Index in = layer.weight_mean.shape[1];
    LowRankWeights law{as_matrix(layer.weight_deviation).array().square().matrix(), {}};
    for (Index s = 0; s < weight.rows(); ++s) {
      law.factor.emplace_back(weight.row(s).reshaped(in, out).transpose());
    }
    if (!layer.bias_key.empty()) {
      law.bias_factor = factor(parts, Part::BiasFactor, layer.bias_mean).transpose();
    }
    law.is_common = !source_.options.project_per_layer;
    layer.weights = std::move(law);
    const std::string text = "imported from SWAG, projected: correlations across layers are left out";
    if (source_.options.project_per_layer && assumptions_.empty()) assumptions_.push_back(text);
  }

  Matrix factor(const Parts& parts, Part part, const Array& mean) const {
    const auto found = parts.parts.find(part);
    const std::string key = key_of(parts, part);
    if (found == parts.parts.end() || found->second.second->rank() != 2 ||
        found->second.second->shape[0] < 2 || found->second.second->shape[1] != mean.size()) {
      source_.fail(in_quotes(key), "shape [2 or more, " + std::to_string(mean.size()) + "]",
                   found == parts.parts.end() ? "no such key" : shape_text(found->second.second->shape));
    }
    const auto rows = static_cast<double>(found->second.second->shape[0]);
    return as_matrix(*found->second.second) * std::sqrt(swag_scale() / (rows - 1.0));
  }

  void transpose(ImportedLayer& layer) const {
    for (Array* array : {&layer.weight_mean, &layer.weight_deviation}) {
      if (array->rank() != 2) {
        source_.fail(in_quotes(layer.weight_key), "a kernel [in, out]", shape_text(array->shape));
      }
      *array = transposed(*array);
    }
  }

  const ImportSource& source_;
  const std::set<std::string>& others_;
  std::vector<std::string>& assumptions_;
  const std::string& library_;
  std::set<std::string> batch_norms_;
  std::map<std::string, Parts> found_;
  std::vector<std::string> order_;
};

}  // namespace

std::vector<ImportedLayer> recognise_layers(const ImportSource& source, const std::set<std::string>& others,
                                            std::vector<std::string>& assumptions) {
  std::vector<ImportedLayer> layers = LayerRecogniser(source, others, assumptions).run();
  if (source.arrays.keeps_order) return layers;
  std::stable_sort(layers.begin(), layers.end(), [](const ImportedLayer& a, const ImportedLayer& b) {
    return natural_less(a.name, b.name);
  });
  return layers;
}

}  // namespace mixcert::io
