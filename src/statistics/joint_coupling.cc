// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupled simulation over several inputs jointly, docs/theory/statistics.md (C.5): one layer, and the
// network in pieces of samples with a generator each.
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "certificate/replaced_weights.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/coupled_simulation.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

// S_l(a) = beta_l 11' + sum_j V_lj a_j a_j' is nearly singular for smooth networks: its factor comes from a
// QR decomposition, which is stable where Cholesky's is not, and the coupling from singular vectors, which
// need no inverse.

namespace {

Matrix symmetric_root(ConstMatrixRef matrix) {
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  return eigen.vectors * positive_part(eigen.values).cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
}

/// Square L with L L' = Y Y'.
Matrix square_factor(const Matrix& transposed) {
  const Index n = transposed.cols();
  Matrix factor = Matrix::Zero(n, n);
  if (transposed.rows() <= n) {
    factor.leftCols(transposed.rows()) = transposed.transpose();
    return factor;
  }
  const Eigen::HouseholderQR<Matrix> qr(transposed);
  const Matrix upper = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>();
  return upper.transpose();
}

}  // namespace

Matrix coupled_factor(const Matrix& transposed, const Matrix& root) {
  const Matrix factor = square_factor(transposed);
  const SingularValues svd = singular_values(root * factor);
  return factor * (svd.right * svd.left.transpose());
}

JointLayerCoupling::JointLayerCoupling(const ActivationMap& activation, const DenseLayer& next,
                                       const JointLayerTrace& layer, Index input_count)
    : activation_(activation), next_(next), layer_(layer), input_count_(input_count) {
  const Vector deviations = layer.law.covariance.variances().cwiseSqrt();
  slopes_ =
      layer.surrogate.gain.binaryExpr(deviations, [](double k, double s) { return s > 0.0 ? k / s : 0.0; });
  const Matrix* variances = independent_variances(next.weights());
  const auto block = [&](Index l) { return layer.noise.blocks.middleRows(l * input_count, input_count); };
  const auto same_row = [&](Index l, Index m) {
    return (variances == nullptr || variances->row(l) == variances->row(m)) &&
           next.bias_variances()(l) == next.bias_variances()(m) && block(l) == block(m);
  };
  for (Index l = 0; l < next.outputs(); ++l) {
    const auto found = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const RowGroup& group) { return same_row(group.rows.front(), l); });
    if (found != groups_.end()) {
      found->rows.push_back(l);
      continue;
    }
    RowGroup group{
        {l}, Vector::Zero(next.inputs()), next.bias_variances()(l), symmetric_root(block(l)), false};
    if (variances != nullptr) group.deviations = variances->row(l).cwiseSqrt();
    group.is_fixed = group.deviations.isZero(0.0) && (block(l).array() == group.bias_variance).all();
    groups_.push_back(std::move(group));
  }
}

/// (M (x) I) a + b0 (x) 1.
Matrix JointLayerCoupling::signal(const Matrix& activations) const {
  const Index outputs = next_.outputs();
  Matrix result(outputs * input_count_, activations.cols());
  const bool has_mean = !next_.weight_mean().isZero(0.0);
  for (Index s = 0; s < activations.cols(); ++s) {
    Eigen::Map<Matrix> to(result.col(s).data(), input_count_, outputs);
    to.rowwise() = next_.bias_mean().transpose();
    if (!has_mean) continue;
    const Eigen::Map<const Matrix> from(activations.col(s).data(), input_count_, next_.inputs());
    to.noalias() += from * next_.weight_mean().transpose();
  }
  return result;
}

