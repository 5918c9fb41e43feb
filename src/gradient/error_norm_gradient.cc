// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.4), (Z.5). Layers that chose the same form share one chain of norms: it is
// computed from the output backwards, as in make_error_norms, and read from the first of these layers
// forwards.
#include <string>

#include "gradient/weight_gradient.h"
#include "mixcert/core/error.h"
#include "sensitivity/error_norm.h"

namespace mixcert {
namespace {

/// Derivatives in Q of a norm; only the diagonal is kept where Q is one.
struct QuadraticGradient {
  Vector diagonal;
  Matrix dense;  ///< empty when Q is diagonal; includes the diagonal otherwise

  explicit QuadraticGradient(const OutputNorm& norm)
      : diagonal(Vector::Zero(norm.q.rows())),
        dense(norm.diagonal ? Matrix() : Matrix::Zero(norm.q.rows(), norm.q.rows()).eval()) {}

  void add_diagonal(const Vector& x) {
    if (dense.size() == 0) {
      diagonal += x;
    } else {
      dense.diagonal() += x;
    }
  }
};

using QuadraticGradients = std::vector<QuadraticGradient>;

QuadraticGradients zeros(const std::vector<OutputNorm>& norms) { return {norms.begin(), norms.end()}; }

/// M'QM: M gains 2 Q M X, Q gains M X M', X the derivatives in the Gram matrix.
void add_gram(const OutputNorm& norm, const DenseLayer& layer, const Matrix& gram_bar,
              LayerGradient& gradient, QuadraticGradient& q_bar) {
  const Matrix& m = layer.weight_mean();
  if (m.isZero(0.0)) return;
  const Matrix right = m * gram_bar;
  if (norm.diagonal) {
    gradient.weight_mean += 2.0 * (norm.q.diagonal().asDiagonal() * right);
    q_bar.diagonal += right.cwiseProduct(m).rowwise().sum();
  } else {
    gradient.weight_mean += 2.0 * norm.q * right;
    q_bar.dense += right * m.transpose();
  }
}

/// sum_l |M_lj| sqrt(Q_ll), of dense Q.
void add_absolute_roots(const OutputNorm& norm, const DenseLayer& layer, const Vector& roots_bar,
                        LayerGradient& gradient, QuadraticGradient& q_bar) {
  const Matrix& m = layer.weight_mean();
  const Vector deviations = norm.q.diagonal().cwiseSqrt();
  gradient.weight_mean += m.cwiseSign().cwiseProduct(deviations * roots_bar.transpose());
  const Vector sums = m.cwiseAbs() * roots_bar;
  q_bar.add_diagonal(
      sums.binaryExpr(deviations, [](double x, double d) { return d > 0.0 ? 0.5 * x / d : 0.0; }));
}

/// Of pull_back.
void add_norm(const OutputNorm& norm, const DenseLayer& layer, const NormGradient& bar,
              LayerGradient& gradient, QuadraticGradient& q_bar) {
  q_bar.add_diagonal(bar.metric);
  Matrix gram_bar = bar.gram;
  if (bar.gram_roots.size() > 0) {
    if (norm.diagonal) {
      const Vector roots = pull_back(norm, layer).gram_roots;
      if (gram_bar.size() == 0) gram_bar = Matrix::Zero(layer.inputs(), layer.inputs());
      gram_bar.diagonal() += bar.gram_roots.binaryExpr(
          roots, [](double x, double root) { return root > 0.0 ? 0.5 * x / root : 0.0; });
    } else {
      add_absolute_roots(norm, layer, bar.gram_roots, gradient, q_bar);
    }
  }
  if (gram_bar.size() > 0) add_gram(norm, layer, gram_bar, gradient, q_bar);
}

/// Of second_moment: A = M'QM + diag_j(sum_i Q_ii V_ij).
void add_second_moment(const OutputNorm& norm, const DenseLayer& layer, const Matrix& a_bar,
                       LayerGradient& gradient, QuadraticGradient& q_bar) {
  add_gram(norm, layer, a_bar, gradient, q_bar);
  const Matrix* variances = independent_variances(layer.weights());
  if (variances == nullptr) return;
  const Vector diagonal = a_bar.diagonal();
  gradient.weight_variance += norm.q.diagonal() * diagonal.transpose();
  q_bar.add_diagonal(*variances * diagonal);
}

/// Of expected_errors(network, k).
void add_expected_errors(const Network& network, Index k, const Vector& errors_bar,
                         NetworkGradient& gradient) {
  const DenseLayer& before = network.layer(k - 1);
  const Matrix& m = network.layer(k).weight_mean();
  const Vector spread = before.row_variances() + before.bias_variances() + before.row_norms().cwiseAbs2();
  const Vector spread_bar = m.cwiseAbs2().transpose() * errors_bar;
  LayerGradient& here = gradient[static_cast<std::size_t>(k)];
  LayerGradient& there = gradient[static_cast<std::size_t>(k - 1)];
  here.weight_mean += 2.0 * (errors_bar.asDiagonal() * m * spread.asDiagonal());
  add_weight_variance(network.layer(k), errors_bar.replicate(1, m.cols()), here);
  there.weight_mean += 2.0 * (spread_bar.asDiagonal() * before.weight_mean());
  add_weight_variance(before, spread_bar.replicate(1, before.inputs()), there);
  add_bias_variance(before, spread_bar, there);
}

/// The chain of one form from the output to layer `first`, read backwards.
class ErrorNormChainGradient {
 public:
  ErrorNormChainGradient(const Network& network, const MetricForm& form, Index first)
      : network_(network), form_(form), first_(first) {
    const Index hidden = network.hidden_count();
    norms_.resize(static_cast<std::size_t>(hidden + 1));
    norms_.back() = {identity_norm(network.outputs())};
    for (Index k = hidden - 1; k >= first; --k) at(k) = carry_back(at(k + 1), network, k, form);
  }

