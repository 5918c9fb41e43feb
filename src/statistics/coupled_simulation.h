// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The true network and the surrogate chain of the moment method, simulated side by side from the same
// randomness: E |y - y^|^2 of that coupling is no less than W2(p, q)^2, for every network and without any
// Lipschitz constant, at one input (C.3) and jointly over several (C.5). An estimate of it is a statistic,
// never a certificate.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "methods/joint/joint_trace.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/rng.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/mean_bound.h"

namespace mixcert {

// Maps of samples: from one Gaussian to another, singular ones included, so that the law of the result is
// exact, and from a component to the pieces of its split (C.3).

/// x = mean + C^{1/2} e, read backwards: e of a sample x is standard normal in all coordinates.
class Whitening {
 public:
  explicit Whitening(const Gaussian& gaussian);

  [[nodiscard]] bool is_diagonal() const { return vectors_.size() == 0; }
  /// C^{1/2}, symmetric.
  [[nodiscard]] Matrix root() const;
  /// Variances where diagonal.
  [[nodiscard]] const Vector& eigenvalues() const { return values_; }
  /// e of the columns of `samples`. Directions in which C vanishes get fresh normals.
  [[nodiscard]] Matrix whiten(ConstMatrixRef samples, Generator& generator) const;
  /// C^{+1/2} right, without the directions in which C vanishes.
  [[nodiscard]] Matrix apply_inverse_root(ConstMatrixRef right) const;

 private:
  Vector mean_;
  Vector values_;         ///< eigenvalues, or variances; zero where taken as vanishing
  Vector inverse_roots_;  ///< zero where the value is
  Matrix vectors_;        ///< empty when diagonal
};

/// The optimal coupling of two Gaussians as a map of samples: y = m_2 + C_2^{1/2} O e with e the white
/// noise of x and O the orthogonal factor of C_2^{1/2} C_1^{1/2}. y has the law N(m_2, C_2) for any O.
class GaussianMap {
 public:
  GaussianMap(const Gaussian& from, const Gaussian& to);
  [[nodiscard]] Matrix apply(ConstMatrixRef samples, Generator& generator) const;

 private:
  Whitening from_;
  Vector mean_;
  Vector scale_;   ///< C_2^{1/2} where both covariances are diagonal
  Matrix matrix_;  ///< C_2^{1/2} O otherwise
};

// A split: along each direction the monotone map from N(0,1) to the rule's mixture, then the piece drawn from
// its posterior (C.3).

/// F^{-1}(Phi(x)) for the distribution function F of the rule's mixture.
double monotone_split(const SplitRule& rule, double x);
/// A component of the rule's mixture, drawn from its posterior given that the mixture took the value x.
Index draw_split_component(const SplitRule& rule, double x, Generator& generator);

class SplitMap {
 public:
  /// `splits` may be empty.
  SplitMap(const Gaussian& component, const std::vector<SplitDirection>& splits);

  [[nodiscard]] Index piece_count() const { return piece_count_; }
  /// Moves the columns of `samples`, which have the component's law, and returns their pieces, numbered as
  /// the moment method numbers them: the last direction's center counts fastest.
  std::vector<Index> apply(Matrix& samples, Generator& generator) const;

 private:
  std::vector<Whitening> whitening_;  ///< one; none without splits
  const std::vector<SplitDirection>& splits_;
  Matrix directions_;   ///< U, one column each
  Matrix regression_;   ///< (C^{+1/2} U)'
  Matrix rest_factor_;  ///< root of I - U' C^+ U
  Index piece_count_ = 1;
};

// One hidden layer of the coupled simulation: compression, splits, activation and the next dense layer.

/// Samples on their way through both chains. Given its label, a column of `surrogate` has the law of that
/// component of the current mixture.
struct CoupledState {
  Matrix network;
  Matrix surrogate;
  std::vector<Index> labels;
};

class CoupledLayer {
 public:
  /// `next` must have independent outputs. All arguments must outlive this.
  CoupledLayer(const ActivationMap& activation, const Mask& mask, const DenseLayer& next,
               const MomentLayerTrace& layer);

  /// From z_k to z_{k+1}. Safe to call from several threads at once.
  void advance(CoupledState& state, Generator& generator) const;

 private:
  void compress(CoupledState& state, Generator& generator) const;
  void split(CoupledState& state, Generator& generator) const;
  struct MaskDraws {
    Matrix factors;
    Matrix normals;
  };
  [[nodiscard]] MaskDraws draw_masks(const Matrix& activations, Generator& generator) const;
  void add_leaves(const Matrix& factors, std::vector<Index>& labels) const;
  [[nodiscard]] Matrix surrogate_activations(const CoupledState& state) const;
  void push(CoupledState& state, Generator& generator) const;

