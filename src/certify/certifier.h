// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network with options, ready to certify any input: which methods apply, and the one with the smallest
// bound.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/approximation_method.h"
#include "methods/graph/graph_method.h"
#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/certify/certify.h"

namespace mixcert {

/// Throws Error, naming the input, where the bound or the mixture is not finite: nothing else may be written.
void require_finite(const Result& result);

class Certifier {
 public:
  /// Arguments must outlive this. Throws InvalidArgument where the options do not fit the network.
  Certifier(const Network& network, const Options& options, const Services& services);

  [[nodiscard]] const Prepared& prepared() const { return *prepared_; }
  /// Do inputs gain from going through the layers together?
  [[nodiscard]] bool takes_blocks() const { return moment_ != nullptr; }

  /// One input, or the columns of `inputs` jointly, by the moment method or another that is far closer;
  /// without statistics.
  [[nodiscard]] Certified certify(ConstMatrixRef inputs, Index index) const;
  /// The same with statistics and a simulated bound where they are asked for.
  [[nodiscard]] Result certify_fully(ConstMatrixRef inputs, Index index) const;
  /// Columns first .. first + count - 1, each for itself; results in their order.
  void certify_block(ConstMatrixRef inputs, Index first, Index count, const ResultSink& deliver) const;
  /// Where the bound of what certify() returned comes from.
  [[nodiscard]] BoundContributions explain(const Certified& made) const;
  /// What simulation can be expected to give; nothing where it is not covered.
  [[nodiscard]] std::optional<SimulationForecast> forecast(const Certified& made) const;
  /// What statistics can simulate the coupling of; empty where there is nothing.
  [[nodiscard]] CouplingTrace coupling(const Certified& made) const;

 private:
  void prepare_coupled();
  /// The law of the network linearised at its mean weights (N.6): Gaussian, so that rounding alone is left.
  [[nodiscard]] Certified certify_linearised(ConstMatrixRef inputs) const;
  /// By draws (O.4), with a formal bound beside where graphs have one (O.15).
  [[nodiscard]] Result certify_coupled(ConstVectorRef input, Index index) const;
  /// The first method's result unless another one's bound is far smaller.
  [[nodiscard]] Certified smallest(ConstMatrixRef inputs, Certified best) const;
  /// What every result goes through.
  [[nodiscard]] Certified finished(ConstMatrixRef inputs, Certified made, Index index) const;
  /// Says how close the mixture and Gaussians can be at all, where that is known (D.9).
  void give_lower_bounds(ConstMatrixRef inputs, Result& result) const;
  [[nodiscard]] SimulationRequest simulation_request(const Certified& made) const;
  /// Adds a bound certified by simulation, and takes a mixture that simulation finds closer.
  void simulate(ConstMatrixRef inputs, Certified& made) const;
  [[nodiscard]] Result with_statistics(ConstMatrixRef inputs, Certified made) const;

  std::unique_ptr<Prepared> prepared_;      ///< methods refer to it
  std::shared_ptr<const Options> options_;  ///< for all results
  bool has_lower_bounds_ = false;           ///< is the network made of masks alone?
  // Null where a method may not be used. One of the first two is what auto tries first.
  std::unique_ptr<ApproximationMethod> moment_, joint_, signature_;
  CoupledMethod coupled_;               ///< in place of the others
  std::unique_ptr<GraphMethod> graph_;  ///< in place of the others, or beside moment_ or coupled_
  std::string graph_gap_;               ///< why coupled_ has no graph_ beside it
};

/// One Certifier for each member.
std::vector<Certifier> member_certifiers(const Ensemble& ensemble, const Options& options,
                                         const Services& services);

/// One input, or all jointly, of an ensemble, with one Certifier per member.
Result certify_members(const Ensemble& ensemble, const std::vector<Certifier>& members, ConstMatrixRef inputs,
                       Index index, const Options& options, const Services& services);

/// Certifies inputs first .. first + count - 1 and hands their results over in order.
using CertifyBlock = std::function<void(Index first, Index count, const ResultSink& deliver)>;

/// Runs `certify_block` for all inputs, `block` at a time, on several threads and hands results to `sink` in
/// order.
void certify_blocks(Index input_count, Index block, const Options& options, const Services& services,
                    const ResultSink& sink, const CertifyBlock& certify_block);

// How many inputs go through the layers together.

/// As asked for, or as many as share products while what they hold stays in a processor's own cache; fewer
/// where threads would be left without work. Results do not depend on it.
Index block_size(const Certifier& certifier, Index input_count);

// One result of several networks: the weighted union of their mixtures, and the bound of the mixture of their
// laws, docs/theory/ensembles.md (B.1), (B.2).

/// `results`: one per member, of the same input; `weights` positive, summing to one up to rounding.
Result combine_results(std::vector<Result> results, const Vector& weights, const Options& options);

}  // namespace mixcert
