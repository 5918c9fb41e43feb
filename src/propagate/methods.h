// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One result by one method; what the methods share.
#pragma once

#include <functional>

#include "mixcert/certify/carrier.h"
#include "mixcert/certify/certificate.h"
#include "mixcert/certify/joint_trace.h"
#include "mixcert/certify/moment_trace.h"
#include "mixcert/certify/sealed.h"
#include "mixcert/certify/sensitivity.h"
#include "mixcert/certify/trace.h"
#include "mixcert/propagate/certify.h"

namespace mixcert {

/// Everything about a network and options that does not depend on inputs.
struct Prepared {
  const Network& network;
  const Options& options;
  const Services& services;
  Sensitivity sensitivity;
  Carriers carriers;       ///< of the moment method; empty where it does not apply
  std::string correlated;  ///< which layer after the first has correlated outputs, or empty
  bool replaced = false;   ///< are there weights that are not Gaussian?
  bool moment = false;     ///< may the moment method be used?
  bool signature = false;  ///< may a signature method be used?
  bool sharpen = false;    ///< may the moment method take further theorems for the last layer?
};

/// Throws InvalidArgument unless there are inputs, all finite and of the network's size.
void check_inputs(const Network& network, ConstMatrixRef inputs);

/// Throws Error, naming the input, where the bound or the mixture is not finite: nothing else may be written.
void require_finite(const Result& result);

/// Which methods may be used, and what they need.
Prepared prepare_network(const Network& network, const Options& options, const Services& services);

/// A result without statistics, and what the moment method made it from.
struct Certified {
  Result result;
  Sealed<MomentTrace> trace;       ///< of one input
  Sealed<JointTrace> joint_trace;  ///< of several jointly
  bool has_coupling = false;       ///< does one of them describe a coupling that can be simulated?
  bool is_joint = false;           ///< which one

  [[nodiscard]] CouplingTrace coupling() const {
    if (!has_coupling) return {};
    return is_joint ? CouplingTrace{nullptr, &*joint_trace} : CouplingTrace{&*trace, nullptr};
  }
};

/// Certifies one input, or the columns of `inputs` as one joint law, by the method with the smallest bound.
Certified certify_network(const Prepared& prepared, ConstMatrixRef inputs, Index index);

/// The result of one input, or of the columns of `inputs` jointly, with statistics where they are asked for.
Result certify_one(const Prepared& prepared, ConstMatrixRef inputs, Index index);
/// Columns first .. first + count - 1, each for itself; results in their order.
void certify_block(const Prepared& prepared, ConstMatrixRef inputs, Index first, Index count,
                   const ResultSink& deliver);
/// One input, or all jointly, of an ensemble, with one Prepared per member.
Result certify_members(const Ensemble& ensemble, const std::vector<Prepared>& prepared, ConstMatrixRef inputs,
                       Index index, const Options& options, const Services& services);

/// Certifies inputs first .. first + count - 1 and hands their results over in order.
using CertifyBlock = std::function<void(Index first, Index count, const ResultSink& deliver)>;

/// Runs `certify_block` for all inputs, `block` at a time, on several threads and hands results to `sink` in
/// order.
void certify_blocks(Index input_count, Index block, const Options& options, const Services& services,
                    const ResultSink& sink, const CertifyBlock& certify_block);

/// Certifies the columns of `inputs` as one joint law, by signatures; `trace` is what the result was computed
/// from.
Result certify_by_signatures(const Prepared& prepared, ConstMatrixRef inputs, Sealed<Trace>& trace);
/// Result of column i and what it was computed from.
using MomentSink = std::function<void(Index i, Result&& result, Sealed<MomentTrace>&& trace)>;
/// Certifies the columns of `inputs`, each for itself, by the moment method. They go through the layers
/// together and get the results that each would get alone.
void certify_separately_by_moments(const Prepared& prepared, ConstMatrixRef inputs, const MomentSink& sink);
/// Certifies one input by the moment method; `trace` is what the result was computed from.
Result certify_by_moments(const Prepared& prepared, ConstVectorRef input, Sealed<MomentTrace>& trace);
/// Certifies the columns of `inputs` as one joint law, by the moment method with one Gaussian per layer.
Result certify_jointly_by_moments(const Prepared& prepared, ConstMatrixRef inputs, Sealed<JointTrace>& trace);
/// Would that stay below the memory limit?
bool joint_moments_fit(const Prepared& prepared, Index input_count);

/// Coordinates neuron * D + input, listed input-major.
GaussianMixture input_major(const GaussianMixture& mixture, Index outputs, Index input_count);

/// What kept a search for epsilon from succeeding.
enum class Shortage {
  None,    ///< nothing, or rounding
  Budget,  ///< all components were used
  Method,  ///< more components would not help
};

/// Writes bound, relative bound and, with epsilon, how the search ended.
void attach_certificate(const Certificate& certificate, const Options& options, Shortage shortage,
                        Result& result);

}  // namespace mixcert
