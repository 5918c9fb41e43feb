// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Posteriors of all parameters in one vector, cut into layers: for every layer its weights row by row, then
// its bias, the order of torch's parameters_to_vector.
#include <cmath>

#include "io/files/file_error.h"
#include "io/imports/flat_layout.h"
#include "io/imports/imported_layers.h"

namespace mixcert::io {
namespace {

std::vector<ImportedLayer> split_pyro_diagonal(const ImportSource& source,
                                               const std::vector<LayerSlot>& slots) {
  const Array& mean = source.one("loc");
  const bool suffixed = source.has("scale_unconstrained");
  const std::string key = suffixed ? "scale_unconstrained" : "scale";
  const std::optional<bool>& constrained = source.options.constrained_scales;
  if (!suffixed && !constrained) {
    source.fail(in_quotes(key), "a key that ends in _unconstrained, or --scales", "neither");
  }
  Vector scale = as_vector(source.one(key));
  if (scale.size() != mean.size()) {
    source.fail(in_quotes(key), std::to_string(mean.size()) + " values", std::to_string(scale.size()));
  }
  if (constrained ? !*constrained : suffixed) scale = scale.unaryExpr([](double x) { return softplus(x); });
  if (scale.size() > 0 && scale.minCoeff() < 0.0) {
    source.fail(in_quotes(key), "standard deviations", std::to_string(scale.minCoeff()));
  }
  return cut(slots, find_layout(source, "loc", mean.size(), slots), as_vector(mean), scale);
}

std::vector<ImportedLayer> split_vogn(const ImportSource& source, const std::vector<LayerSlot>& slots) {
  const std::string key = source.has("Precision") ? "Precision" : "precision";
  const Array& mean = source.one("mu");
  const Vector precision = as_vector(source.one(key));
  if (precision.size() != mean.size()) {
    source.fail(in_quotes(key), std::to_string(mean.size()) + " values", std::to_string(precision.size()));
  }
  return cut(slots, find_layout(source, "mu", mean.size(), slots), as_vector(mean),
             deviations_of(source, key, precision));
}

}  // namespace

bool is_flat(const std::string& library) {
  return library == "pyro-diagonal" || library == "vogn" || library == "laplace";
}

std::vector<ImportedLayer> split_flat(const ImportSource& source, const std::vector<LayerSlot>& slots,
                                      std::vector<std::string>& assumptions) {
  if (source.options.library == "pyro-diagonal") return split_pyro_diagonal(source, slots);
  if (source.options.library == "vogn") return split_vogn(source, slots);
  return split_laplace(source, slots, assumptions);
}

void add_ivon_deviations(const ImportSource& source, std::vector<ImportedLayer>& layers) {
  if (source.has("param_groups.1.hess")) {
    source.fail("'param_groups.1.hess'", "one group of parameters", "several");
  }
  const std::string key = "param_groups.0.hess";
  const Array& hessian = source.one(key);
  const double samples = source.number("param_groups.0.ess");
  const double decay = source.number("param_groups.0.weight_decay");
  Index total = 0;
  for (const ImportedLayer& layer : layers) total += layer.weight_mean.size() + layer.bias_mean.size();
  if (hessian.size() != total) {
    source.fail(in_quotes(key), std::to_string(total) + " values (all weights and biases)",
                std::to_string(hessian.size()));
  }
  const Vector precision = samples * (as_vector(hessian).array() + decay).matrix();
  const Vector deviation = deviations_of(source, key, precision);
  Index begin = 0;
  for (ImportedLayer& layer : layers) {
    for (auto [mean, out] : {std::pair{&layer.weight_mean, &layer.weight_deviation},
                             std::pair{&layer.bias_mean, &layer.bias_deviation}}) {
      *out = part_of(deviation, begin, mean->shape, mean->size());
      begin += mean->size();
    }
  }
}

}  // namespace mixcert::io
