// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of options.
#include "mixcert/certificate/options.h"

#include <algorithm>
#include <limits>
#include <string>

#include "quantize/signature.h"

namespace mixcert {
namespace {

constexpr Index kMaxSamples = 1'000'000'000;
constexpr Index kMaxBlock = 10'000;
constexpr Index kFewestDraws = 1024;

const std::vector<std::pair<Predictive, std::string>>& predictive_names() {
  static const std::vector<std::pair<Predictive, std::string>> names = {{Predictive::Network, "network"},
                                                                        {Predictive::Glm, "glm"}};
  return names;
}

const std::vector<std::pair<Method, std::string>>& method_names() {
  static const std::vector<std::pair<Method, std::string>> names = {{Method::Auto, "auto"},
                                                                    {Method::Moment, "moment"},
                                                                    {Method::Signature, "signature"},
                                                                    {Method::Cross, "cross"},
                                                                    {Method::Coupled, "coupled"}};
  return names;
}

const std::vector<std::pair<TheoremSet, std::string>>& theorem_names() {
  static const std::vector<std::pair<TheoremSet, std::string>> names = {{TheoremSet::All, "all"},
                                                                        {TheoremSet::Coupling, "coupling"}};
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

const std::vector<std::pair<InputNorm, std::string>>& input_norm_names() {
  static const std::vector<std::pair<InputNorm, std::string>> names = {{InputNorm::Largest, "inf"},
                                                                       {InputNorm::Euclidean, "2"}};
  return names;
}

const std::vector<std::pair<SensitivityMode, std::string>>& sensitivity_names() {
  static const std::vector<std::pair<SensitivityMode, std::string>> names = {
      {SensitivityMode::Closed, "closed"}, {SensitivityMode::Sdp, "sdp"}};
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
      choice_option("predictive", &Options::predictive, predictive_names(),
                    "glm: linearised at mean weights"),
      choice_option("method", &Options::method, method_names(), "cross: no bound; coupled: by draws"),
      choice_option("theorems", &Options::theorems, theorem_names(), "moment: which bound a layer's term"),
      choice_option("certificate", &Options::certificate, certificate_names(),
                    "constants that carry errors to the output"),
      choice_option("sensitivity", &Options::sensitivity, sensitivity_names(),
                    "moment: metrics by closed forms or an SDP"),
      choice_option("grid", &Options::grid, grid_names(), "optimal or evenly spaced points"),
      integer_option<Options, Index>("signature-size", &Options::signature_size, 1, kMaxGridSize,
                                     "grid points per Gaussian component"),
      integer_option<Options, Index>("components", &Options::components, 0, kMaxGridSize,
                                     "most components of a mixture; 0: all"),
      integer_option<Options, Index>("pieces", &Options::pieces, 1, kMaxGridSize,
                                     "moment: Gaussians a layer may be split into"),
      real_option("epsilon", &Options::epsilon, 0.0, "choose both sizes so that the bound is below this"),
      integer_option<Options, Index>("max-components", &Options::max_components, 1, kMaxGridSize,
                                     "most components while epsilon is sought"),
      real_option("radius", &Options::radius, 0.0, "bounds hold at every input within this distance"),
      choice_option("norm", &Options::norm, input_norm_names(),
                    "radius: inf, the largest change; 2, Euclidean"),
      integer_option<Options, Index>("max-cells", &Options::max_cells, 1, kMaxGridSize,
                                     "most cells that a box of inputs is split into"),
      integer_option<Options, Index>("statistics", &Options::statistics, 0, kMaxSamples,
                                     "samples for statistical bounds too; 0: none"),
      real_option("failure-probability", &Options::failure_probability, 0.0,
                  "of the statistical upper bound; below 1"),
      flag_option("simulate", &Options::simulate, "a bound certified by simulation too"),
      integer_option<Options, Index>("draws", &Options::draws, kFewestDraws, kMaxSamples,
                                     "simulate: most draws at each input"),
      flag_option("marginals", &Options::marginals, "simulate: each output's own mixture and bound too"),
      real_option("simulation-failure", &Options::simulation_failure, 0.0,
                  "simulate: probability that its bound fails"),
      integer_option<Options, std::uint64_t>("seed", &Options::seed, 0,
                                             std::numeric_limits<std::uint64_t>::max(),
                                             "seed of clustering, statistics and simulation"),
      integer_option<Options, int>("threads", &Options::threads, 0, 4096,
                                   "threads over inputs; 0: one per processor"),
      integer_option<Options, Index>("block", &Options::block, 0, kMaxBlock,
                                     "moment: inputs at a time; 0: to suit the cache"),
      real_option("max-memory-in-gib", &Options::max_memory_in_gib, 0.0,
                  "refuse work that needs more memory"),
  };
}

}  // namespace

std::string_view to_string(Predictive predictive) { return name_of(predictive, predictive_names()); }
std::string_view to_string(Method method) { return name_of(method, method_names()); }
std::string_view to_string(TheoremSet theorems) { return name_of(theorems, theorem_names()); }
std::string_view to_string(CertificateMode mode) { return name_of(mode, certificate_names()); }
std::string_view to_string(GridPlacement grid) { return name_of(grid, grid_names()); }
std::string_view to_string(InputNorm norm) { return name_of(norm, input_norm_names()); }

const OptionTable<Options>& option_table() {
  static const OptionTable<Options> table = make_table();
  return table;
}

namespace {

/// Options that a method, or the linearised law, has no use for. A changed one is refused: nothing that was
/// asked for is ignored.
std::vector<std::string_view> unused_options(const Options& options) {
  if (options.predictive == Predictive::Glm) {
    return {"joint",
            "method",
            "theorems",
            "certificate",
            "sensitivity",
            "grid",
            "signature-size",
            "components",
            "pieces",
            "epsilon",
            "max-components",
            "statistics",
            "failure-probability",
            "simulate",
            "block",
            "radius"};
  }
  switch (options.method) {
    case Method::Moment:
      return {"grid", "signature-size"};
    case Method::Signature:
      return {"theorems", "pieces", "sensitivity", "simulate", "block"};
    case Method::Cross:
      return {"theorems", "pieces",  "sensitivity",    "simulate",
              "block",    "epsilon", "max-components", "radius"};
    case Method::Coupled:
      return {"joint",  "theorems",       "certificate", "sensitivity", "grid",      "signature-size",
              "pieces", "max-components", "epsilon",     "block",       "marginals", "radius"};
    case Method::Auto:
      break;
  }
  return {};
}

/// A ball of inputs has no law of its own: what is about one law, or is asked of its draws, is refused.
void validate_radius(const Options& options) {
  require(options.radius || options.norm == InputNorm::Largest,
          "option --norm: expected --radius, which it is about");
  if (!options.radius) return;
  const char* const refused = options.joint            ? "joint"
                              : options.simulate       ? "simulate"
                              : options.epsilon        ? "epsilon"
                              : options.statistics > 0 ? "statistics"
                                                       : nullptr;
  if (refused == nullptr) return;
  throw InvalidArgument("option --radius: expected inputs certified one by one without --" +
                        std::string(refused) + ", which is about the law at one input");
}

}  // namespace

void Options::validate() const {
  Options copy;
  const Options defaults;
  const std::vector<std::string_view> unused = unused_options(*this);
  for (const auto& field : option_table()) {
    const std::string text = field.get(*this);
    if (!text.empty()) field.set(copy, text);
    if (text == field.get(defaults) || std::find(unused.begin(), unused.end(), field.name) == unused.end())
      continue;
    const std::string who =
        predictive == Predictive::Glm ? "predictive glm" : "method " + std::string(to_string(method));
    throw InvalidArgument("option --" + field.name + ": " + who + " has no use for it");
  }
  if (statistics == 1) bad_option("statistics", "0 or at least 2", "1");
  if (!(failure_probability < 1.0)) {
    bad_option("failure-probability", "a number above 0 and below 1", format_number(failure_probability));
  }
  if (!(simulation_failure < 1.0)) {
    bad_option("simulation-failure", "a number above 0 and below 1", format_number(simulation_failure));
  }
  validate_radius(*this);
  require(!joint || !simulate, "option --simulate: expected inputs certified one by one, got --joint");
  const bool is_plain =
      draws == defaults.draws && simulation_failure == defaults.simulation_failure && !marginals;
  require(simulate || is_plain,
          "options --draws, --marginals and --simulation-failure: expected --simulate, which they are about");
  if (joint && pieces > 1) {
    throw InvalidArgument("option --pieces: laws of several inputs jointly are not split, got " +
                          std::to_string(pieces));
  }
  if (method == Method::Moment && certificate != CertificateMode::Best &&
      certificate != CertificateMode::Metric) {
    throw InvalidArgument("option --certificate: method moment has best and metric, got '" +
                          std::string(to_string(certificate)) + "'");
  }
}

}  // namespace mixcert
