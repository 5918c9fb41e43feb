// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Optimal transport between discrete laws and between mixtures.
#include "mixcert/transport/mixture_transport.h"

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"

namespace mixcert {

// Discrete optimal transport by network simplex in integer arithmetic. Supplies are
// multiples of 2^-60, costs multiples of 2^-60 times nodes * max|cost| (at most a factor
// four coarser): the simplex is then exact and always ends, and rounding moves
//   - a marginal by less than 2^-52, as much as normalising the weights does,
//   - the optimal value by less than 2^-57 nodes max|cost|.
// With double supplies two problems out of three do not end optimal, and with double
// costs drifting potentials may cycle. The reported cost is that of the returned plan for
// the costs as given. Entropic regularisation and sparse costs are not handled.

namespace {

using Amount = std::int64_t;
using Graph = lemon::SmartDigraph;

constexpr int kSupplyBits = 60;
constexpr double kWeightSumTolerance = 1e-9;
/// The solver holds about this much per pair of points.
constexpr double kBytesPerArc = 80;
constexpr double kMaxBytes = 4e9;

struct Shipment {
  Index source;
  Index target;
  Amount amount;
};

/// The cost of arc id = source * targets + target, rounded to an integer; LEMON reads it
/// by operator[]. A potential is a sum of at most `nodes` costs beside LEMON's own 2^62,
/// so nodes * max|cost| is scaled to 2^60 at most.
class ScaledCost {
 public:
  explicit ScaledCost(ConstMatrixRef cost) : cost_(cost) {
    const double nodes = static_cast<double>(cost.rows() + cost.cols());
    const double largest = cost.cwiseAbs().maxCoeff();
    if (largest > 0) shift_ = 60 - (std::ilogb(nodes) + 1) - (std::ilogb(largest) + 1);
  }
  Amount operator[](const Graph::Arc& arc) const {
    const Index id = Graph::id(arc);
    return std::llround(std::ldexp(cost_(id / cost_.cols(), id % cost_.cols()), shift_));
  }

 private:
  const Eigen::Ref<const Matrix>& cost_;
  int shift_ = 0;
};

/// Supply of node id: sources first, then targets (negative).
class NodeSupply {
 public:
  NodeSupply(const std::vector<Amount>& sources, const std::vector<Amount>& targets)
      : sources_(sources), targets_(targets) {}
  Amount operator[](const Graph::Node& node) const {
    const auto id = static_cast<std::size_t>(Graph::id(node));
    return id < sources_.size() ? sources_[id] : -targets_[id - sources_.size()];
  }

