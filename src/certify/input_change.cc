// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "certify/input_change.h"

#include <limits>
#include <utility>

#include "certify/certifier.h"
#include "certify/member_average.h"
#include "certify/method_choice.h"
#include "methods/approximation_method.h"
#include "methods/memory_guard.h"
#include "methods/prepared.h"
#include "mixcert/core/error.h"

namespace mixcert {

InputChange::InputChange(const Ensemble& ensemble, const Options& options, const CancelFlag* cancel)
    : ensemble_(ensemble) {
  for (Index i = 0; i < ensemble.size(); ++i) {
    const Network& member = ensemble.member(i);
    require(
        !stays_graph(member, options),
        "the network's layers keep their structure (written out as matrices they would be too large), and "
        "bounds for a set of inputs are not known for such networks; certify inputs by themselves");
    MemoryGuard(options.max_memory_in_gib).check_input_norms(member.layer(0));
    norms_.push_back(kept_input_norms(member, cancel));
  }
}

UpperBound InputChange::in_box(ConstVectorRef input, ConstVectorRef half_widths) const {
  return member_root_mean_square(ensemble_.weights(), [&](Index i) {
    const Vector seen = ensemble_.member(i).reach(input, half_widths);
    return norms_[static_cast<std::size_t>(i)]->change_in_box(seen);
  });
}

UpperBound InputChange::in_euclidean_ball(ConstVectorRef input, double radius) const {
  return member_root_mean_square(ensemble_.weights(), [&](Index i) {
    const Network& network = ensemble_.member(i);
    const InputNorms& norms = *norms_[static_cast<std::size_t>(i)];
    // What a Euclidean ball becomes behind a front is not known; the box around it is.
    if (network.front() != nullptr)
      return norms.change_in_box(network.reach(input, Vector::Constant(network.inputs(), radius)));
    const UpperBound seen = network.activation(0).lipschitz() * UpperBound::exact(radius);
    return norms.change_in_ball(seen.upper);
  });
}

void widen(const UpperBound& change, Result& result) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  result.distribution = nullptr;
  result.w2_lower = kUnknown;
  result.w2_lower_mixture = kUnknown;
  if (!result.w2.exists()) return;
  result.input_change = change.upper;
  for (Bound* bound : {&result.w2, &result.w1}) {
    bound->value = next_up(bound->value + change.upper);
    bound->nominal += change.nominal;
  }
  result.relative_w2 = relative_to_mixture(result.w2.value, result.mixture);
  require_finite(result);
}

BallSink::BallSink(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                   const Services& services, const ResultSink& sink)
    : inputs_(inputs), options_(options), sink_(sink) {
  require(options.max_cells == Options().max_cells, "option --max-cells: expected --box, which it is about");
  if (options.radius) change_ = std::make_shared<const InputChange>(ensemble, options, services.cancel);
}

void BallSink::operator()(Result&& result) const {
  if (change_) {
    const auto input = inputs_.col(result.input);
    const double radius = *options_.radius;
    // One step more than the radius: differences of inputs are rounded where somebody compares them with it.
    widen(options_.norm == InputNorm::Largest
              ? change_->in_box(input, Vector::Constant(input.size(), next_up(radius)))
              : change_->in_euclidean_ball(input, radius),
          result);
  }
  sink_(std::move(result));
}

}  // namespace mixcert
