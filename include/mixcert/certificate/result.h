// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What certification returns: mixtures with bounds, and where the error comes from.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

// A certified bound is its own type, never a bare double: it knows which distance it bounds, whether it
// exists, and how much of it is slack for rounding.

enum class Distance { W1, W2 };

struct Bound {
  Distance distance = Distance::W2;
  /// No smaller than the true distance; NaN where no bound exists.
  double value = std::numeric_limits<double>::quiet_NaN();
  /// The formula's floating-point value, before slack for rounding was added.
  double nominal = std::numeric_limits<double>::quiet_NaN();

  static Bound none(Distance distance) { return {distance}; }
  [[nodiscard]] bool exists() const { return value == value; }
};

// The law of one output itself, where it can be computed: probabilities are then known far better than a
// distance to a mixture would tell.

/// The distribution function of one output as a piecewise cubic H, docs/theory/answers.md (U.20). Law C is
/// computed: on the whole range of the nodes H(y - offset) - error <= P(C <= y) <= H(y + offset) + error. The
/// output's own law is within W2 distance `moved` of C.
struct OutputDistribution {
  double first = 0.0;  ///< nodes are first + i cell
  double cell = 0.0;
  Vector values;   ///< P(y <= node), about
  Vector density;  ///< at the nodes, about
  double error = 0.0;
  double moved = 0.0;
  double offset = 0.0;  ///< zero where C is smooth

  [[nodiscard]] double last() const { return first + cell * static_cast<double>(values.size() - 1); }
  /// The cubic, and its slope; beyond the nodes what it is at their end, and zero.
  [[nodiscard]] double cdf(double y) const;
  [[nodiscard]] double slope(double y) const;
};

// What certification returns: the mixture, its bounds, and where the error comes from.

/// `metric` of the rows that bounds of graphs consist of (O.15).
inline constexpr std::string_view kFormsMetric = "forms";

/// One row of the certificate: what hidden layer `layer` adds to the bound, carried to
/// the output. Terms are NaN where no bound exists.
struct LayerReport {
  Index layer = 0;           ///< 1..K
  double compression = 0.0;  ///< from replacing the layer's mixture by fewer components
  double local = 0.0;        ///< from the signature of the compressed mixture, and rounding
  double gain = 0.0;         ///< largest sqrt(G_ii) of the metric used for the local term
  Index components = 0;      ///< after compression
  Index points = 0;          ///< signature points after merging
  std::string metric;        ///< name of the chain of metrics of the local term
  std::string
      theorem;  ///< number, in docs/theory, of what bounds the local term; empty where no bound exists
};

enum class Termination {
  Completed,       ///< sizes were given
  EpsilonReached,  ///< the bound is at most epsilon
  BudgetSpent,     ///< max_components, or max_cells, did not suffice for epsilon
};
std::string_view to_string(Termination termination);

/// Estimates of W2(network, mixture) from samples, one from below and one from above: not certified (C.2),
/// (C.3).
struct TwoSidedStatistics {
  Index samples = 0;
  double w2_lower_statistical = 0.0;
  double lower_confidence = 0.0;
  /// NaN where the mixture is neither the moment method's nor of method coupled.
  double w2_upper_statistical = std::numeric_limits<double>::quiet_NaN();
  /// Root of the mean cost of the simulated coupling, without margin; NaN like w2_upper_statistical.
  double coupled_cost = std::numeric_limits<double>::quiet_NaN();
  double failure_probability = 0.0;  ///< of w2_upper_statistical
  std::string assumption;            ///< under which both hold
  /// What Stein's method makes of W2 (F.15), (F.16), where a bound certified by simulation stands beside it;
  /// NaN elsewhere. An estimate: rare events that no draw met are not in it.
  double w2_stein = std::numeric_limits<double>::quiet_NaN();
  double stein_error = std::numeric_limits<double>::quiet_NaN();  ///< standard error of the draws
};

/// The law of one output by itself: a mixture on the line, and what certifies it.
struct SimulatedMarginal {
  GaussianMixture mixture;
  double w2 = 0.0;  ///< no less than W2 to the law of this output, certified by simulation
  /// The output's mean lies between these, certified with it.
  double mean_lower = 0.0, mean_upper = 0.0;
};

/// A bound of W2(network, mixture) certified by simulation: it holds but for a probability over the program's
/// own draws. Neither the formal bound nor a statistic.
struct SimulatedBound {
  /// NaN where there is none.
  double w2 = std::numeric_limits<double>::quiet_NaN();
  double failure_probability = 0.0;
  Index draws = 0;  ///< that were used
  /// Root of the mean cost of the coupling over the draws: an estimate; NaN where the coupling is not what
  /// bounds w2.
  double coupled_cost = std::numeric_limits<double>::quiet_NaN();
  std::string theorem;  ///< its number in docs/theory; empty where there is no bound
  /// Of each output where options.marginals; all bounds together fail with the probability above.
  std::vector<SimulatedMarginal> marginals;
  std::string gap;  ///< why there is no bound

  [[nodiscard]] bool exists() const { return w2 == w2; }
};

/// Inputs x with lower <= x <= upper, feature by feature; one whose ends agree is fixed.
struct InputBox {
  Vector lower, upper;
};

/// mixcert/certify/result_text.h prints it.
struct Result {
  Index input = 0;  ///< index of the input; 0 when joint
  Method method = Method::Signature;
  CertificateMode certificate = CertificateMode::Best;  ///< the mode that gave the bound
  /// Over outputs; joint: inputs x outputs stacked input-major.
  GaussianMixture mixture;
  Bound w2;
  Bound w1;
  double relative_w2 = 0.0;  ///< w2 / sqrt(E_q |z|^2); NaN where none
  /// In which both bounds hold, of a result of certify_box(); nothing elsewhere.
  std::optional<InputBox> cell;
  /// Part of both bounds where they hold in a ball of inputs (options.radius) or in `cell`: W2 between the
  /// network's laws at the input and anywhere there is at most this (M.9). NaN where they hold at the input
  /// alone.
  double input_change = std::numeric_limits<double>::quiet_NaN();
  /// Proven from below, no statistics (D.9): W2 between the network's law and any Gaussian is at least this.
  /// Known where dropout behind one hidden layer is all that is random; NaN elsewhere. A mixture of several
  /// components may be closer.
  double w2_lower = std::numeric_limits<double>::quiet_NaN();
  /// The same of W2(network, mixture): no less than w2_lower where the mixture is one Gaussian. Known where
  /// dropout masks are all that is random.
  double w2_lower_mixture = std::numeric_limits<double>::quiet_NaN();
  std::vector<LayerReport> layers;
  std::optional<TwoSidedStatistics> statistics;  ///< when options.statistics > 0
  std::optional<SimulatedBound> simulated;       ///< when options.simulate
  /// Of a network with one output, where a theorem computes it; null otherwise.
  std::shared_ptr<const OutputDistribution> distribution;
  Termination termination = Termination::Completed;
  std::string reason;  ///< one sentence
  double seconds = 0.0;
  /// What certify() was asked for, one copy for all results of a call: `method` and `certificate` above say
  /// what "auto" and "best" came to. Null where it is not known, as of a result that was read back.
  std::shared_ptr<const Options> options;
};

}  // namespace mixcert
