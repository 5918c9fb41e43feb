// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Evaluation of the additive certificate, docs/theory/metrics.md (M.2). Each term takes the
// chain of metrics that makes it smallest: the triangle inequality is applied once, and
// every term is carried to the output by a chain of its own.
#include "methods/signature/signature_certificate.h"

#include <cmath>
#include <limits>

#include "certificate/reduction.h"
#include "certificate/replaced_weights.h"
#include "certificate/rounding_terms.h"
#include "mixcert/core/error.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

std::vector<const MetricChain*> chains_of(const Sensitivity& sensitivity, CertificateForm form) {
  if (form == CertificateForm::Paper) return {&sensitivity.paper};
  if (form == CertificateForm::Expected) return {&sensitivity.expected};
  std::vector<const MetricChain*> chains;
  for (const MetricChain& chain : sensitivity.metrics) chains.push_back(&chain);
  return chains;
}

/// Evaluates the terms of one hidden layer for one chain.
class LayerEvaluator {
 public:
  LayerEvaluator(const Network& network, const Sensitivity& sensitivity, const SignatureLayerTrace& layer,
                 Index number, Index input_count, CertificateForm form)
      : network_(network),
        sensitivity_(sensitivity),
        layer_(layer),
        number_(number),
        input_count_(input_count),
        activation_(network.activation(number)),
        errors_(local_errors(layer, activation_, input_count, form != CertificateForm::Paper)) {}

  /// Signature and rounding, on the activations.
  [[nodiscard]] Distances local(const MetricChain& chain) const {
    const Vector g = weights(chain);
    const UpperBound rounding = {0.0, rounding_term(chain, g)};
    const UpperBound root_inflation = inflation_root(chain);
    UpperBound squared;
    UpperBound mean;
    const Vector nominal = errors_.nominal.transpose() * g;
    const Vector upper = errors_.upper.transpose() * g;
    for (Index j = 0; j < layer_.after.size(); ++j) {
      const UpperBound weight = UpperBound::exact(layer_.after.weights()(j));
      const UpperBound error = {nominal(j), next_up(upper(j) * (1.0 + rounding_gamma(g.size() + 2)))};
      squared = squared + weight * error;
      mean = mean + weight * sqrt(error);
    }
    const UpperBound w1 = g.size() == 1 ? min(mean, one_dimensional_w1(g(0))) : mean;
    const UpperBound more = rounding + mask_term(chain) + replaced_weights(chain);
    return {sqrt(squared) * root_inflation + more, w1 * root_inflation + more};
  }

  /// Compression, on the pre-activations in G = l^2 diag(g).
  [[nodiscard]] Distances compression(const MetricChain& chain) const {
    return compression_distances(layer_, weights(chain), lipschitz() * inflation_root(chain));
  }

  /// What local() is the sum of: signature, masks and replaced weights, each under a root of its own.
  [[nodiscard]] std::vector<RootParts> parts(const MetricChain& chain) const {
    std::vector<RootParts> roots(3);
    const Vector g = weights(chain);
    for (Index j = 0; j < layer_.after.size(); ++j) {
      const Vector errors = layer_.after.weights()(j) * g.cwiseProduct(errors_.nominal.col(j));
      SquareParts parts;
      parts.activations = per_neuron(errors);
      parts.directions = by_direction(j, layer_.after.weights()(j) * g, errors);
      roots[0].parts.add(1.0, parts);
    }
    if (layer_.mask_errors.size() > 0) {
      roots[1].parts.masks = per_neuron(mask_metric(chain).cwiseProduct(layer_.mask_errors));
    }
    const Vector replaced = replaced_errors();
    if (replaced.size() > 0) roots[2].parts.replaced = output_metric(chain).cwiseProduct(replaced);
    return roots;
  }

  [[nodiscard]] double gain(const MetricChain& chain) const {
    const auto k = static_cast<std::size_t>(number_ - 1);
    return (lipschitz() *
            sqrt(UpperBound::exact(chain.activation_weights[k].maxCoeff<Eigen::PropagateNaN>())) *
            inflation_root(chain))
        .upper;
  }

 private:
  [[nodiscard]] UpperBound lipschitz() const {
    return sensitivity_.lipschitz[static_cast<std::size_t>(number_ - 1)];
  }
  [[nodiscard]] Vector weights(const MetricChain& chain) const {
    return over_inputs(chain.activation_weights[static_cast<std::size_t>(number_ - 1)], input_count_);
  }
  [[nodiscard]] UpperBound inflation_root(const MetricChain& chain) const {
    const double factor = chain.inflation[static_cast<std::size_t>(number_ - 1)];
    return {1.0, next_up(std::sqrt(factor))};
  }