void JointLayerCoupling::add_noise(const RowGroup& group, const Matrix& activations, Generator& generator,
                                   JointCoupledState& state) const {
  const auto rows = static_cast<Index>(group.rows.size());
  Matrix normals(input_count_, rows * activations.cols());
  fill_normal(generator, normals);
  Matrix transposed(next_.inputs() + 1, input_count_);
  transposed.bottomRows(1).setConstant(std::sqrt(group.bias_variance));
  for (Index s = 0; s < activations.cols(); ++s) {
    const auto white = normals.middleCols(s * rows, rows);
    const Matrix surrogate = group.noise_root * white;
    Matrix network = surrogate;
    if (!group.is_fixed) {
      const Eigen::Map<const Matrix> a(activations.col(s).data(), input_count_, next_.inputs());
      transposed.topRows(next_.inputs()).noalias() = group.deviations.asDiagonal() * a.transpose();
      network.noalias() = coupled_factor(transposed, group.noise_root) * white;
    }
    for (Index r = 0; r < rows; ++r) {
      const Index at = group.rows[static_cast<std::size_t>(r)] * input_count_;
      state.network.col(s).segment(at, input_count_) += network.col(r);
      state.surrogate.col(s).segment(at, input_count_) += surrogate.col(r);
    }
  }
}

void JointLayerCoupling::advance(JointCoupledState& state, Generator& generator) const {
  const Matrix activations = activation_.apply(state.network, input_count_);
  Matrix surrogate = slopes_.asDiagonal() * (state.surrogate.colwise() - layer_.law.mean);
  surrogate.colwise() += layer_.surrogate.mean;
  state.network = signal(activations);
  state.surrogate = signal(surrogate);
  for (const RowGroup& group : groups_) add_noise(group, activations, generator, state);
}

// The whole network.

namespace {

// One sample takes D x D decompositions, so that small pieces cost nothing and share work between threads.
constexpr Index kJointPieceColumns = 32;
// Generators of carry_samples: pieces of samples have parts from zero.
constexpr std::uint64_t kCarryPart = ~std::uint64_t{0};

void check_arguments(const Network& network, ConstMatrixRef inputs, const JointTrace& trace,
                     const SimulationOptions& options) {
  const std::string name = "simulate_coupled_jointly: ";
  require(inputs.rows() == network.inputs() && inputs.cols() == trace.input_count,
          name + "expected " + std::to_string(trace.input_count) + " inputs of " +
              std::to_string(network.inputs()) + " numbers, got " + std::to_string(inputs.cols()) + " of " +
              std::to_string(inputs.rows()));
  require(static_cast<Index>(trace.layers.size()) == network.hidden_count(),
          name + "the trace has " + std::to_string(trace.layers.size()) + " hidden layers, the network " +
              std::to_string(network.hidden_count()));
  require(options.samples > 0, name + "expected samples >= 1, got " + std::to_string(options.samples));
  require(!network.has_masks(), name + "the network has dropout");
  for (Index k = 0; k < network.layer_count(); ++k) {
    require(network.layer(k).is_gaussian(), name + "the network has weights that are not Gaussian");
  }
  const std::string correlated = network.correlated_layer();
  require(correlated.empty(), name + correlated);
  for (std::size_t k = 0; k < trace.layers.size(); ++k) {
    const JointLayerTrace& layer = trace.layers[k];
    const auto index = static_cast<Index>(k);
    const Index size = network.layer(index).outputs() * trace.input_count;
    require(layer.law.dimension() == size && layer.surrogate.mean.size() == size &&
                layer.noise.blocks.rows() == network.layer(index + 1).outputs() * trace.input_count,
            name + "the trace of hidden layer " + std::to_string(k + 1) + " does not belong to the network");
  }
}

/// The network's first affine layer at the inputs, neuron-major: one Gaussian, the same in both chains.
Gaussian first_law(const Network& network, ConstMatrixRef inputs) {
  const Matrix activations = network.activation(0).apply(network.features(inputs).values).transpose();
  DenseLayer::Pushed pushed = network.layer(0).push(activations.reshaped(), inputs.cols());
  return {pushed.means.col(0), std::move(pushed.covariances.front())};
}

std::vector<Index> input_major_order(Index outputs, Index input_count) {
  std::vector<Index> order;
  for (Index d = 0; d < input_count; ++d) {
    for (Index l = 0; l < outputs; ++l) order.push_back(l * input_count + d);
  }
  return order;
}

}  // namespace

