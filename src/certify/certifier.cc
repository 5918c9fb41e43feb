// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which methods apply to a network, and the smallest of their bounds.
#include "certify/certifier.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "certify/proven_lower.h"
#include "core/overloaded.h"
#include "methods/joint/joint_method.h"
#include "methods/moment/moment_method.h"
#include "methods/moment/second_order.h"
#include "methods/signature/signature_method.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixture/stretched_mixture.h"
#include "network/graph/layer_graph.h"
#include "network/linearised_network.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

/// The moment method's mixture has the network's mean and covariance, which people read before they read a
/// bound: it stays unless another bound is this part of its own or less.
constexpr double kWorthOwnMoments = 0.5;

/// Means and deviations that are this near to the network's, in deviations, stay as they are.
constexpr double kGoodMoments = 0.01;

/// The mixture is replaced, and the bound gets what that costs (B.4).
void replace_mixture(GaussianMixture mixture, const UpperBound& moved, const Options& options,
                     Certified& made) {
  made.result.mixture = std::move(mixture);
  made.certificate.moved = made.certificate.moved + moved;
  made.certificate.add_up();
  attach_certificate(made.certificate, options, made.shortage, made.result);
}

/// Would a mixture that is so far from its own have the wanted bound no more?
bool would_miss(const Options& options, const Certified& made, const UpperBound& moved) {
  const double bound = made.result.w2.value;
  return options.epsilon && bound <= *options.epsilon && !(enlarged(bound + moved.upper) <= *options.epsilon);
}

/// Has it a layer whose outputs are correlated given its inputs, or masks that correlate the next layer's?
bool has_correlated_neurons(const Network& network) {
  for (Index k = 1; k < network.hidden_count(); ++k) {
    if (!network.mask(k).is_none()) return true;
  }
  for (Index k = 0; k < network.layer_count(); ++k) {
    if (!network.layer(k).has_independent_outputs()) return true;
  }
  return false;
}

/// Weights and masks that several outputs share correlate neurons so much that the surrogate's deviations are
/// off by several per cent: the Gaussian gets those of second order.
void give_second_order(const Prepared& prepared, Certified& made) {
  const auto* trace = std::get_if<Sealed<MomentTrace>>(&made.trace);
  if (trace == nullptr || prepared.network.hidden_count() == 0 || !has_correlated_neurons(prepared.network))
    return;
  const MomentLayerTrace& first = (*trace)->layers.front();
  if (first.pieces.size() != 1 || made.result.mixture.size() != 1 || !made.result.w2.exists()) return;
  const OutputMoments output = second_order_moments(prepared.network, first.pieces.component(0));
  const Vector deviations = positive_part(output.variances).cwiseSqrt();
  if (!output.mean.allFinite() || !deviations.allFinite()) return;
  const Vector own = made.result.mixture.standard_deviation();
  const Vector off = (deviations - own).cwiseAbs() + (output.mean - made.result.mixture.mean()).cwiseAbs();
  if ((off.array() <= kGoodMoments * own.array()).all()) return;
  const StretchedMixture stretched = with_moments(output.mean, deviations, made.result.mixture);
  if (would_miss(prepared.options, made, stretched.moved)) return;
  replace_mixture(stretched.mixture, stretched.moved, prepared.options, made);
  made.is_fitted = true;
}

/// The paper's and the scalar constants are the signature method's.
bool uses_metrics(const Options& options) {
  return options.certificate == CertificateMode::Best || options.certificate == CertificateMode::Metric;
}

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

/// Entries of matrices with which a formal bound takes no more than seconds.
constexpr double kSmallMatrices = 0x1.0p20;

}  // namespace

bool is_coupled(const Network& network, const Options& options) {
  if (options.method == Method::Coupled) return true;
  const LayerGraph* graph = network.graph();
  if (options.method != Method::Auto || !options.simulate || graph == nullptr) return false;
  // What cannot be written as a canonical network has no other method.
  if (!graph->has_canonical_form()) return true;
  // Behind one hidden layer single outputs have better bounds (F.17), behind masks formal ones alone, which
  // large networks have none of.
  const bool is_line = graph->nonlinear_count() == 1 && (graph->outputs() == 1 || options.marginals);
  if (graph->has_masks()) return graph->written_out() > kSmallMatrices;
  return graph->has_shared_noise() && !is_line;
}

