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
namespace {

/// Of more features (M.9)'s norms take a second to prepare, and are closer than (M.12) only in balls so large
/// that little is certified (by a fifth at most, MNIST): they serve where (M.12) does not hold.
constexpr Index kMostFeaturesOfBoth = 100;

/// Null where (M.12) does not cover the network or the set; (M.9) serves there.
std::shared_ptr<const LocalChange> local_change_of(const Network& network, const Options& options,
                                                   const CancelFlag* cancel) {
  const bool is_box = !options.radius || options.norm == InputNorm::Largest;
  // The box around a Euclidean ball is the wider, the more features there are.
  const bool is_near = is_box || network.layer(0).inputs() <= kMostFeaturesOfBoth;
  if (!is_near || !LocalChange::covers(network)) return nullptr;
  return kept_local_change(network, cancel);
}

}  // namespace

InputChange::InputChange(const Ensemble& ensemble, const Options& options, const CancelFlag* cancel)
    : ensemble_(ensemble) {
  for (Index i = 0; i < ensemble.size(); ++i) {
    const Network& member = ensemble.member(i);
    require(
        !stays_graph(member, options),
        "the network's layers keep their structure (written out as matrices they would be too large), and "
        "bounds for a set of inputs are not known for such networks; certify inputs by themselves");
    MemoryGuard(options.max_memory_in_gib).check_input_norms(member.layer(0));
    local_.push_back(local_change_of(member, options, cancel));
    const bool is_enough = local_.back() != nullptr && member.layer(0).inputs() > kMostFeaturesOfBoth;
    norms_.push_back(is_enough ? nullptr : kept_input_norms(member, cancel));
  }
}

UpperBound InputChange::in_box(ConstVectorRef input, ConstVectorRef half_widths) const {
  return member_root_mean_square(ensemble_.weights(),
                                 [&](Index i) { return member_in_box(i, input, half_widths); });
}

UpperBound InputChange::in_box_at_a_glance(ConstVectorRef input, ConstVectorRef half_widths) const {
  return member_root_mean_square(ensemble_.weights(), [&](Index i) {
    const auto& norms = norms_[static_cast<std::size_t>(i)];
    return norms == nullptr ? member_in_box(i, input, half_widths)
                            : norms->change_in_box(ensemble_.member(i).reach(input, half_widths));
  });
}

UpperBound InputChange::member_in_box(Index i, ConstVectorRef input, ConstVectorRef half_widths) const {
  const Network& network = ensemble_.member(i);
  const auto& norms = norms_[static_cast<std::size_t>(i)];
  const auto& local = local_[static_cast<std::size_t>(i)];
  const Vector reach = network.reach(input, half_widths);
  if (local == nullptr) return norms->change_in_box(reach);
  const Vector features = network.features(input).values;
  const Vector seen = network.activation(0).apply(features);
  const double rounding = network.activation(0).value_error(features.lpNorm<Eigen::Infinity>());
  const UpperBound here = local->in_box(seen, (enlarged(reach).array() + rounding).matrix());
  if (norms == nullptr) return here;
  const UpperBound anywhere = norms->change_in_box(reach);
  return here.upper < anywhere.upper ? here : anywhere;
}

UpperBound InputChange::in_euclidean_ball(ConstVectorRef input, double radius) const {
  return member_root_mean_square(ensemble_.weights(), [&](Index i) {
    const Network& network = ensemble_.member(i);
    const auto box = [&] {
      return member_in_box(i, input, Vector::Constant(network.inputs(), next_up(radius)));
    };
    // What a Euclidean ball becomes behind a front is not known; the box around it is.
    if (network.front() != nullptr) return box();
    const UpperBound seen = network.activation(0).lipschitz() * UpperBound::exact(radius);
    const UpperBound ball = norms_[static_cast<std::size_t>(i)]->change_in_ball(seen.upper);
    if (local_[static_cast<std::size_t>(i)] == nullptr) return ball;
    const UpperBound around = box();
    return around.upper < ball.upper ? around : ball;
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

BallWidening::BallWidening(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                           const Services& services)
    : inputs_(inputs), options_(options) {
  require(options.max_cells == Options().max_cells, "option --max-cells: expected --box, which it is about");
  if (options.radius) change_ = std::make_unique<const InputChange>(ensemble, options, services.cancel);
}

void BallWidening::apply(Result& result) const {
  if (change_ == nullptr) return;
  const auto input = inputs_.col(result.input);
  const double radius = *options_.radius;
  // One step more than the radius: differences of inputs are rounded where somebody compares them with it.
  widen(options_.norm == InputNorm::Largest
            ? change_->in_box(input, Vector::Constant(input.size(), next_up(radius)))
            : change_->in_euclidean_ball(input, radius),
        result);
}

ResultSink BallWidening::in_front_of(const ResultSink& sink) const {
  return [this, &sink](Result&& result) {
    apply(result);
    sink(std::move(result));
  };
}

}  // namespace mixcert
