// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which methods apply to a network, and the smallest of their bounds.
#include "certify/certifier.h"

#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "certify/method_choice.h"
#include "certify/proven_lower.h"
#include "certify/returned_mixture.h"
#include "core/overloaded.h"
#include "methods/joint/joint_method.h"
#include "methods/moment/moment_method.h"
#include "methods/signature/signature_method.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixture/stretched_mixture.h"
#include "network/linearised_network.h"
#include "theorems/theorem_table.h"

namespace mixcert {

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
    prepare_coupled();
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
  require(
      !options.simulate || !network.has_masks(),
      "option --simulate: behind dropout expected a network with convolutions, pooling or residual blocks, "
      "and method auto or coupled; the bound of certify without it is formal, and holds always");
  require(!options.simulate || services.simulation != nullptr,
          "option --simulate: needs Services::simulation, which mixcert::simulated provides");
  prepared_->sensitivity = kept_sensitivity(network);
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
    prepared_->error_norms = kept_error_norms(network, options, services.cancel);
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

void Certifier::prepare_coupled() {
  const Network& network = prepared_->network;
  const Options& options = prepared_->options;
  const Services& services = prepared_->services;
  require(network.graph() != nullptr,
          "method coupled: expected a network with random convolutions, pooling or residual blocks and "
          "independent Gaussian weights; for dense layers without dropout method moment with simulate "
          "does the same");
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
  // The computed law (U.20) is the network's, whichever mixture stands for it.
  other.result.distribution = best.result.distribution;
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
  const Stopwatch watch;
  give_lower_bounds(inputs, made.result);
  made.result.seconds += watch.seconds();
  return made;
}

void Certifier::give_lower_bounds(ConstMatrixRef inputs, Result& result) const {
  if (!has_lower_bounds_) return;
  const ProvenLower lower =
      proven_lower(prepared_->network, *prepared_->sensitivity, inputs.col(0), result.mixture);
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