  /// G_{k+1} of the next layer's outputs, its inflation included.
  [[nodiscard]] Vector output_metric(const MetricChain& chain) const {
    if (number_ == network_.hidden_count()) return Vector::Ones(network_.outputs());
    const auto k = static_cast<std::size_t>(number_);
    const double l = sensitivity_.lipschitz[k].upper;
    return l * l * chain.inflation[k] * chain.activation_weights[k];
  }

  /// Rounding of this layer's signature, of masked points, and of the push into the next layer's metric.
  [[nodiscard]] double rounding_term(const MetricChain& chain, const Vector& g) const {
    double norm = activation_norm_bound(layer_, activation_);
    double masks = 0.0;
    if (layer_.mask_errors.size() > 0) {
      norm *= (1.0 + 1e-12) / network_.mask(number_).keep();
      const double relative =
          4.0 * std::sqrt(rounding_gamma(4 * layer_.points + 4 * layer_.mask_leaves + 256));
      masks = relative * norm * std::sqrt(g.maxCoeff<Eigen::PropagateNaN>());
    }
    const double root = inflation_root(chain).upper * (1.0 + 1e-9);
    return (signature_rounding(layer_, activation_, g) + masks) * root +
           PushRounding(network_.layer(number_), norm, input_count_).in(output_metric(chain)) * (1.0 + 1e-9);
  }

  [[nodiscard]] Vector mask_metric(const MetricChain& chain) const {
    return over_inputs(chain.mask_weights[static_cast<std::size_t>(number_ - 1)], input_count_);
  }

  /// Masks that are not enumerated (D.5), (D.6).
  [[nodiscard]] UpperBound mask_term(const MetricChain& chain) const {
    if (layer_.mask_errors.size() == 0) return {};
    require(!layer_.unperturbed || &chain == &sensitivity_.paper,
            "certificate: masks left unperturbed need the paper's constants");
    const Vector weights = mask_metric(chain);
    return sqrt(UpperBound::of_sum(weights.dot(layer_.mask_errors), 2 * weights.size() + 8)) *
           inflation_root(chain);
  }

  /// Weights that are not Gaussian (W.1), per output of the next layer; empty without any.
  [[nodiscard]] Vector replaced_errors() const {
    const DenseLayer& next = network_.layer(number_);
    if (next.is_gaussian() || layer_.second_moments.size() == 0) return {};
    return replaced_weight_errors(next, layer_.second_moments, input_count_);
  }
  [[nodiscard]] UpperBound replaced_weights(const MetricChain& chain) const {
    const Vector errors = replaced_errors();
    if (errors.size() == 0) return {};
    return sqrt(UpperBound::of_sum(output_metric(chain).dot(errors), 2 * errors.size() + 16));
  }

  /// Sums over inputs of numbers per coordinate.
  [[nodiscard]] Vector per_neuron(const Vector& coordinates) const {
    return coordinates.reshaped(input_count_, coordinates.size() / input_count_).colwise().sum();
  }

  /// `errors` of component j, the metric g included, as what the axes of its grid leave out, and the axes
  /// (X.3).
  [[nodiscard]] Vector by_direction(Index j, const Vector& g, const Vector& errors) const {
    const GridSignature& signature = layer_.signatures[static_cast<std::size_t>(j)];
    const double l2 = lipschitz().nominal * lipschitz().nominal;
    Vector amounts(signature.axis_count() + 1);
    for (Index d = 0; d < signature.axis_count(); ++d) {
      const auto axis = static_cast<std::size_t>(d);
      amounts(d + 1) = !signature.coordinates.empty() ? errors(signature.coordinates[axis])
                                                      : l2 * signature.quantizers[axis]->distortion.nominal *
                                                            g.dot(signature.directions.col(d).cwiseAbs2());
    }
    amounts(0) = errors.sum() - amounts.tail(signature.axis_count()).sum();
    return amounts;
  }

