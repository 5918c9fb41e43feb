// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of options.
#include "mixcert/propagate/options.h"

#include <limits>

#include "mixcert/quantize/grid_allocation.h"

namespace mixcert {
namespace {

const std::vector<std::pair<Method, std::string>>& method_names() {
  static const std::vector<std::pair<Method, std::string>> names = {{Method::Signature, "signature"},
                                                                    {Method::Cross, "cross"}};
  return names;
}

const std::vector<std::pair<CertificateMode, std::string>>& certificate_names() {
  static const std::vector<std::pair<CertificateMode, std::string>> names = {
      {CertificateMode::Best, "best"},
      {CertificateMode::Metric, "metric"},
      {CertificateMode::Expected, "expected"},
      {CertificateMode::Paper, "paper"}};
  return names;
}

const std::vector<std::pair<GridPlacement, std::string>>& grid_names() {
  static const std::vector<std::pair<GridPlacement, std::string>> names = {
      {GridPlacement::Adaptive, "adaptive"}, {GridPlacement::Uniform, "uniform"}};
  return names;
}

template <class Enum>
std::string_view name_of(Enum value, const std::vector<std::pair<Enum, std::string>>& names) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  return "?";
}

OptionTable<Options> make_table() {
  return {
      flag_option("joint", &Options::joint, "one mixture over the outputs at all inputs"),
      choice_option("method", &Options::method, method_names(), "how laws become discrete; cross: no bound"),
      choice_option("certificate", &Options::certificate, certificate_names(),
                    "constants that carry errors to the output"),
      choice_option("grid", &Options::grid, grid_names(), "optimal or evenly spaced points"),
      integer_option<Options, Index>("signature-size", &Options::signature_size, 1, kMaxGridSize,
                                     "grid points per Gaussian component"),
      integer_option<Options, Index>("components", &Options::components, 0, kMaxGridSize,
                                     "components kept by compression; 0: all"),
      real_option("epsilon", &Options::epsilon, 0.0, "choose both sizes so that the bound is below this"),
      integer_option<Options, Index>("max-components", &Options::max_components, 1, kMaxGridSize,
                                     "most components while epsilon is sought"),
      integer_option<Options, std::uint64_t>(
          "seed", &Options::seed, 0, std::numeric_limits<std::uint64_t>::max(), "seed of the clustering"),
      integer_option<Options, int>("threads", &Options::threads, 0, 4096,
                                   "threads over inputs; 0: one per processor"),
      real_option("max-memory-in-gib", &Options::max_memory_in_gib, 0.0,
                  "refuse work that needs more memory"),
  };
}

}  // namespace

std::string_view to_string(Method method) { return name_of(method, method_names()); }
std::string_view to_string(CertificateMode mode) { return name_of(mode, certificate_names()); }
std::string_view to_string(GridPlacement grid) { return name_of(grid, grid_names()); }

const OptionTable<Options>& option_table() {
  static const OptionTable<Options> table = make_table();
  return table;
}

void Options::validate() const {
  Options copy;
  for (const auto& field : option_table()) {
    const std::string text = field.get(*this);
    if (!text.empty()) field.set(copy, text);
  }
  if (method == Method::Cross && epsilon) {
    throw InvalidArgument("option --epsilon: method cross carries no bound, so none can be asked for");
  }
}

}  // namespace mixcert
