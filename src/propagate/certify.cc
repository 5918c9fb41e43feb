// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of a network at inputs: propagate, evaluate, report.
#include "mixcert/propagate/certify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "certify/replaced_weights.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/propagate/moment_propagate.h"
#include "network/ordinary_scale.h"
#include "propagate/block_size.h"
#include "propagate/methods.h"
#include "propagate/ordered_delivery.h"
#include "propagate/signature_floor.h"

namespace mixcert {
namespace {

/// A joint law may be too large for the moment method and not for signatures.
bool fits_moments(const Prepared& prepared, ConstMatrixRef inputs) {
  return !prepared.signature || !prepared.options.joint || joint_moments_fit(prepared, inputs.cols());
}

bool is_joint(const Prepared& prepared, ConstMatrixRef inputs) {
  return prepared.options.joint && inputs.cols() > 1;
}

/// Without the trace, which nothing looks at again.
Result by_signatures(const Prepared& prepared, ConstMatrixRef inputs) {
  Sealed<Trace> trace;
  return certify_by_signatures(prepared, inputs, trace);
}

/// The smaller of the moment method's certified bound and that of signatures where they apply too. They are
/// not tried where their bound would be above `floor`, and that is no smaller.
Result smaller_bound(const Prepared& prepared, ConstMatrixRef inputs, Result best, double floor) {
  if (!prepared.signature || best.termination == Termination::EpsilonReached) return best;
  if (best.w2.value <= floor) return best;
  Result other = by_signatures(prepared, inputs);
  const double seconds = best.seconds + other.seconds;
  if (!(best.w2.value <= other.w2.value)) best = std::move(other);
  best.seconds = seconds;
  return best;
}

/// The smaller certified bound of the methods that apply.
Result certify_best(const Prepared& prepared, ConstMatrixRef inputs, Certified& made) {
  if (!prepared.moment || !fits_moments(prepared, inputs)) return by_signatures(prepared, inputs);
  if (made.is_joint) {
    return smaller_bound(prepared, inputs, certify_jointly_by_moments(prepared, inputs, made.joint_trace),
                         0.0);
  }
  Result best = certify_by_moments(prepared, inputs.col(0), made.trace);
  return smaller_bound(prepared, inputs, std::move(best), signature_floor(prepared, *made.trace));
}

bool has_simulated_coupling(const Prepared& prepared, const Result& result) {
  return result.method == Method::Moment && prepared.correlated.empty() && !prepared.replaced;
}

/// The result with the statistics that were asked for.
Result with_statistics(const Prepared& prepared, ConstMatrixRef inputs, Index index, Certified certified) {
  if (prepared.options.statistics == 0) return std::move(certified.result);
  certified.result.statistics = prepared.services.statistics(
      prepared.network, inputs, index, certified.coupling(), certified.result.mixture, prepared.options);
  return std::move(certified.result);
}

bool has_replaced_weights(const Network& network) {
  for (Index k = 0; k < network.layer_count(); ++k) {
    if (has_replaced_weights(network.layer(k))) return true;
  }
  return false;
}

/// Why the moment method does not cover several inputs jointly, in a sentence; empty when it does.
std::string joint_gap(const Prepared& prepared) {
  if (!prepared.correlated.empty()) return prepared.correlated;
  if (prepared.network.has_masks()) return "the network has dropout";
  if (prepared.replaced) return "the network has weights that are not Gaussian";
  return "";
}

}  // namespace

void check_inputs(const Network& network, ConstMatrixRef inputs) {
  require(inputs.cols() > 0, "inputs: expected at least one, got none");
  require(inputs.rows() == network.inputs(), "inputs: the network takes " + std::to_string(network.inputs()) +
                                                 " features, got " + std::to_string(inputs.rows()));
  // The message is put together only for a bad entry: there may be a million good ones.
  for (Index i = 0; i < inputs.cols(); ++i) {
    for (Index f = 0; f < inputs.rows(); ++f) {
      if (std::isfinite(inputs(f, i))) continue;
      throw InvalidArgument("inputs: input " + std::to_string(i) + ", feature " + std::to_string(f) +
                            ": expected a finite number, got " + format_number(inputs(f, i)));
    }
  }
}

Prepared prepare_network(const Network& network, const Options& options, const Services& services) {
  require(!options.joint || !network.has_own_noise(),
          "option --joint: the network has noise layers, which every input draws for itself; certify inputs "
          "one by one");
  Prepared prepared{network, options, services, analyse_sensitivity(network), {}, {}, false,
                    false,   false,   false};
  prepared.correlated = correlated_layer(network);
  prepared.replaced = has_replaced_weights(network);
  const std::string gap = options.joint ? joint_gap(prepared) : "";
  if (options.method == Method::Moment) {
    require(gap.empty(),
            "option --joint: method moment needs independent Gaussian weights after the first layer and no "
            "dropout; " +
                gap);
  }
  // The paper's and the scalar constants are the signature method's.
  const bool metric =
      options.certificate == CertificateMode::Best || options.certificate == CertificateMode::Metric;
  prepared.moment =
      options.method == Method::Moment || (options.method == Method::Auto && metric && gap.empty());
  prepared.signature = options.method != Method::Moment;
  prepared.sharpen = options.method == Method::Auto;
  if (prepared.moment) prepared.carriers = make_carriers(network, options.sensitivity);
  return prepared;
}

Certified certify_network(const Prepared& prepared, ConstMatrixRef inputs, Index index) {
  Certified certified;
  certified.is_joint = is_joint(prepared, inputs);
  certified.result = certify_best(prepared, inputs, certified);
  certified.result.input = index;
  require_finite(certified.result);
  certified.has_coupling = has_simulated_coupling(prepared, certified.result);
  return certified;
}

Result certify_one(const Prepared& prepared, ConstMatrixRef inputs, Index index) {
  return with_statistics(prepared, inputs, index, certify_network(prepared, inputs, index));
}

void certify_block(const Prepared& prepared, ConstMatrixRef inputs, Index first, Index count,
                   const ResultSink& deliver) {
  if (!prepared.moment) {
    for (Index i = first; i < first + count; ++i) deliver(certify_one(prepared, inputs.col(i), i));
    return;
  }
  certify_separately_by_moments(
      prepared, inputs.middleCols(first, count), [&](Index i, Result&& result, Sealed<MomentTrace>&& trace) {
        const auto input = inputs.col(first + i);
        Certified certified;
        certified.trace = std::move(trace);
        certified.result =
            smaller_bound(prepared, input, std::move(result), signature_floor(prepared, *certified.trace));
        certified.result.input = first + i;
        require_finite(certified.result);
        certified.has_coupling = has_simulated_coupling(prepared, certified.result);
        deliver(with_statistics(prepared, input, first + i, std::move(certified)));
      });
}

void certify_blocks(Index input_count, Index block, const Options& options, const Services& services,
                    const ResultSink& sink, const CertifyBlock& certify_block) {
  const int threads = resolve_thread_count(options.threads);
  OrderedDelivery delivery(sink, 4 * block * static_cast<Index>(threads));
  const ResultSink deliver = [&](Result&& result) { delivery.deliver(std::move(result)); };
  // Cancellation is looked at inside the piece, where abandon() wakes the threads that wait.
  parallel_for((input_count + block - 1) / block, threads, [&](Index piece) {
    try {
      if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
      const Index first = piece * block;
      delivery.wait_for_turn(first);
      certify_block(first, std::min(block, input_count - first), deliver);
    } catch (...) {
      delivery.abandon();
      throw;
    }
  });
}

GaussianMixture input_major(const GaussianMixture& mixture, Index outputs, Index input_count) {
  std::vector<Index> order;
  for (Index d = 0; d < input_count; ++d) {
    for (Index neuron = 0; neuron < outputs; ++neuron) order.push_back(neuron * input_count + d);
  }
  return mixture.permuted(order);
}

void attach_certificate(const Certificate& certificate, const Options& options, Shortage shortage,
                        Result& result) {
  result.w2 = certificate.w2;
  result.w1 = certificate.w1;
  const double scale = std::sqrt(result.mixture.second_moment());
  result.relative_w2 = scale > 0.0 ? result.w2.value / scale : std::numeric_limits<double>::quiet_NaN();
  if (!options.epsilon) {
    result.reason = "sizes as given";
    return;
  }
  const bool reached = result.w2.value <= *options.epsilon;
  result.termination = reached ? Termination::EpsilonReached : Termination::BudgetSpent;
  const std::string bound = format_number(result.w2.value);
  const std::string budget = std::to_string(options.max_components);
  if (reached) {
    result.reason = "the bound " + bound + " is at most epsilon";
  } else if (shortage == Shortage::Budget) {
    result.reason =
        "the bound " + bound + " is above epsilon with all " + budget + " components; raise --max-components";
  } else if (shortage == Shortage::Method) {
    result.reason = "the bound " + bound + " is above epsilon; more components than " +
                    std::to_string(result.mixture.size()) + " do not lower it by method " +
                    std::string(to_string(result.method));
  } else {
    result.reason = "the bound " + bound + " is above epsilon by rounding";
  }
}

std::vector<std::string> certificate_assumptions(const Options& options) {
  std::vector<std::string> assumptions = {
      "layers are independent of each other; weights and biases within a layer have the stored law: jointly "
      "Gaussian, or independent and normal, Laplace, uniform or Student's t",
      "arithmetic is IEEE double, rounding to nearest",
      "elementary functions are accurate to 16 units of roundoff: those of the C library and Eigen's "
      "vectorised exp, log, sin and cos"};
  if (options.method == Method::Cross) assumptions = {"no bound: the cross signature carries none"};
  return assumptions;
}

void require_finite(const Result& result) {
  if (result.method == Method::Cross) return;  // has no bound
  bool finite = std::isfinite(result.w2.value) && std::isfinite(result.w1.value);
  for (const Gaussian& component : result.mixture.components()) {
    finite = finite && component.mean.allFinite() && component.covariance.variances().allFinite();
  }
  if (finite) return;
  throw Error("input " + std::to_string(result.input) +
              ": its bound or mixture is not finite: numbers of the network or of the input are too large "
              "for double precision");
}

void certify(const Network& network, ConstMatrixRef inputs, const Options& options, const ResultSink& sink,
             const Services& services) {
  options.validate();
  const std::optional<Network> rescaled = with_ordinary_sizes(network);
  const Network& ordinary = rescaled ? *rescaled : network;
  check_inputs(ordinary, inputs);
  require(options.statistics == 0 || services.statistics != nullptr,
          "option --statistics: needs Services::statistics, which mixcert::statistics provides");
  const Prepared prepared = prepare_network(ordinary, options, services);
  if (options.joint) {
    sink(certify_one(prepared, inputs, 0));
    return;
  }
  certify_blocks(inputs.cols(), block_size(prepared, inputs.cols()), options, services, sink,
                 [&](Index first, Index count, const ResultSink& deliver) {
                   certify_block(prepared, inputs, first, count, deliver);
                 });
}

std::vector<Result> certify(const Network& network, ConstMatrixRef inputs, const Options& options,
                            const Services& services) {
  std::vector<Result> results;
  certify(
      network, inputs, options, [&](Result&& result) { results.push_back(std::move(result)); }, services);
  return results;
}

}  // namespace mixcert