  /// `of_layer(k)`: the derivatives that layer k has for this form, or null.
  template <typename OfLayer>
  void add(const OfLayer& of_layer, NetworkGradient& gradient) {
    QuadraticGradients q_bar = zeros(at(first_));
    for (Index k = first_; k <= network_.hidden_count(); ++k) {
      if (const std::vector<NormGradient>* bars = of_layer(k)) {
        require(bars->size() == at(k).size(), "gradient: a error_norm has another number of norms");
        for (std::size_t i = 0; i < bars->size(); ++i) {
          add_norm(at(k)[i], network_.layer(k), (*bars)[i], gradient[static_cast<std::size_t>(k)], q_bar[i]);
        }
      }
      if (k < network_.hidden_count()) q_bar = step(k, q_bar, gradient);
    }
  }

 private:
  std::vector<OutputNorm>& at(Index k) { return norms_[static_cast<std::size_t>(k)]; }

  /// From the norms on the outputs of layer k to those of layer k + 1, which they were made from.
  QuadraticGradients step(Index k, const QuadraticGradients& q_bar, NetworkGradient& gradient) {
    const DenseLayer& next = network_.layer(k + 1);
    const Vector errors = expected_errors(network_, k);
    Vector errors_bar = Vector::Zero(errors.size());
    QuadraticGradients parents = zeros(at(k + 1));
    for (std::size_t p = 0; p < parents.size(); ++p) {
      const OutputNorm& parent = at(k + 1)[p];
      const Matrix a = second_moment(parent, next, network_.mask(k + 1));
      Matrix a_bar = Matrix::Zero(a.rows(), a.cols());
      for (std::size_t i = 0; i < q_bar.size(); ++i) {
        const OutputNorm& norm = at(k)[i];
        if (norm.parent == p) a_bar += of_parent(norm, q_bar[i], a, errors, errors_bar);
      }
      add_second_moment(parent, next, a_bar, gradient[static_cast<std::size_t>(k + 1)], parents[p]);
    }
    if (!errors_bar.isZero(0.0)) add_expected_errors(network_, k, errors_bar, gradient);
    return parents;
  }

  /// Derivatives in A of Q = B or Q = diag(form(B)), B = diag(scale) A diag(scale).
  [[nodiscard]] Matrix of_parent(const OutputNorm& norm, const QuadraticGradient& q_bar, const Matrix& a,
                                 const Vector& errors, Vector& errors_bar) const {
    Matrix b_bar = q_bar.dense;
    if (norm.diagonal) {
      MetricGradient pulled = form_.pull_back(scaled_both_sides(a, norm.scale), errors, q_bar.diagonal);
      if (pulled.errors.size() > 0) errors_bar += pulled.errors;
      b_bar = std::move(pulled.a);
    }
    if (norm.scale.size() == 0) return b_bar;
    return norm.scale.asDiagonal() * b_bar * norm.scale.asDiagonal();
  }

  const Network& network_;
  const MetricForm& form_;
  Index first_;
  std::vector<std::vector<OutputNorm>> norms_;  ///< entry k: on the outputs of layer k
};

/// The last hidden layer has one error norm, the identity on the outputs.
void add_output(const Network& network, const ErrorNormGradient& error_norm, NetworkGradient& gradient) {
  if (error_norm.norms.empty()) return;
  require(error_norm.error_norm == 0 && error_norm.norms.size() == 1,
          "gradient: expected the only error_norm of the last layer");
  const OutputNorm identity = identity_norm(network.outputs());
  QuadraticGradient unused(identity);
  add_norm(identity, network.layer(network.hidden_count()), error_norm.norms.front(), gradient.back(),
           unused);
}

}  // namespace

void add_weight_variance(const DenseLayer& layer, ConstMatrixRef variance_bar, LayerGradient& gradient) {
  if (independent_variances(layer.weights()) != nullptr) gradient.weight_variance += variance_bar;
}

void add_bias_variance(const DenseLayer& layer, ConstVectorRef variance_bar, LayerGradient& gradient) {
  if (independent_variances(layer.bias()) != nullptr) gradient.bias_variance += variance_bar;
}

void add_error_norm_gradient(const Network& network, const std::vector<ErrorNormGradient>& error_norms,
                             NetworkGradient& gradient) {
  const Index hidden = network.hidden_count();
  require(static_cast<Index>(error_norms.size()) == hidden,
          "gradient: expected one error_norm per hidden layer");
  if (hidden == 0) return;
  add_output(network, error_norms.back(), gradient);
  const std::vector<MetricForm>& forms = closed_forms();
  for (const ErrorNormGradient& error_norm : error_norms) {
    require(error_norm.error_norm < forms.size(), "gradient: error_norm " +
                                                      std::to_string(error_norm.error_norm) +
                                                      " has no derivatives; expected a closed form");
  }
  for (std::size_t f = 0; f < forms.size(); ++f) {
    const auto of_layer = [&](Index k) -> const std::vector<NormGradient>* {
      const ErrorNormGradient& error_norm = error_norms[static_cast<std::size_t>(k - 1)];
      return k < hidden && error_norm.error_norm == f && !error_norm.norms.empty() ? &error_norm.norms
                                                                                   : nullptr;
    };
    Index first = 1;
    while (first < hidden && of_layer(first) == nullptr) ++first;
    if (first < hidden) ErrorNormChainGradient(network, forms[f], first).add(of_layer, gradient);
  }
}

}  // namespace mixcert