 private:
  const std::vector<Amount>& sources_;
  const std::vector<Amount>& targets_;
};

void require_memory(Index sources, Index targets) {
  const double bytes = kBytesPerArc * static_cast<double>(sources) * static_cast<double>(targets);
  if (bytes <= kMaxBytes) return;
  throw ResourceError("optimal transport: " + std::to_string(sources) + " x " + std::to_string(targets) +
                      " points need about " + std::to_string(std::llround(bytes / 1e9)) +
                      " GB; expected at most " + std::to_string(std::llround(kMaxBytes / 1e9)) + " GB");
}

/// The optimal integer flow; both sides must have the same total.
std::vector<Shipment> solve(const std::vector<Amount>& sources, const std::vector<Amount>& targets,
                            ConstMatrixRef cost) {
  const Index source_count = cost.rows();
  const Index target_count = cost.cols();
  Graph graph;
  graph.reserveNode(static_cast<int>(source_count + target_count));
  graph.reserveArc(static_cast<int>(source_count * target_count));
  for (Index i = 0; i < source_count + target_count; ++i) graph.addNode();
  for (Index i = 0; i < source_count; ++i) {
    for (Index j = 0; j < target_count; ++j) {
      graph.addArc(Graph::nodeFromId(static_cast<int>(i)),
                   Graph::nodeFromId(static_cast<int>(source_count + j)));
    }
  }
  using Solver = lemon::NetworkSimplex<Graph, Amount, Amount>;
  Solver solver(graph);
  solver.costMap(ScaledCost(cost)).supplyMap(NodeSupply(sources, targets));
  if (solver.run() != Solver::OPTIMAL) {
    throw Error("optimal transport: internal error, the network simplex did not end optimal");
  }
  std::vector<Shipment> shipments;
  for (Index id = 0; id < source_count * target_count; ++id) {
    const Amount amount = solver.flow(Graph::arcFromId(static_cast<int>(id)));
    if (amount > 0) shipments.push_back({id / target_count, id % target_count, amount});
  }
  return shipments;
}

void require_weights(ConstVectorRef weights, Index expected, const char* name) {
  require(weights.size() == expected && expected > 0,
          std::string("optimal_plan: ") + name + " has " + std::to_string(weights.size()) +
              " entries, expected one or more and as many as the cost has, " + std::to_string(expected));
  for (Index i = 0; i < weights.size(); ++i) {
    require(std::isfinite(weights(i)) && weights(i) >= 0,
            std::string("optimal_plan: ") + name + "[" + std::to_string(i) +
                "]: expected a nonnegative number, got " + std::to_string(weights(i)));
  }
  require(std::abs(weights.sum() - 1.0) <= kWeightSumTolerance,
          std::string("optimal_plan: ") + name + ": expected a sum of 1 within 1e-9, got " +
              std::to_string(weights.sum()));
}

/// weights / sum(weights) in units of 2^-60. The largest entry takes what rounding lost,
/// which is below 2^7 + size units.
std::vector<Amount> integer_supplies(ConstVectorRef weights) {
  const double scale = std::ldexp(1.0 / weights.sum(), kSupplyBits);
  std::vector<Amount> supplies;
  supplies.reserve(static_cast<std::size_t>(weights.size()));
  Amount missing = Amount{1} << kSupplyBits;
  for (const double weight : weights) {
    supplies.push_back(std::llround(weight * scale));
    missing -= supplies.back();
  }
  *std::max_element(supplies.begin(), supplies.end()) += missing;
  return supplies;
}

/// W2^2 in one dimension: the monotone coupling.
double sorted_mean_square(ConstMatrixRef a, ConstMatrixRef b) {
  Vector x = a.row(0).transpose();
  Vector y = b.row(0).transpose();
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return (x - y).squaredNorm() / static_cast<double>(x.size());
}

/// |x_i - y_j|^2 by one matrix product. Cancellation only perturbs which pairing is chosen:
/// distances are computed again for the pairs that are.
Matrix squared_distances(ConstMatrixRef a, ConstMatrixRef b) {
  const Vector center = 0.5 * (a.rowwise().mean() + b.rowwise().mean());
  const Matrix x = a.colwise() - center;
  const Matrix y = b.colwise() - center;
  Matrix distances = -2.0 * x.transpose() * y;
  distances.colwise() += x.colwise().squaredNorm().transpose();
  distances.rowwise() += y.colwise().squaredNorm();
  return distances;
}

}  // namespace

TransportPlan optimal_plan(ConstVectorRef source_weights, ConstVectorRef target_weights,
                           ConstMatrixRef cost) {
  require_weights(source_weights, cost.rows(), "source_weights");
  require_weights(target_weights, cost.cols(), "target_weights");
  require(cost.allFinite(), "optimal_plan: cost has an entry that is not finite");
  require_memory(cost.rows(), cost.cols());
  TransportPlan plan;
  for (const Shipment& s : solve(integer_supplies(source_weights), integer_supplies(target_weights), cost)) {
    const double mass = std::ldexp(static_cast<double>(s.amount), -kSupplyBits);
    plan.entries.push_back({s.source, s.target, mass});
    plan.cost += mass * cost(s.source, s.target);
  }
  return plan;
}

double empirical_wasserstein2(ConstMatrixRef a, ConstMatrixRef b) {
  require(a.rows() == b.rows() && a.cols() == b.cols() && a.size() > 0,
          "empirical_wasserstein2: expected two samples of one shape, not empty, got " +
              std::to_string(a.rows()) + " x " + std::to_string(a.cols()) + " and " +
              std::to_string(b.rows()) + " x " + std::to_string(b.cols()));
  require(a.allFinite() && b.allFinite(), "empirical_wasserstein2: a sample has an entry that is not finite");
  if (a.rows() == 1) return std::sqrt(sorted_mean_square(a, b));
  require_memory(a.cols(), b.cols());
  const std::vector<Amount> units(static_cast<std::size_t>(a.cols()), 1);
  double total = 0.0;
  for (const Shipment& s : solve(units, units, squared_distances(a, b))) {
    total += static_cast<double>(s.amount) * (a.col(s.source) - b.col(s.target)).squaredNorm();
  }
  return std::sqrt(total / static_cast<double>(a.cols()));
}

// MW2^2 = min over plans of sum_ij plan_ij W2^2(N_i, N_j). Component costs are upper
// bounds (T.1 to T.5), so the distance is one as well; components are few (hundreds), so the
// dense cost matrix is the small part of the work.

MixtureTransport mixture_transport(const GaussianMixture& from, const GaussianMixture& to) {
  require(from.dimension() == to.dimension(), "mixture_transport: mixtures of dimensions " +
                                                  std::to_string(from.dimension()) + " and " +
                                                  std::to_string(to.dimension()) + ", expected equal ones");
  const Vector ones = Vector::Ones(from.dimension());
  Matrix cost(from.size(), to.size());
  for (Index j = 0; j < to.size(); ++j) {
    for (Index i = 0; i < from.size(); ++i) {
      cost(i, j) = gaussian_transport_cost(from.component(i), to.component(j), ones).upper;
    }
  }
  MixtureTransport result;
  result.plan = optimal_plan(from.weights(), to.weights(), cost);
  result.distance = std::sqrt(result.plan.cost);
  return result;
}

}  // namespace mixcert