CoupledSamples simulate_coupled_jointly(const Network& network, ConstMatrixRef inputs,
                                        const JointTrace& trace, const SimulationOptions& options) {
  check_arguments(network, inputs, trace, options);
  const GaussianSampler first(first_law(network, inputs));
  std::vector<JointLayerCoupling> layers;
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    layers.emplace_back(network.activation(k), network.layer(k),
                        trace.layers[static_cast<std::size_t>(k - 1)], trace.input_count);
  }
  const std::vector<Index> order = input_major_order(network.outputs(), trace.input_count);
  const auto rows = static_cast<Index>(order.size());
  CoupledSamples samples{Matrix(rows, options.samples), Matrix(rows, options.samples)};
  const auto run_piece = [&](Index piece) {
    Generator generator =
        make_generator(options.seed, Stream::Coupling, 0, static_cast<std::uint64_t>(piece));
    const Index begin = piece * kJointPieceColumns;
    const Index count = std::min(kJointPieceColumns, options.samples - begin);
    JointCoupledState state{first.draw(generator, count), {}};
    state.surrogate = state.network;
    for (const JointLayerCoupling& layer : layers) layer.advance(state, generator);
    samples.network.middleCols(begin, count) = state.network(order, Eigen::all);
    samples.surrogate.middleCols(begin, count) = state.surrogate(order, Eigen::all);
  };
  const Index pieces = (options.samples + kJointPieceColumns - 1) / kJointPieceColumns;
  parallel_for(pieces, options.threads, run_piece, options.cancel);
  return samples;
}

CoupledSamples simulate_coupled(const Network& network, ConstMatrixRef inputs, Index input_index,
                                const CouplingTrace& trace, const SimulationOptions& options) {
  require(!trace.is_empty(), "simulate_coupled: the trace is empty");
  if (trace.joint != nullptr) return simulate_coupled_jointly(network, inputs, *trace.joint, options);
  return simulate_coupled(network, inputs.col(0), input_index, *trace.moment, options);
}

Gaussian joint_output(const JointTrace& trace) {
  const Index outputs = trace.output.dimension() / trace.input_count;
  return GaussianMixture(trace.output).permuted(input_major_order(outputs, trace.input_count)).component(0);
}

Matrix carry_samples(ConstMatrixRef samples, const Gaussian& from, const GaussianMixture& to,
                     std::uint64_t seed) {
  require(samples.rows() == from.dimension() && to.dimension() == from.dimension(),
          "carry_samples: dimensions " + std::to_string(samples.rows()) + ", " +
              std::to_string(from.dimension()) + " and " + std::to_string(to.dimension()) +
              ", expected equal ones");
  Generator generator = make_generator(seed, Stream::Coupling, 0, kCarryPart);
  std::vector<std::vector<Index>> columns(static_cast<std::size_t>(to.size()));
  for (Index s = 0; s < samples.cols(); ++s) {
    double left = uniform(generator);
    Index chosen = 0;
    while (chosen + 1 < to.size() && left >= to.weights()(chosen)) left -= to.weights()(chosen++);
    columns[static_cast<std::size_t>(chosen)].push_back(s);
  }
  Matrix carried(samples.rows(), samples.cols());
  for (Index j = 0; j < to.size(); ++j) {
    const std::vector<Index>& chosen = columns[static_cast<std::size_t>(j)];
    if (chosen.empty()) continue;
    const Matrix moved = samples(Eigen::all, chosen);
    carried(Eigen::all, chosen) = GaussianMap(from, to.component(j)).apply(moved, generator);
  }
  return carried;
}

}  // namespace mixcert