  const ActivationMap& activation_;
  const Mask& mask_;
  const DenseLayer& next_;
  const MomentLayerTrace& layer_;
  /// Targets of each source component and where its plan's mass ends; empty when nothing is compressed.
  std::vector<std::vector<std::pair<Index, double>>> targets_;
  std::map<std::pair<Index, Index>, GaussianMap> maps_;
  std::vector<SplitMap> splits_;
  std::vector<Index> first_piece_;
  Matrix slopes_;       ///< gain_j / s_j, one column per piece and leaf
  Matrix noise_roots_;  ///< root of the surrogate's noise variances, one column per piece and leaf
};

// The whole network at one input.

/// Draws of (y, y^): y has the law of the network's output at the input, y^ that of trace.output, to the
/// rounding that the trace's covariances contain. Outputs x samples each.
struct CoupledSamples {
  Matrix network;
  Matrix surrogate;
};

/// `trace` as the moment method recorded it for this network and input; layers after the first must have
/// independent weights. Deterministic for (options.seed, input_index), whatever the number of threads.
CoupledSamples simulate_coupled(const Network& network, ConstVectorRef input, Index input_index,
                                const MomentTrace& trace, const SimulationOptions& options);

struct CoupledDistance {
  MeanBound square;  ///< of |y - y^|^2
  double w2_upper_statistical =
      0.0;  ///< root of square.upper: exceeds W2(p, q) with about 1 - failure_probability
};

CoupledDistance coupled_distance(const CoupledSamples& samples, double failure_probability);

// One hidden layer of the coupled simulation over several inputs jointly.

/// Columns are samples, rows neuron * input_count + input.
struct JointCoupledState {
  Matrix network;
  Matrix surrogate;
};

/// Z with Z Z' = Y Y' that maximises tr(Z root): with e standard normal, Z e and `root` e are the optimal
/// coupling of N(0, Y Y') and N(0, root^2), singular matrices included. `transposed` is Y'.
Matrix coupled_factor(const Matrix& transposed, const Matrix& root);

class JointLayerCoupling {
 public:
  /// `next` must have independent weights and biases. All arguments must outlive this.
  JointLayerCoupling(const ActivationMap& activation, const DenseLayer& next, const JointLayerTrace& layer,
                     Index input_count);

  /// From z_k to z_{k+1}. Safe to call from several threads at once.
  void advance(JointCoupledState& state, Generator& generator) const;

 private:
  /// Rows l of the next layer with one S_l(a) and one T_l.
  struct RowGroup {
    std::vector<Index> rows;
    Vector deviations;     ///< of the weights V_l^{1/2}
    double bias_variance;  ///< beta_l
    Matrix noise_root;     ///< T_l^{1/2}
    bool is_fixed;         ///< S_l(a) = T_l whatever a is
  };

  [[nodiscard]] Matrix signal(const Matrix& activations) const;
  void add_noise(const RowGroup& group, const Matrix& activations, Generator& generator,
                 JointCoupledState& state) const;

  const ActivationMap& activation_;
  const DenseLayer& next_;
  const JointLayerTrace& layer_;
  Index input_count_;
  Vector slopes_;  ///< gain / deviation
  std::vector<RowGroup> groups_;
};

// The whole network over several inputs jointly (C.5), and the surrogate carried on to any other law.

/// Draws of (y, y^): y has the joint law of the network's outputs at the columns of `inputs`, y^ that of
/// trace.output, to the rounding that the trace's covariances contain. Input-major, (inputs * outputs) x
/// samples. `trace` as the moment method recorded it for this network and these inputs. Deterministic for
/// options.seed, whatever the number of threads.
CoupledSamples simulate_coupled_jointly(const Network& network, ConstMatrixRef inputs,
                                        const JointTrace& trace, const SimulationOptions& options);

/// The coupling that a trace of certify() describes, which must not be empty.
CoupledSamples simulate_coupled(const Network& network, ConstMatrixRef inputs, Index input_index,
                                const CouplingTrace& trace, const SimulationOptions& options);

/// trace.output, input-major.
Gaussian joint_output(const JointTrace& trace);

/// Samples of `from` moved so that they have the law `to`: by the optimal map onto a component of `to`, drawn
/// by its weight. Rows are coordinates, columns samples.
Matrix carry_samples(ConstMatrixRef samples, const Gaussian& from, const GaussianMixture& to,
                     std::uint64_t seed);

}  // namespace mixcert
