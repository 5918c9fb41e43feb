// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers by the names of their keys. Each library writes a mean and something that its own formula turns into
// a standard deviation; the table says which keys and which formula (docs/import.md has the sources).
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "io/file_error.h"
#include "io/imported_layers.h"

namespace mixcert::io {
namespace {

enum class Part { WeightMean, WeightScale, WeightFactor, BiasMean, BiasScale, BiasFactor, Ignored };
enum class ScaleFormula { None, Softplus, Exponential, SecondMoment };

struct KeyRule {
  std::string_view ending;
  Part part;
};

struct Convention {
  ScaleFormula formula;
  std::vector<KeyRule> rules;
};

/// Conventions whose keys are endings. `weight` and `bias` without more are a layer that is not random.
const std::map<std::string, Convention>& conventions() {
  using enum Part;
  static const std::map<std::string, Convention> table = {
      {"plain", {ScaleFormula::None, {}}},
      {"ivon", {ScaleFormula::None, {}}},
      {"bayesian-torch",
       {ScaleFormula::Softplus,
        {{"mu_weight", WeightMean},
         {"rho_weight", WeightScale},
         {"mu_kernel", WeightMean},
         {"rho_kernel", WeightScale},
         {"mu_bias", BiasMean},
         {"rho_bias", BiasScale},
         {"eps_weight", Ignored},
         {"eps_kernel", Ignored},
         {"eps_bias", Ignored},
         {"prior_weight_mu", Ignored},
         {"prior_weight_sigma", Ignored},
         {"prior_bias_mu", Ignored},
         {"prior_bias_sigma", Ignored}}}},
      {"blitz",
       {ScaleFormula::Softplus,
        {{"weight_sampler.mu", WeightMean},
         {"weight_sampler.rho", WeightScale},
         {"bias_sampler.mu", BiasMean},
         {"bias_sampler.rho", BiasScale},
         // The pair beside the sampler's is what a frozen layer uses.
         {"weight_mu", Ignored},
         {"weight_rho", Ignored},
         {"bias_mu", Ignored},
         {"bias_rho", Ignored},
         {"weight_sampler.eps_w", Ignored},
         {"bias_sampler.eps_w", Ignored},
         {"bias_zero", Ignored}}}},
      {"torchbnn",
       {ScaleFormula::Exponential,
        {{"weight_mu", WeightMean},
         {"weight_log_sigma", WeightScale},
         {"bias_mu", BiasMean},
         {"bias_log_sigma", BiasScale},
         {"weight_eps", Ignored},
         {"bias_eps", Ignored}}}},
      {"bayesian-cnn",
       {ScaleFormula::Softplus,
        {{"W_mu", WeightMean}, {"W_rho", WeightScale}, {"bias_mu", BiasMean}, {"bias_rho", BiasScale}}}},
      {"torch-uncertainty",
       {ScaleFormula::Softplus,
        {{"weight_mu", WeightMean},
         {"weight_sigma", WeightScale},
         {"bias_mu", BiasMean},
         {"bias_sigma", BiasScale},
         {"weight_sampler.mu", Ignored},
         {"weight_sampler.rho", Ignored},
         {"bias_sampler.mu", Ignored},
         {"bias_sampler.rho", Ignored}}}},
      {"swag",
       {ScaleFormula::SecondMoment,
        {{"weight_mean", WeightMean},
         {"weight_sq_mean", WeightScale},
         {"weight_cov_mat_sqrt", WeightFactor},
         {"bias_mean", BiasMean},
         {"bias_sq_mean", BiasScale},
         {"bias_cov_mat_sqrt", BiasFactor},
         {"n_models", Ignored}}}},
  };
  return table;
}

struct Classified {
  std::string layer;
  Part part = Part::Ignored;
  ScaleFormula formula = ScaleFormula::None;  ///< of a scale
};

std::string layer_name_of(std::string_view key, std::string_view ending) {
  if (key.size() == ending.size()) return "layer";
  return std::string(key.substr(0, key.size() - ending.size() - 1));
}

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

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
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
  LayerRecogniser(const ImportSource& source, std::vector<std::string>& assumptions)
      : source_(source), assumptions_(assumptions), library_(source.options.library) {}

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
    const std::optional<Classified> found = classify(key);
    if (found && batch_norms_.contains(found->layer) && library_ != "swag") return;
    if (has_ending(key, "running_mean") || has_ending(key, "running_var")) return;
    if (!found) {
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

  std::optional<Classified> classify(const std::string& key) const {
    if (library_ == "pyro") return classify_pyro(key);
    if (library_ == "numpyro") return classify_numpyro(key);
    const Convention& convention = conventions().at(library_);
    for (const KeyRule& rule : convention.rules) {
      if (has_ending(key, rule.ending)) {
        return Classified{layer_name_of(key, rule.ending), rule.part, convention.formula};
      }
    }
    if (has_ending(key, "weight")) return Classified{layer_name_of(key, "weight"), Part::WeightMean};
    if (has_ending(key, "bias")) return Classified{layer_name_of(key, "bias"), Part::BiasMean};
    return std::nullopt;
  }

  /// locs.SITE and scales.SITE_unconstrained, SITE = LAYER.weight or LAYER.bias.
  std::optional<Classified> classify_pyro(const std::string& key) const {
    const std::string dotted = "." + key;
    const std::size_t loc = dotted.rfind(".locs.");
    const std::size_t scale = dotted.rfind(".scales.");
    if (loc == std::string::npos && scale == std::string::npos) return std::nullopt;
    const bool is_loc = loc != std::string::npos;
    std::string site = is_loc ? dotted.substr(loc + 6) : dotted.substr(scale + 8);
    ScaleFormula formula = ScaleFormula::None;
    if (!is_loc) formula = scale_formula(key, site);
    for (const std::string_view ending : {"weight", "bias"}) {
      if (!has_ending(site, ending)) continue;
      const bool weight = ending == "weight";
      const Part part = is_loc ? (weight ? Part::WeightMean : Part::BiasMean)
                               : (weight ? Part::WeightScale : Part::BiasScale);
      return Classified{layer_name_of(site, ending), part, formula};
    }
    return std::nullopt;
  }

  /// Takes the suffix off the site.
  ScaleFormula scale_formula(const std::string& key, std::string& site) const {
    constexpr std::string_view kSuffix = "_unconstrained";
    const bool suffixed = site.ends_with(kSuffix);
    if (suffixed) site.resize(site.size() - kSuffix.size());
    const std::optional<bool>& constrained = source_.options.constrained_scales;
    if (!suffixed && !constrained) {
      source_.fail(in_quotes(key), "a key that ends in _unconstrained, or --scales", "neither");
    }
    const bool softplus_needed = constrained ? !*constrained : suffixed;
    return softplus_needed ? ScaleFormula::Softplus : ScaleFormula::None;
  }

  /// SITE_auto_loc and SITE_auto_scale, SITE = LAYER.kernel, LAYER.bias, LAYER.w, LAYER.b or wN, bN.
  std::optional<Classified> classify_numpyro(const std::string& key) const {
    const bool is_loc = key.ends_with("_auto_loc");
    const bool is_scale = key.ends_with("_auto_scale");
    if (!is_loc && !is_scale) return std::nullopt;
    const std::string site = key.substr(0, key.size() - (is_loc ? 9 : 11));
    const std::size_t dot = site.find_last_of("./");
    const std::string last = dot == std::string::npos ? site : site.substr(dot + 1);
    std::string layer = dot == std::string::npos ? "" : site.substr(0, dot);
    const std::string kind = without_digits(last);
    const bool weight = kind == "kernel" || kind == "w" || kind == "W";
    if (!weight && kind != "bias" && kind != "b") return std::nullopt;
    if (kind.size() < last.size()) layer += (layer.empty() ? "" : ".") + last.substr(kind.size());
    const Part part = is_loc ? (weight ? Part::WeightMean : Part::BiasMean)
                             : (weight ? Part::WeightScale : Part::BiasScale);
    const bool unconstrained = !source_.options.constrained_scales.value_or(true);
    const ScaleFormula formula = is_scale && unconstrained ? ScaleFormula::Softplus : ScaleFormula::None;
    return Classified{layer.empty() ? "layer" : layer, part, formula};
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
    for (const auto& [key, array] : source_.arrays.entries) {
      if (key.ends_with("_cov_mat_sqrt") && array.size() > 0) return true;
    }
    return false;
  }
  [[nodiscard]] double swag_scale() const {
    return source_.options.swag_scale.value_or(has_factors() ? 0.5 : 1.0);
  }

  /// SWAG: covariance scale (diag + D' D / (K - 1)), rows of D the last K deviations from the mean. D couples
  /// all layers.
  void add_low_rank(ImportedLayer& layer, const Parts& parts) {
    if (!has_factors()) return;
    if (!source_.options.project_per_layer) {
      source_.fail(in_quotes(parts.parts.begin()->second.first),
                   "a posterior without correlations across layers, or --project per-layer",
                   "SWAG with a low-rank covariance");
    }
    const Matrix weight = factor(parts, Part::WeightFactor, layer.weight_mean);
    if (layer.weight_mean.rank() != 2) source_.fail(in_quotes(layer.weight_key), "rank 2", "another rank");
    const Index out = layer.weight_mean.shape[0];
    const Index in = layer.weight_mean.shape[1];
    LowRankWeights law{as_matrix(layer.weight_deviation).array().square().matrix(), {}};
    for (Index s = 0; s < weight.rows(); ++s) {
      Matrix column(out, in);
      for (Index i = 0; i < out; ++i) column.row(i) = weight.row(s).segment(i * in, in);
      law.factor.push_back(std::move(column));
    }
    layer.weights = std::move(law);
    if (!layer.bias_key.empty()) {
      const Matrix bias = factor(parts, Part::BiasFactor, layer.bias_mean);
      Matrix covariance = bias.transpose() * bias;
      for (Index i = 0; i < out; ++i) {
        const double d = layer.bias_deviation.values[static_cast<std::size_t>(i)];
        covariance(i, i) += d * d;
      }
      layer.bias = CorrelatedBias{std::move(covariance)};
    }
    const std::string text =
        "imported from SWAG, projected: correlations across layers, and between weights and bias of a layer, "
        "are left out";
    if (assumptions_.empty()) assumptions_.push_back(text);
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
  std::vector<std::string>& assumptions_;
  const std::string& library_;
  std::set<std::string> batch_norms_;
  std::map<std::string, Parts> found_;
  std::vector<std::string> order_;
};

}  // namespace

std::vector<ImportedLayer> recognise_layers(const ImportSource& source,
                                            std::vector<std::string>& assumptions) {
  std::vector<ImportedLayer> layers = LayerRecogniser(source, assumptions).run();
  if (source.arrays.keeps_order) return layers;
  std::stable_sort(layers.begin(), layers.end(), [](const ImportedLayer& a, const ImportedLayer& b) {
    return natural_less(a.name, b.name);
  });
  return layers;
}

}  // namespace mixcert::io
