// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a Certifier adds by draws: networks that are certified by simulation alone, bounds by simulation
// beside formal ones, and statistics.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "certify/certifier.h"
#include "certify/returned_mixture.h"
#include "core/overloaded.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

/// Gives a simulated result a formal bound, too. Why it has none, in a sentence: numbers may be too large for
/// forms, which are squares, and not for draws.
std::string formal_gap(const GraphMethod& method, ConstVectorRef input, const Options& options,
                       Result& result) {
  try {
    give_formal_bound(method.certify(input), options, result);
  } catch (const Error& error) {
    return error.what();
  }
  const bool finite = std::isfinite(result.w2.value) && std::isfinite(result.w1.value);
  return finite ? "" : "numbers of the network or of the input are too large for it";
}

}  // namespace

Result Certifier::certify_coupled(ConstVectorRef input, Index index) const {
  const Stopwatch watch;
  const Options& options = prepared_->options;
  CoupledLaw law = coupled_(input, index);
  Certified made;
  made.result.method = Method::Coupled;
  made.result.mixture = std::move(law.mixture);
  const std::string gap = graph_ ? formal_gap(*graph_, input, options, made.result) : graph_gap_;
  if (!gap.empty()) {
    made.result.termination = Termination::Completed;
    made.result.w2 = Bound::none(Distance::W2);
    made.result.w1 = Bound::none(Distance::W1);
    made.result.relative_w2 = std::numeric_limits<double>::quiet_NaN();
    made.result.reason = "no formal bound: " + gap;
  }
  if (options.simulate) made.result.simulated = std::move(law.bound);
  if (law.costs.size() > 0 && prepared_->services.statistics) {
    const CouplingTrace costs{.costs = &law.costs, .beyond_cost = law.beyond_cost};
    Options own = options;
    own.statistics = law.costs.size();
    made.result.statistics =
        prepared_->services.statistics(prepared_->network, input, index, costs, made.result.mixture, own);
    if (law.stein) {
      made.result.statistics->w2_stein = law.stein->w2;
      made.result.statistics->stein_error = law.stein->error;
    }
  }
  made.result.seconds = watch.seconds();
  return finished(input, std::move(made), index).result;
}

CouplingTrace Certifier::coupling(const Certified& made) const {
  const Network& network = prepared_->network;
  // A trace is coupled with its own output; a graph alone has none, and is not to be written out.
  if (std::holds_alternative<Sealed<SignatureTrace>>(made.trace) || made.is_fitted ||
      !network.correlated_layer().empty() || !network.is_gaussian())
    return {};
  return std::visit(Overloaded{[](const Sealed<JointTrace>& joint) -> CouplingTrace {
                                 return {nullptr, &*joint};
                               },
                               [](const Sealed<MomentTrace>& moment) -> CouplingTrace {
                                 return {&*moment, nullptr};
                               },
                               [](const Sealed<SignatureTrace>&) -> CouplingTrace { return {}; }},
                    made.trace);
}

SimulationRequest Certifier::simulation_request(const Certified& made) const {
  const auto* trace = std::get_if<Sealed<MomentTrace>>(&made.trace);
  return {.network = prepared_->network,
          .trace = trace != nullptr ? &**trace : nullptr,
          .mixture = made.result.mixture,
          .is_own = !made.is_fitted,
          .first = made.certificate.first.upper,
          .formal = made.result.w2.value,
          .input = made.result.input,
          .options = prepared_->options};
}

std::optional<SimulationForecast> Certifier::forecast(const Certified& made) const {
  if (moment_ == nullptr || !prepared_->services.forecast) return std::nullopt;
  return prepared_->services.forecast(simulation_request(made));
}

void Certifier::simulate(ConstMatrixRef inputs, Certified& made) const {
  const Options& options = prepared_->options;
  const Stopwatch watch;
  Simulation simulation = prepared_->services.simulation(simulation_request(made));
  // A mixture chosen by draws costs the formal bound their distance: it must be far closer than that says.
  if (auto& closer = simulation.closer; closer && closer->w2 <= kWorthOwnMoments * made.result.w2.value) {
    const UpperBound moved = UpperBound::exact(closer->moved);
    if (!would_miss(options, made, moved)) {
      replace_mixture(std::move(closer->mixture), moved, options, made);
      made.is_fitted = true;
      simulation.bound.w2 = closer->w2;
      give_lower_bounds(inputs, made.result);
    }
  }
  made.result.simulated = std::move(simulation.bound);
  made.result.seconds += watch.seconds();
}

Result Certifier::with_statistics(ConstMatrixRef inputs, Certified made) const {
  const Options& options = prepared_->options;
  if (options.simulate) simulate(inputs, made);
  if (options.statistics == 0) return std::move(made.result);
  made.result.statistics = prepared_->services.statistics(prepared_->network, inputs, made.result.input,
                                                          coupling(made), made.result.mixture, options);
  if (const auto& stein = prepared_->services.stein;
      stein && made.result.simulated && made.result.simulated->exists()) {
    if (const auto estimate = stein(simulation_request(made))) {
      made.result.statistics->w2_stein = estimate->w2;
      made.result.statistics->stein_error = estimate->error;
    }
  }
  return std::move(made.result);
}

}  // namespace mixcert
