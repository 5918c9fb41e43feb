// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a caller may choose, and the one table of fields that drives command-line flags,
// JSON, validation and docs/options.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mixcert/core/option_table.h"
#include "mixcert/core/types.h"
#include "mixcert/sensitivity/sensitivity_mode.h"

namespace mixcert {

enum class Method {
  Auto,       ///< the moment method, or signatures where their bound is at most half as large
  Moment,     ///< Gaussian surrogates of the activations; certified
  Signature,  ///< the paper's grid signatures; certified
  Cross,      ///< the paper's cross signatures; no certificate
  Coupled,    ///< a Gaussian from draws, for layers of every kind; bounds by simulation, formal ones beside
};

/// The law that a mixture stands for.
enum class Predictive {
  Network,  ///< of the network's outputs
  Glm,      ///< of the network linearised at the means of its weights: another law, exactly Gaussian (N.6)
};

/// Which theorems may bound a layer's term of the moment method (src/theorems/theorem_table.cc).
enum class TheoremSet {
  All,       ///< the one that makes it smallest
  Coupling,  ///< that of the coupling alone, (H.3) and (H.7): coarser, faster, and differentiable
};

enum class CertificateMode {
  Best,      ///< the smallest of the others that the mixture allows
  Metric,    ///< sensitivity metrics, theory section "metrics"
  Expected,  ///< scalar constants |E W'W|^{1/2}
  Paper,     ///< the paper's constants and its exact compression program
};

/// How far apart two inputs are.
enum class InputNorm {
  Largest,    ///< the largest change of a feature
  Euclidean,  ///< the root of the sum of its squares
};

enum class GridPlacement {
  Adaptive,  ///< optimal quantizer on each axis
  Uniform,   ///< the paper's uniform grid with a proven rate
};

struct Options {
  Predictive predictive = Predictive::Network;
  Method method = Method::Auto;
  TheoremSet theorems = TheoremSet::All;
  CertificateMode certificate = CertificateMode::Best;
  GridPlacement grid = GridPlacement::Adaptive;
  /// How the moment method bounds the growth of errors through later layers.
  SensitivityMode sensitivity = SensitivityMode::Closed;
  /// Grid points per Gaussian component (N). More points: smaller local error, more work.
  Index signature_size = 10;
  /// Components kept by compression before each signature (M), and most of a mixture that is fitted to the
  /// law of one output (Y.40); 0: no limit.
  Index components = 5;
  /// Gaussians that the moment method may split a hidden layer's law into; 1: none is split.
  Index pieces = 1;
  /// Wanted bound. When given, the moment method splits until it is met, and the signature method
  /// chooses sizes by the convergence theorem (E.1); signature_size, components and pieces are starting
  /// points.
  std::optional<double> epsilon;
  /// Most components a mixture may have while epsilon is pursued.
  Index max_components = 1000;
  /// Treat all inputs jointly: one mixture over all outputs at all inputs.
  bool joint = false;
  /// When given, bounds hold at every input within this distance of each (M.9), not there alone.
  std::optional<double> radius;
  InputNorm norm = InputNorm::Largest;
  /// Most cells into which certify_box() splits a box of inputs; epsilon is then the bound that all shall
  /// have.
  Index max_cells = 1000;
  /// Samples for statistical lower and upper bounds beside the certificate; 0: none. One is too few.
  Index statistics = 0;
  /// Probability with which the statistical upper bound may fail, asymptotically; in (0,1). (C.4)
  double failure_probability = 1e-6;
  /// A bound certified by simulation beside the formal one (F.8), (F.11).
  bool simulate = false;
  /// Most draws of the simulation at each input; fewer where they suffice, all of them for one output.
  Index draws = 100000;
  /// With simulate: a mixture and a bound for each output by itself too (F.14).
  bool marginals = false;
  /// Probability with which the simulated bound may fail at an input, over the program's own draws; in (0,1).
  double simulation_failure = 1e-9;
  /// Seed of k-means++, of the statistics and of the simulation.
  std::uint64_t seed = 0;
  /// Threads over inputs; 0: one per processor. Results do not depend on it.
  int threads = 0;
  /// Inputs that the moment method takes through a layer together; 0: as many as suit the cache. Results do
  /// not depend on it.
  Index block = 0;
  /// Refuse work that would need more memory than this.
  double max_memory_in_gib = 8.0;

  /// Throws InvalidArgument naming field, value and violated constraint, or the method that has no use
  /// for a field that was changed.
  void validate() const;
};

std::string_view to_string(Predictive predictive);
std::string_view to_string(Method method);
std::string_view to_string(TheoremSet theorems);
std::string_view to_string(CertificateMode mode);
std::string_view to_string(GridPlacement grid);
std::string_view to_string(InputNorm norm);

/// The table of Options.
const OptionTable<Options>& option_table();

}  // namespace mixcert