namespace {

/// Can the network be certified as a graph (O.15)?
bool allows_graph(const Network& network, const Options& options) {
  const bool is_moment = options.method == Method::Moment || options.method == Method::Auto;
  if (network.graph() == nullptr || !is_moment || options.joint || options.simulate || !uses_metrics(options))
    return false;
  return options.predictive == Predictive::Network && graph_method_refusal(network).empty();
}

/// Forms are two to eight times closer than the canonical network's metrics wherever weights are shared;
/// behind one activation theorems about the law of the output are closer still.
bool may_be_closer_as_graph(const Network& network, const Options& options) {
  if (!allows_graph(network, options) || options.epsilon || options.pieces > 1) return false;
  return network.graph()->has_shared_noise() && network.graph()->nonlinear_count() > 1;
}

}  // namespace

bool is_formal_graph(const Network& network, const Options& options) {
  if (!allows_graph(network, options)) return false;
  const LayerGraph& graph = *network.graph();
  return graph.written_out() > kSmallMatrices || !graph.has_canonical_form();
}

bool stays_graph(const Network& network, const Options& options) {
  return is_coupled(network, options) || is_formal_graph(network, options);
}

void require_finite(const Result& result) {
  if (result.method == Method::Cross) return;  // has no bound
  bool finite =
      result.method == Method::Coupled || (std::isfinite(result.w2.value) && std::isfinite(result.w1.value));
  for (const Gaussian& component : result.mixture.components()) {
    finite = finite && component.mean.allFinite() && component.covariance.variances().allFinite();
  }
  if (finite) return;
  throw Error("input " + std::to_string(result.input) +
              ": its bound or mixture is not finite: numbers of the network or of the input are too large "
              "for double precision");
}

Certifier::Certifier(const Network& network, const Options& options, const Services& services)
    : prepared_(new Prepared{network, options, services, {}, {}}),
      options_(std::make_shared<const Options>(options)) {
  if (options.predictive == Predictive::Glm) return;  // has metrics of its own at each input
  if (is_coupled(network, options)) {
    require(network.graph() != nullptr,
            "method coupled: expected a network with random convolutions, pooling or residual blocks and "
            "independent Gaussian weights; for dense layers method moment with simulate does the same");
    require(services.coupled != nullptr,
            "method coupled: needs Services::coupled, which mixcert::simulated provides");
    Options own = options;
    own.method = Method::Coupled;
    own.validate();  // auto has uses for more of them
    coupled_ = services.coupled(network, options);
    try {
      graph_gap_ = graph_method_refusal(network);
      if (graph_gap_.empty()) graph_ = std::make_unique<GraphMethod>(*prepared_);
    } catch (const Error& error) {
      graph_gap_ = error.what();
    }
    return;
  }
  if (is_formal_graph(network, options)) {
    graph_ = std::make_unique<GraphMethod>(*prepared_);
    return;
  }
  require(
      network.common_factor_count() == 0,
      "layers of the network have a factor in common (SWAG's low-rank part, a posterior of all layers "
      "together), and certificates need independent layers; keep each layer's own law (project per-layer), "
      "or ask for predictive glm; sample draws from it as it is");
  require(!options.simulate || services.simulation != nullptr,
          "option --simulate: needs Services::simulation, which mixcert::simulated provides");
  prepared_->sensitivity = analyse_sensitivity(network);
  has_lower_bounds_ = !options.joint && is_made_of_masks(network);
  require(!options.joint || !network.has_own_noise(),
          "option --joint: the network has noise layers, which every input draws for itself; certify inputs "
          "one by one");
  const std::string gap = options.joint ? JointMethod::refusal(network) : "";
  if (options.method == Method::Moment) {
    require(gap.empty(),
            "option --joint: method moment needs independent Gaussian weights after the first layer and no "
            "dropout; " +
                gap);
  }
  const bool surrogates = options.method == Method::Moment ||
                          (options.method == Method::Auto && uses_metrics(options) && gap.empty());
  if (surrogates) {
    prepared_->error_norms = make_error_norms(network, options.sensitivity);
    moment_ = std::make_unique<MomentMethod>(
        *prepared_, options.theorems == TheoremSet::All ? theorem_table() : coupling_theorems());
    if (options.joint) joint_ = std::make_unique<JointMethod>(*prepared_);
  }
  if (may_be_closer_as_graph(network, options)) {
    try {
      graph_ = std::make_unique<GraphMethod>(*prepared_);
    } catch (const InvalidArgument&) {
      graph_ = nullptr;  // numbers are too large for forms: the moment method's bound is what there is
    }
  }
  if (options.method != Method::Moment) signature_ = std::make_unique<SignatureMethod>(*prepared_);
}

