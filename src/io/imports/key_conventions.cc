// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which key holds what. Each library writes a mean and something that its own formula turns into a standard
// deviation; the table says which keys and which formula (docs/import.md has the sources).
#include "io/imports/key_conventions.h"

#include <algorithm>
#include <map>

#include "io/files/file_error.h"

namespace mixcert::io {
namespace {

struct KeyRule {
  std::string_view ending;
  Part part;
};

struct Convention {
  ScaleFormula formula;
  std::vector<KeyRule> rules;
};

/// Conventions whose keys are endings. `weight` and `bias` without more are a layer that is not random.
// One table. NOLINTNEXTLINE(readability-function-size)
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
         {"bias_sampler.rho", Ignored},
         // The prior.
         {"weight_prior_dist.pi", Ignored},
         {"weight_prior_dist.mus", Ignored},
         {"weight_prior_dist.sigmas", Ignored},
         {"bias_prior_dist.pi", Ignored},
         {"bias_prior_dist.mus", Ignored},
         {"bias_prior_dist.sigmas", Ignored}}}},
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

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

/// Takes the suffix off the site.
ScaleFormula scale_formula(const ImportSource& source, const std::string& key, std::string& site) {
  constexpr std::string_view kSuffix = "_unconstrained";
  const bool suffixed = site.ends_with(kSuffix);
  if (suffixed) site.resize(site.size() - kSuffix.size());
  const std::optional<bool>& constrained = source.options.constrained_scales;
  if (!suffixed && !constrained) {
    source.fail(in_quotes(key), "a key that ends in _unconstrained, or --scales", "neither");
  }
  const bool softplus_needed = constrained ? !*constrained : suffixed;
  return softplus_needed ? ScaleFormula::Softplus : ScaleFormula::None;
}

/// locs.SITE and scales.SITE_unconstrained, SITE = LAYER.weight or LAYER.bias.
std::optional<ClassifiedKey> classify_pyro(const ImportSource& source, const std::string& key) {
  const std::string dotted = "." + key;
  const std::size_t loc = dotted.rfind(".locs.");
  const std::size_t scale = dotted.rfind(".scales.");
  if (loc == std::string::npos && scale == std::string::npos) return std::nullopt;
  const bool is_loc = loc != std::string::npos;
  std::string site = is_loc ? dotted.substr(loc + 6) : dotted.substr(scale + 8);
  ScaleFormula formula = ScaleFormula::None;
  if (!is_loc) formula = scale_formula(source, key, site);
  for (const std::string_view ending : {"weight", "bias"}) {
    if (!has_ending(site, ending)) continue;
    const bool weight = ending == "weight";
    const Part part = is_loc ? (weight ? Part::WeightMean : Part::BiasMean)
                             : (weight ? Part::WeightScale : Part::BiasScale);
    return ClassifiedKey{layer_name_of(site, ending), part, formula};
  }
  return std::nullopt;
}

/// SITE_auto_loc and SITE_auto_scale, SITE = LAYER.kernel, LAYER.bias, LAYER.w, LAYER.b or wN, bN.
std::optional<ClassifiedKey> classify_numpyro(const ImportSource& source, const std::string& key) {
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
  const Part part =
      is_loc ? (weight ? Part::WeightMean : Part::BiasMean) : (weight ? Part::WeightScale : Part::BiasScale);
  const bool unconstrained = !source.options.constrained_scales.value_or(true);
  const ScaleFormula formula = is_scale && unconstrained ? ScaleFormula::Softplus : ScaleFormula::None;
  return ClassifiedKey{layer.empty() ? "layer" : layer, part, formula};
}

}  // namespace

std::string layer_name_of(std::string_view key, std::string_view ending) {
  if (key.size() == ending.size()) return "layer";
  return std::string(key.substr(0, key.size() - ending.size() - 1));
}

std::optional<ClassifiedKey> classify_key(const ImportSource& source, const std::string& key) {
  const std::string& library = source.options.library;
  if (library == "pyro") return classify_pyro(source, key);
  if (library == "numpyro") return classify_numpyro(source, key);
  const Convention& convention = conventions().at(library);
  for (const KeyRule& rule : convention.rules) {
    if (has_ending(key, rule.ending)) {
      return ClassifiedKey{layer_name_of(key, rule.ending), rule.part, convention.formula};
    }
  }
  if (has_ending(key, "weight")) return ClassifiedKey{layer_name_of(key, "weight"), Part::WeightMean};
  if (has_ending(key, "bias")) return ClassifiedKey{layer_name_of(key, "bias"), Part::BiasMean};
  return std::nullopt;
}

}  // namespace mixcert::io
