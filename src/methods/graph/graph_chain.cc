// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/graph/graph_chain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/overloaded.h"
#include "core/stop.h"
#include "methods/graph/pair_rounds.h"
#include "methods/graph/tangent_law.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

std::string in_mebibytes(double bytes) {
  return std::to_string(static_cast<long long>(bytes / 0x1.0p20)) + " MiB";
}

/// Throws unless the graph is covered.
LayerGraph covered(const LayerGraph& graph, const GraphChainLimits& limits) {
  const std::string refusal = graph_chain_refusal(graph, limits);
  require(refusal.empty(), refusal);
  return in_pair_rounds(graph);
}

/// E |V (x^ - m)|^2 in the form behind a random layer.
double noise_cost(const NodeForm& form, const Matrix& tangents) {
  // Column by column: a sum over all entries at once has as many roundings as these, 2^25 and more.
  const double size = enlarged(tangents.colwise().squaredNorm().sum());
  if (form.matrix.size() == 0) return enlarged(form.largest * size);
  const Matrix& n = form.matrix;
  const double sum = tangents.cwiseProduct(n * tangents).colwise().sum().sum();
  const Index roundings = 2 * n.rows() + tangents.cols() + 64;
  return positive_part(sum) + enlarged(rounding_gamma(roundings) * n.trace() * size);
}

/// Numbers between 2^-1022 and the sizes that squares of forms reach below this are far from overflow; what
/// vanishes is below 2^-511 before it is squared, stretched at most by this, and added up over fewer than
/// 2^60 numbers (O.16).
constexpr double kMostStretch = 0x1.0p200;
constexpr double kUnderflowCost = 0x1.0p-240;

/// One pass forward.
class Pass {
 public:
  Pass(const LayerGraph& graph, const GraphForms& forms, ConstVectorRef input, double error,
       const CancelFlag* cancel)
      : graph_(graph),
        forms_(forms),
        cancel_(cancel),
        laws_(static_cast<std::size_t>(graph.size())),
        terms_(1) {
    laws_.front() = {input, Matrix(input.size(), 0), error, 0.0};
  }

  void run() {
    for (Index k = 1; k < graph_.size(); ++k) {
      stop_where_set(cancel_);
      const GraphNode& node = graph_.node(k);
      std::visit(
          Overloaded{[&](const OneOf<AffineNode, ActivationNode, MaximumNode> auto& own) { visit(own, k); },
                     [&](const SumNode&) { law(k) = sum_of(laws_before(k)); },
                     [&](const ConcatNode&) { law(k) = stacked_laws(laws_before(k)); },
                     [](const OneOf<InputNode, MaskNode> auto&) {}},
          node.work);
      for (const Index j : node.from) {
        if (graph_.last_use(j) <= k) law(j) = {};
      }
    }
  }

  [[nodiscard]] const TangentLaw& output() const { return laws_.back(); }
  [[nodiscard]] std::vector<GraphTerm>& terms() { return terms_; }

 private:
  [[nodiscard]] TangentLaw& law(Index k) { return laws_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] const TangentLaw& before(Index k) { return law(graph_.node(k).from.front()); }

  void visit(const AffineNode& node, Index k) {
    const TangentLaw& in = before(k);
    const NodeForm& noise = forms_.noise(k);
    if (node.layer->normals() > 0 && in.tangents.cols() > 0) {
      terms_.back().noise += noise_cost(noise, in.tangents);
      terms_.back().rounding += std::sqrt(noise.largest) * in.tangent_error;
    }
    law(k) = behind_layer(*node.layer, forms_.norm(k), in, columns_);
    columns_ += node.layer->normals();
  }

  void visit(const ActivationNode& node, Index k) {
    const TangentLaw& in = before(k);
    ActivatedLaw after = behind_activation(node.activation, in);
    add_term(after.residuals, in.tangents, k);
    law(k) = std::move(after.law);
  }

  void visit(const MaximumNode& node, Index k) {
    MaximumLaw after = behind_maximum(node, graph_.node(k).size, before(k));
    add_term(after.residuals, after.differences, k);
    law(k) = std::move(after.law);
  }

  [[nodiscard]] std::vector<const TangentLaw*> laws_before(Index k) {
    std::vector<const TangentLaw*> laws;
    for (const Index j : graph_.node(k).from) laws.push_back(&law(j));
    return laws;
  }

