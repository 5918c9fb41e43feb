// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A theorem that may bound local terms of the moment method: one row of the table of theorems
// (theorems/theorem_table.h). A theorem is a folder of src/theorems, a row, and a page of docs/theory.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "certificate/certificate.h"
#include "certificate/contributions.h"
#include "certificate/sealed.h"
#include "methods/moment/moment_error.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/network/network.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

// What the theorems ask about a network and its trace before they are evaluated, looked up once.

/// One hidden layer and the affine layer behind its activations.
struct LayerSituation {
  bool is_unmasked = false;              ///< no dropout on its activations
  bool is_one_piece = false;             ///< its law is one Gaussian
  bool has_independent_neurons = false;  ///< in every piece
  bool has_convex_sizes = false;         ///< of all activations, (Y.27)
  bool has_neuron_nodes = false;         ///< are all activations smooth or have one kink at zero? (Y.3)
  bool next_is_independent = false;      ///< weights and biases of the next layer, of each other
  bool next_is_random = false;           ///< weights of the next layer
  bool next_is_gaussian = false;         ///< weights and biases of the next layer
  bool next_has_noisy_bias = false;      ///< every output's
  bool next_has_noise = false;  ///< every output of the next layer is moved by its own weights or bias

  /// What may be used of the noise of the next layer.
  [[nodiscard]] NoiseRule noise_rule() const {
    const bool convex = is_unmasked && next_is_independent && next_is_random && has_convex_sizes;
    return convex ? NoiseRule::Convex : NoiseRule::Any;
  }
};

struct Situation {
  /// All arguments must outlive this.
  Situation(const Network& of, const ErrorNorms& norms, const MomentTrace& made);

  const Network& network;
  const ErrorNorms& error_norms;
  const MomentTrace& trace;
  Index depth;       ///< hidden layers
  Index outputs;     ///< of the network
  Index components;  ///< of the output's mixture
  bool has_masks;    ///< anywhere
  std::vector<LayerSituation> layers;

  /// Of hidden layer `number`, 1..depth.
  [[nodiscard]] const LayerSituation& layer(Index number) const {
    return layers[static_cast<std::size_t>(number - 1)];
  }
  [[nodiscard]] const MomentLayerTrace& traced(Index number) const {
    return trace.layers[static_cast<std::size_t>(number - 1)];
  }
};

/// Per output, the variance that the layer's own weights and biases make of activations with these moments.
Vector own_noise(const DenseLayer& layer, const SurrogateLaw& law);

struct Precondition {
  const char* sentence;
  /// Of hidden layer `layer`, 1..depth. Null: only the theorem's own computation can tell; it gives no bound
  /// where the sentence is false.
  bool (*holds)(const Situation& situation, Index layer);
};

/// A mixture in place of the output's Gaussian, and W2 between it and the push of the last hidden layer's
/// piece.
struct FittedOutput {
  GaussianMixture mixture;
  UpperBound distance;
  /// Has it means and deviations that are the network's, where the trace's Gaussian has not?
  bool has_own_moments = false;
};

/// What a theorem about the law of the output finds for the Gaussian and, where one is closer, for a mixture.
struct OutputFit {
  UpperBound gaussian{INFINITY, INFINITY};
  std::optional<FittedOutput> mixture;
  /// Of the push of the last hidden layer's piece; null where it is not known.
  std::shared_ptr<OutputDistribution> law = nullptr;
  Index covers = 1;  ///< 2: distances are to the push through the last two hidden layers
};

struct Theorem {
  const char* id;    ///< number in docs/theory, as in LayerTerms::theorem
  const char* name;  ///< what a reader calls it
  const char* page;  ///< its proof, in docs/theory
  std::vector<Precondition> preconditions;
  /// Lowers terms of the certificate where its bound is smaller, and says whether it has a bound at all.
  /// Called where all preconditions hold. Null: the certificate starts with this theorem, or another one's
  /// computation gives it too.
  bool (*sharpen)(const Situation& situation, Index layer, Certificate& certificate) = nullptr;
  /// The summands of the layer's local term (X.1). Null: the term is about the law of the output as a whole.
  std::vector<RootParts> (*parts)(const Situation& situation, Index layer, const LayerTerms& terms) = nullptr;
  /// Not evaluated where this theorem has a bound, which is nearly always smaller; null: always evaluated.
  const char* unless = nullptr;
  /// Fits a mixture of at most `most` components to the law of the output, as few as make its distance at
  /// most `wanted`. Called where all preconditions hold. Null: the theorem bounds what is given.
  OutputFit (*fit)(const Situation& situation, Index most, double wanted) = nullptr;
  /// The theorem that bounds the Gaussian where this one fits; `sharpen` is called where it does not.
  const char* of_gaussian = nullptr;

  /// Do all preconditions hold that can be told beforehand?
  [[nodiscard]] bool may_hold(const Situation& situation, Index layer) const;
};

/// In the order in which they are tried.
using TheoremTable = std::vector<Theorem>;

/// The certificate with every local term by the theorem of the table that makes it smallest. `certificate` is
/// that of evaluate_moment_certificate() for the same arguments.
Certificate sharpened_certificate(const TheoremTable& theorems, const Network& network,
                                  const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace,
                                  Certificate certificate);

/// How many components the output may have, and the bound for which more of them are worth it.
struct OutputRequest {
  Index most = 1;
  double wanted = 0.0;
  /// A mixture with the network's moments may have a bound that is so many times as large.
  double worth_of_moments = 1.0;
};

struct SharpenedOutput {
  Certificate certificate;
  /// In place of the trace's output, where it is fitted to the output's law: the certificate is about it
  /// then.
  std::optional<GaussianMixture> mixture;
  /// The law of the network's output itself, where a theorem computes it; null otherwise.
  std::shared_ptr<const OutputDistribution> law = nullptr;
};

/// The same, and a mixture fitted to the law of the output where a theorem of the table has one that is
/// closer.
SharpenedOutput sharpened_output(const TheoremTable& theorems, const Network& network,
                                 const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace,
                                 const OutputRequest& request, Certificate certificate);

/// Where the bound comes from (X.1); `certificate` is the trace's, sharpened by theorems of the table or not.
BoundContributions moment_contributions(const TheoremTable& theorems, const Network& network,
                                        const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace,
                                        const Certificate& certificate);

/// Preconditions that several theorems share.
namespace precondition {
extern const Precondition kLastLayer, kOneOutput, kUnmasked, kNoMasks, kFewComponents, kIndependentNext,
    kIndependentNeurons, kNeuronNodes;
}  // namespace precondition

/// W2 between the true push of a piece through activation and layer and the Gaussian that stands for it.
using PushDistance = UpperBound (*)(const ActivationMap&, const DenseLayer&, const Gaussian&,
                                    const SurrogateLaw&, const Gaussian&);

/// The last hidden layer's local term by distances of its pieces: their root mean square, and what weights
/// that are not Gaussian add. No metric carries this term, so a bound of W2 is all that is needed; pieces
/// combine as in (H.3). Infinite where one piece's is.
UpperBound distance_over_pieces(const Situation& situation, PushDistance push_distance);

/// Makes `local`, about the law of the output as a whole, the layer's local term where it is smaller. Is it
/// finite?
bool take_smaller(const UpperBound& local, const char* id, LayerTerms& terms);

/// Where bounds of two layers' local terms together are smaller than their sums, the first term becomes what
/// the second leaves of them. Theorems that come later in the table do not lower the second one's.
void take_both(const UpperBound& w2, const UpperBound& w1, const char* id, LayerTerms& first,
               const LayerTerms& second);

}  // namespace mixcert
