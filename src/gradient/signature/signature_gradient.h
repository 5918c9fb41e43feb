// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The signature method, backwards (docs/theory/gradients.md, Z.20 - Z.27): its layers, and the whole pass.
#pragma once

#include <vector>

#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "gradient/weight_gradient.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/certificate/options.h"
#include "mixcert/gradient/objective.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "quantize/signature.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

// (lambda I - C)^+ b for an eigenvalue lambda of a structured covariance: what eigenvectors move by when C
// does, (Z.22). Eigenvectors whose eigenvalue is numerically lambda are left out: their part of the motion is
// no derivative but a choice (Kasim 2020).

/// Eigenvalues closer to lambda than this fraction of it count as equal.
inline constexpr double kEqualEigenvalues = 1e-8;

class ShiftedInverse {
 public:
  explicit ShiftedInverse(const Covariance& covariance);

  /// Without a low-rank part eigenvectors live in single blocks, and so do solutions: those of different
  /// blocks never mix.
  [[nodiscard]] Vector solve(double lambda, ConstVectorRef right) const;

 private:
  [[nodiscard]] Vector rotate(ConstVectorRef x, bool back) const;

  Vector values_;                  ///< eigenvalues of the blocks
  std::vector<Matrix> rotations_;  ///< their eigenvectors, block by block
  Matrix factor_;                  ///< low-rank part in these coordinates
};

// From derivatives in a signature's directions u_d back to the Gaussian it was made for and to the metric it
// was placed in, (Z.21), (Z.22). Which axes there are and their sizes are held fixed.

/// Derivatives in one component of a layer and its signature.
struct ComponentGradient {
  GaussianGradient gaussian;
  Matrix directions;  ///< in u_d, one column each

  static ComponentGradient zero(const Gaussian& gaussian, const GridSignature& signature) {
    return {GaussianGradient::zero(gaussian), Matrix::Zero(gaussian.dimension(), signature.axis_count())};
  }
};

/// Moves gradient.directions into gradient.gaussian; returns the derivatives in the metric, per coordinate.
Vector pull_back_directions(const Gaussian& gaussian, const GridSignature& signature, ConstVectorRef metric,
                            ComponentGradient& gradient);

// Derivatives of a layer's squared local error q = sum_j pi_j sum_i g_i e_ij, e_ij by (S.1) or, for diagonal
// covariances, (S.4): (Z.23).

/// Adds q_bar dq to `components` (one per component of layer.after) and returns the derivatives in g.
/// `refine` as in local_errors.
Vector add_local_gradient(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          Index input_count, bool refine, ConstVectorRef g, double q_bar,
                          std::vector<ComponentGradient>& components);

// Derivatives of the cost between structured Gaussians that compression pays (T.1), (T.4), (Z.24). Dense
// covariances over thousands of coordinates are never formed; gaussian_transport_gradient() is for those.
// Blocks K of derivatives act on factors from the left: for a covariance block B B' the derivative in B is 2
// K B. For nonsingular blocks K is symmetric and the derivative in the usual sense; for singular ones it need
// not be.

struct StructuredTransportGradient {
  GaussianGradient from;
  GaussianGradient to;
  Vector metric;
};

/// Of gaussian_transport_cost(from, to, metric). `from` has no low-rank part; both have blocks of one size.
StructuredTransportGradient structured_transport_gradient(const Gaussian& from, const Gaussian& to,
                                                          ConstVectorRef metric);

// Derivatives through compression: of what it costs (T.1), and of the components it makes, (Z.24), (Z.25).
// Clusters and plan are held fixed.

/// Adds cost_bar times the derivatives of sum_ij plan_ij cost_ij in the metric g; returns those in g.
Vector add_compression_cost_gradient(const CompressionTrace& trace, ConstVectorRef g, double cost_bar,
                                     std::vector<GaussianGradient>& before,
                                     std::vector<GaussianGradient>& after);

/// Adds to `before` what derivatives in the components of trace.after say: moment matching.
void pull_back_compression(const CompressionTrace& trace, const std::vector<GaussianGradient>& after,
                           std::vector<GaussianGradient>& before);

// One hidden layer of the signature method, backwards: from derivatives in the mixture behind the layer to
// those in the mixture in front of it (Z.20).

/// What the layers share.
struct SignatureSweep {
  const Network& network;
  const Sensitivity& sensitivity;
  Index input_count;
  bool refine;          ///< were local slopes used?
  double bound_weight;  ///< of the bound in the number that is differentiated
};

/// `behind`: derivatives in the components of q_{k+1}. Returns those in the components of q_k; adds to
/// `chains` and `gradient` what the layer's terms and its affine map say.
std::vector<GaussianGradient> pull_back_layer(const SignatureSweep& sweep, Index k,
                                              const SignatureLayerTrace& layer, const LayerTerms& terms,
                                              const std::vector<GaussianGradient>& behind,
                                              ChainGradient& chains, NetworkGradient& gradient);

// The whole pass: the certified forward pass, then derivatives of
//     bound_weight * bound + (whatever the caller made of the mixture)
// in every weight's mean and variance, read backwards from its trace.

class SignaturePass {
 public:
  /// Runs the signature method at the columns of `inputs` jointly, with signature_size, components,
  /// certificate, grid and seed of `options`. Throws InvalidArgument where the network's parameters have no
  /// derivatives, or for epsilon. `network` must outlive this.
  SignaturePass(const Network& network, ConstMatrixRef inputs, const Options& options);

  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  /// Certified W2 between network and mixture; infinite where there is none.
  [[nodiscard]] double bound() const { return certificate_.w2.value; }
  /// Over outputs at all inputs, input-major: input * outputs + output.
  [[nodiscard]] const GaussianMixture& mixture() const { return mixture_; }
  [[nodiscard]] const SignatureTrace& trace() const { return *trace_; }

  /// Derivatives of bound_weight * bound + f, f with the given derivatives in the components of mixture();
  /// empty vectors: f is constant.
  [[nodiscard]] NetworkGradient backward(double bound_weight, const MixtureCotangent& cotangent) const;

 private:
  const Network& network_;
  CertificateForm form_;
  Vector first_point_;
  Sensitivity sensitivity_;
  Sealed<SignatureTrace> trace_;
  Certificate certificate_;
  GaussianMixture mixture_;
};

}  // namespace mixcert