  void add_term(const Residuals& residuals, const Matrix& tangents, Index k) {
    const double largest = forms_.largest(k);
    GraphTerm term{graph_.node(k).title, 0.0, 0.0, std::sqrt(largest) * residuals.error};
    if (tangents.cols() > 0) {
      const bool has_blocks = forms_.for_each_block(
          k, independent_ranges(tangents), [&](const RowRange& range, const Matrix& block) {
            term.activations += residual_cost(residuals, tangents, range, block);
          });
      if (!has_blocks) {
        term.activations =
            enlarged(largest * (residuals.quadratic.squaredNorm() + residuals.rest.squaredNorm()));
      }
    }
    terms_.push_back(std::move(term));
  }

  const LayerGraph& graph_;
  const GraphForms& forms_;
  const CancelFlag* cancel_;
  std::vector<TangentLaw> laws_;
  std::vector<GraphTerm> terms_;
  Index columns_ = 0;  ///< random numbers met so far
};

/// N(mean, T T') as it is handed out, and how far that is from the exact surrogate (R.8).
Gaussian written_out(const TangentLaw& law, double& moved) {
  const auto size = static_cast<double>(law.mean.size());
  const double gamma = rounding_gamma(law.tangents.cols() + 4);
  Matrix covariance = law.tangents * law.tangents.transpose();
  covariance = 0.5 * (covariance + covariance.transpose()).eval();
  covariance.diagonal() *= 1.0 + 2.0 * size * gamma;
  moved = enlarged(law.mean_error + law.tangent_error + std::sqrt(4.0 * size * gamma * covariance.trace()));
  return {law.mean, Covariance::dense(std::move(covariance))};
}

}  // namespace

double most_tangent_bytes(const LayerGraph& graph) {
  const auto count = static_cast<std::size_t>(graph.size());
  std::vector<double> bytes(count), columns(count);
  double met = 0.0, most = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    const GraphNode& node = graph.node(static_cast<Index>(k));
    const auto own = static_cast<double>(node.random_count());
    met += own;
    for (const Index j : node.from) columns[k] = std::max(columns[k], columns[static_cast<std::size_t>(j)]);
    if (own > 0.0) columns[k] = met;
    bytes[k] = sizeof(double) * columns[k] * static_cast<double>(node.size);
    // A maximum has the tangents of differences beside its own.
    double kept = std::holds_alternative<MaximumNode>(node.work) ? bytes[k] : 0.0;
    for (std::size_t j = 0; j <= k; ++j) {
      if (graph.last_use(static_cast<Index>(j)) >= static_cast<Index>(k)) kept += bytes[j];
    }
    most = std::max(most, kept);
  }
  return most;
}

std::string graph_chain_refusal(const LayerGraph& graph, const GraphChainLimits& limits) {
  if (graph.has_masks()) return "layers have masks, which formal bounds of graphs do not cover";
  const double bytes = most_tangent_bytes(in_pair_rounds(graph));
  if (bytes <= limits.tangent_bytes) return "";
  return "a formal bound needs " + in_mebibytes(bytes) + " for its tangents, more than " +
         in_mebibytes(limits.tangent_bytes) + "; --simulate takes a few images";
}

double GraphTerm::upper() const { return enlarged(std::sqrt(activations + noise) + rounding); }

GraphChain::GraphChain(const LayerGraph& graph, const GraphChainLimits& limits)
    : graph_(covered(graph, limits)),
      forms_(graph_, limits.most_dense, limits.cancel),
      cancel_(limits.cancel) {}

GraphChain::Bound GraphChain::certify(ConstVectorRef input, double error) const {
  require(input.size() == graph_.inputs(), "graph chain: expected an input of " +
                                               std::to_string(graph_.inputs()) + " numbers, got " +
                                               std::to_string(input.size()));
  require(
      forms_.most_stretch() <= kMostStretch && input.norm() <= kMostStretch,
      "formal bounds of graphs: layers or the input are of a size above 2^200: measure inputs or outputs in "
      "larger units");
  Pass pass(graph_, forms_, input, error, cancel_);
  pass.run();
  Bound bound;
  bound.terms = std::move(pass.terms());
  bound.gaussian = written_out(pass.output(), bound.output_rounding);
  bound.output_rounding = enlarged(bound.output_rounding + kUnderflowCost);
  bound.w2 = bound.output_rounding;
  for (const GraphTerm& term : bound.terms) bound.w2 += term.upper();
  bound.w2 = enlarged(bound.w2);
  return bound;
}

}  // namespace mixcert