Certified Certifier::smallest(ConstMatrixRef inputs, Certified best) const {
  if (prepared_->options.method == Method::Auto) give_second_order(*prepared_, best);
  if (graph_ != nullptr) graph_->tighten(inputs.col(0), best);
  if (signature_ == nullptr || best.result.termination == Termination::EpsilonReached) return best;
  if (kWorthOwnMoments * best.result.w2.value <= signature_->least_bound(best)) return best;
  Certified other = signature_->certify(inputs);
  const double seconds = best.result.seconds + other.result.seconds;
  if (prepared_->network.has_masks() && other.result.w2.exists()) {
    const GaussianMixture& own = best.result.mixture;
    const StretchedMixture stretched =
        with_moments(own.mean(), own.standard_deviation(), other.result.mixture);
    replace_mixture(stretched.mixture, stretched.moved, prepared_->options, other);
  }
  const bool is_wanted = other.result.termination == Termination::EpsilonReached;
  if (is_wanted || !(kWorthOwnMoments * best.result.w2.value <= other.result.w2.value))
    best = std::move(other);
  best.result.seconds = seconds;
  return best;
}

Certified Certifier::finished(ConstMatrixRef inputs, Certified made, Index index) const {
  made.result.input = index;
  made.result.options = options_;
  require_finite(made.result);
  give_lower_bounds(inputs, made.result);
  return made;
}

void Certifier::give_lower_bounds(ConstMatrixRef inputs, Result& result) const {
  if (!has_lower_bounds_) return;
  const ProvenLower lower =
      proven_lower(prepared_->network, prepared_->sensitivity, inputs.col(0), result.mixture);
  result.w2_lower = lower.gaussian;
  result.w2_lower_mixture = lower.mixture;
}

Certified Certifier::certify_linearised(ConstMatrixRef inputs) const {
  const Stopwatch watch;
  const Network linearised = linearised_network(prepared_->network, inputs.col(0));
  Options own = prepared_->options;
  own.predictive = Predictive::Network;
  own.method = Method::Moment;
  own.theorems = TheoremSet::Coupling;  // nothing is left for others to bound
  Certified made = Certifier(linearised, own, prepared_->services).certify(inputs, 0);
  made.result.seconds = watch.seconds();
  return made;
}

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

Certified Certifier::certify(ConstMatrixRef inputs, Index index) const {
  require(coupled_ == nullptr, "method coupled is for single networks, and has nothing to explain");
  if (graph_ && !moment_) return finished(inputs, graph_->certify(inputs.col(0)), index);
  if (prepared_->options.predictive == Predictive::Glm)
    return finished(inputs, certify_linearised(inputs), index);
  const bool is_joint = prepared_->options.joint && inputs.cols() > 1;
  // A joint law may be too large for the moment method and not for signatures.
  const bool fits =
      joint_ == nullptr || signature_ == nullptr || JointMethod::fits(*prepared_, inputs.cols());
  const ApproximationMethod* first = is_joint ? joint_.get() : moment_.get();
  if (first == nullptr || !fits) return finished(inputs, signature_->certify(inputs), index);
  return finished(inputs, smallest(inputs, first->certify(inputs)), index);
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

Result Certifier::certify_fully(ConstMatrixRef inputs, Index index) const {
  if (coupled_) return certify_coupled(inputs.col(0), index);
  return with_statistics(inputs, certify(inputs, index));
}

void Certifier::certify_block(ConstMatrixRef inputs, Index first, Index count,
                              const ResultSink& deliver) const {
  if (moment_ == nullptr) {
    for (Index i = first; i < first + count; ++i) deliver(certify_fully(inputs.col(i), i));
    return;
  }
  moment_->certify_each(inputs.middleCols(first, count), [&](Index i, Certified&& made) {
    const auto input = inputs.col(first + i);
    deliver(with_statistics(input, finished(input, smallest(input, std::move(made)), first + i)));
  });
}

BoundContributions Certifier::explain(const Certified& made) const {
  if (made.graph) return GraphMethod::explain(made);
  return std::visit(Overloaded{[&](const Sealed<JointTrace>&) { return joint_->explain(made); },
                               [&](const Sealed<MomentTrace>&) { return moment_->explain(made); },
                               [&](const Sealed<SignatureTrace>&) { return signature_->explain(made); }},
                    made.trace);
}

}  // namespace mixcert