  /// (S.5): one coordinate, E|s(z) - s(c)| <= l deviation E|x - location|.
  [[nodiscard]] UpperBound one_dimensional_w1(double g) const {
    UpperBound mean;
    for (Index j = 0; j < layer_.after.size(); ++j) {
      const GridSignature& signature = layer_.signatures[static_cast<std::size_t>(j)];
      const NormalQuantizer& quantizer =
          signature.axis_count() == 1 ? *signature.quantizers.front() : optimal_quantizer(1);
      const double deviation = std::sqrt(layer_.after.component(j).covariance.trace());
      mean = mean + UpperBound::of_sum(layer_.after.weights()(j) * deviation, 4) * quantizer.mean_distance;
    }
    return mean * lipschitz() * sqrt(UpperBound::exact(g));
  }

  const Network& network_;
  const Sensitivity& sensitivity_;
  const SignatureLayerTrace& layer_;
  Index number_;
  Index input_count_;
  const ActivationMap& activation_;
  LocalErrors errors_;
};

}  // namespace

namespace {

LayerTerms terms_of(const Network& network, const Sensitivity& sensitivity, const SignatureLayerTrace& layer,
                    Index layer_number, Index input_count, CertificateForm form) {
  require(static_cast<Index>(layer.signatures.size()) == layer.after.size(),
          "certificate: the trace lacks signatures");
  const LayerEvaluator evaluator(network, sensitivity, layer, layer_number, input_count, form);
  const std::vector<const MetricChain*> chains = chains_of(sensitivity, form);
  const double infinity = std::numeric_limits<double>::infinity();
  LayerTerms terms;
  terms.local = terms.local_w1 = {infinity, infinity};
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const auto local = evaluator.local(*chains[c]);
    terms.local_w1 = min(terms.local_w1, local.w1);
    if (local.w2.upper >= terms.local.upper) continue;
    terms.local = local.w2;
    terms.chain = c;
  }
  const MetricChain* best = chains[terms.chain];
  terms.metric = best->name;
  terms.gain = evaluator.gain(*best);
  // Transport costs are the expensive part: the first (scalar) chain and the best one suffice.
  auto compression = evaluator.compression(*chains.front());
  if (!layer.plan.empty()) terms.compression_metric = chains.front()->name;
  if (best != chains.front() && !layer.plan.empty()) {
    const auto other = evaluator.compression(*best);
    if (other.w2.upper < compression.w2.upper) terms.compression_metric = best->name;
    compression = {min(compression.w2, other.w2), min(compression.w1, other.w1)};
  }
  terms.compression = compression.w2;
  terms.compression_w1 = min(compression.w1, compression.w2);
  terms.local_w1 = min(terms.local_w1, terms.local);
  return terms;
}

}  // namespace

LayerTerms evaluate_signature_layer(const Network& network, const Sensitivity& sensitivity,
                                    const Sealed<SignatureLayerTrace>& layer, Index layer_number,
                                    Index input_count, CertificateForm form) {
  return terms_of(network, sensitivity, *layer, layer_number, input_count, form);
}

BoundContributions signature_contributions(const Network& network, const Sensitivity& sensitivity,
                                           const Sealed<SignatureTrace>& trace,
                                           const Certificate& certificate) {
  const std::vector<const MetricChain*> chains = chains_of(sensitivity, certificate.form);
  return contributions_of(certificate, [&](std::size_t k, const LayerTerms& terms) {
    const LayerEvaluator evaluator(network, sensitivity, trace->layers[k], static_cast<Index>(k) + 1,
                                   trace->input_count, certificate.form);
    return evaluator.parts(*chains[terms.chain]);
  });
}

Certificate evaluate_signature_certificate(const Network& network, const Sensitivity& sensitivity,
                                           const Sealed<SignatureTrace>& trace, CertificateForm form) {
  const SignatureTrace& made = *trace;
  require(static_cast<Index>(made.layers.size()) == network.hidden_count(),
          "certificate: the trace has the wrong number of layers");
  Certificate certificate;
  certificate.form = form;
  require_moderate(made.output, network, sensitivity, network.hidden_count());
  certificate.first = first_layer_error(network, sensitivity, *chains_of(sensitivity, form).front(),
                                        made.first, made.input_count) +
                      UpperBound{0.0, made.settled};
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const SignatureLayerTrace& layer = made.layers[static_cast<std::size_t>(k - 1)];
    require_moderate(layer.before, network, sensitivity, k - 1);
    require_moderate(layer.after, network, sensitivity, k - 1);
    require(network.mask(k).is_none() || layer.mask_errors.size() > 0, "certificate: the trace lacks masks");
    certificate.layers.push_back(terms_of(network, sensitivity, layer, k, made.input_count, form));
  }
  certificate.add_up();
  return certificate;
}

}  // namespace mixcert
