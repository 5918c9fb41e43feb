// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The one interface of the methods: each makes a mixture and a trace of how it was made, evaluates the
// certificate from the trace, and takes its bound apart.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <variant>

#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "methods/graph/graph_term.h"
#include "methods/joint/joint_trace.h"
#include "methods/moment/moment_trace.h"
#include "methods/prepared.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/certificate/contribution.h"

namespace mixcert {

/// What kept a search for epsilon from succeeding.
enum class Shortage {
  None,    ///< nothing, or rounding
  Budget,  ///< all components were used
  Method,  ///< more components would not help
};

/// A result without statistics, and what it was computed from.
struct Certified {
  Result result;
  Certificate certificate;
  std::variant<Sealed<SignatureTrace>, Sealed<MomentTrace>, Sealed<JointTrace>> trace;
  std::optional<GraphTrace>
      graph;               ///< where the bound is that of a graph (O.15); `trace` may be the mixture's
  bool is_fitted = false;  ///< is the mixture another than the trace's output (Y.40)?
  Shortage shortage = Shortage::None;
};

class ApproximationMethod {
 public:
  virtual ~ApproximationMethod() = default;

  /// Certifies one input, or the columns of `inputs` as one joint law.
  [[nodiscard]] virtual Certified certify(ConstMatrixRef inputs) const = 0;
  /// The columns of `inputs`, each for itself: the results of certify(), bit for bit, in their order.
  virtual void certify_each(ConstMatrixRef inputs, const std::function<void(Index, Certified&&)>& sink) const;
  /// Where the bound of what certify() returned comes from (X.1).
  [[nodiscard]] virtual BoundContributions explain(const Certified& made) const = 0;
  /// No more than the bound that certify() would give, seen from another method's result: a method is not run
  /// where it cannot win.
  [[nodiscard]] virtual double least_bound(const Certified& other) const;
};

/// Throws InvalidArgument unless there are inputs, all finite and of the network's size.
void check_inputs(const Network& network, ConstMatrixRef inputs);

/// Coordinates neuron * D + input, listed input-major.
GaussianMixture input_major(const GaussianMixture& mixture, Index outputs, Index input_count);

/// w2 / sqrt(E |z|^2); NaN where that is zero.
double relative_to_mixture(double w2, const GaussianMixture& mixture);

/// Writes bound, relative bound and, with epsilon, how the search ended.
void attach_certificate(const Certificate& certificate, const Options& options, Shortage shortage,
                        Result& result);

/// Seconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace mixcert
