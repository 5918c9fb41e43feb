// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "proof.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "line_distance.h"
#include "moments.h"

namespace mixcert_check {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string length(std::size_t size) { return std::to_string(size); }

/// W2 between the computed Gaussian and N(mean, covariance), (I.3): that of the means and, by the coupling of
/// both with one standard normal vector, |C^{1/2} - D^{1/2}|_F. Its square is at most the trace norm of C - D
/// (Powers and Stormer), itself at most n^{1/2} |C - D|_F; and it is at most |C - D|_F / (c^{1/2} + d^{1/2}),
/// c and d their least eigenvalues: X = C^{1/2} - D^{1/2} solves C^{1/2} X + X D^{1/2} = C - D. For one
/// output it is the difference of the deviations.
Ball distance(const GaussianLaw& law, const Balls& mean, const BallMatrix& covariance) {
  Ball apart;
  for (std::size_t i = 0; i < mean.size(); ++i) apart += square(law.mean[i] - mean[i]);
  const BallMatrix& own = *law.covariance;
  if (mean.size() == 1) return root(apart + square(root(own.at(0, 0)) - root(covariance.at(0, 0))));
  Ball spread;
  for (slong i = 0; i < own.rows(); ++i) {
    for (slong j = 0; j < own.columns(); ++j) spread += square(own.at(i, j) - covariance.at(i, j));
  }
  const Ball by_trace = root(root(spread * Ball(static_cast<double>(mean.size()))));
  const Ball least = root(least_eigenvalue(own)) + root(least_eigenvalue(covariance));
  return root(apart) + (least.is_positive() ? smaller(by_trace, root(spread) / least) : by_trace);
}

/// Throws NotProven where the claim is below `bound`, which is made of `terms`.
Checked finished(Checked checked, const Ball& bound, const std::string& terms) {
  checked.proven = upper_end(bound);
  if (!(checked.proven <= checked.claimed)) {
    throw NotProven("the claimed bound " + number(checked.claimed) + " is below what was proven, " +
                    number(checked.proven) + " (" + terms + ")");
  }
  return checked;
}

Ball carried(const Step& step, const std::vector<Norm>& norms) {
  Ball total;
  for (const Norm& norm : norms) total += norm.factor * root(step.squared_error(norm));
  return total;
}

/// (Y.1): W2 of the one output's law and N(mean, variance), its neurons being independent of each other.
Ball output_law_distance(const GaussianLaw& law, const Activation& f, const Layer& last, const Ball& mean,
                         const Ball& variance) {
  const Ball sigma = root(variance);
  Ball shift = Ball(last.bias_mean.front()) - mean, noise = Ball(last.bias_variance.front()) / variance;
  const Ball bias_variance = noise;
  std::vector<SummandSizes> neurons;
  for (std::size_t j = 0; j < law.mean.size(); ++j) {
    const auto at = static_cast<slong>(j);
    const Ball deviation = root(law.variances[j]);
    const Moments a = moments_of(f, law.mean[j], deviation);
    const Ball center = a.mean.about(), weight_variance = last.variance.at(0, at) / variance;
    neurons.push_back({law.mean[j], deviation, last.mean.at(0, at) / sigma, weight_variance, center,
                       absolute(a.mean - center)});
    shift += last.mean.at(0, at) * center;
    noise += weight_variance * a.second;
  }
  const SumOfNeurons sum(f, std::move(neurons), bias_variance, noise.about());
  return sigma * distance_to_normal(sum.law()) + absolute(shift);
}

}  // namespace

Proof::Proof(const Model& model, Block head)
    : model_(model),
      head_(std::move(head)),
      rounded_layers_(model.layers.begin(), model.layers.end()),
      output_norm_{output_norm(model)} {
  if (head_.text("format") != "mixcert-proof" || head_.text("version") != "1") {
    throw BadFile("expected a mixcert-proof of version 1");
  }
  if (head_.text("model") != model.sha256) {
    throw NotProven("the proof is about another model: its SHA-256 is " + head_.text("model") +
                    ", that of the file " + model.sha256);
  }
}

const std::vector<std::vector<Norm>>& Proof::norms(const std::string& chain) {
  const auto known = norms_.find(chain);
  if (known != norms_.end()) return known->second;
  return norms_.emplace(chain, carried_norms(model_, head_, chain)).first->second;
}

Checked Proof::check(const Block& claim) {
  try {
    return check(claim, rounded_layers_);
  } catch (const NotProven&) {
    return check(claim, {});
  }
}

Checked Proof::check(const Block& claim, const std::vector<RoundedLayer>& rounded) {
  const auto in_doubles = [&rounded](std::size_t k) { return rounded.empty() ? nullptr : &rounded[k]; };
  const std::size_t last = model_.layers.size() - 1;
  const long outputs = model_.layers.back().outputs;
  const Json named = Json::parse(claim.text("chains"));
  const std::vector<Json>& chains = named.list();
  if (chains.size() != last) {
    throw BadFile("chains: expected " + length(last) + ", one for each hidden layer, got " +
                  length(chains.size()));
  }
  Checked checked;
  checked.input = Json::parse(claim.text("index")).whole(1L << 40);
  checked.claimed = claim.values("w2_bound", {1}).front();
  const BallMatrix covariance(outputs, outputs, claim.values("covariance", {outputs, outputs}));
  if (!is_symmetric(covariance)) throw NotProven("the covariance is not symmetric");
  if (!proves_semidefinite(covariance))
    throw NotProven("the covariance was not proven positive semidefinite");

  GaussianLaw law =
      first_law(model_.layers[0], in_doubles(0), claim.values("input", {model_.layers[0].inputs}));
  const Balls mean = balls(claim.values("mean", {outputs}));
  if (claim.metadata.count("theorem") > 0) {
    const bool applies = claim.text("theorem") == "Y.1" && last == 1 && outputs == 1 && !law.covariance &&
                         !model_.masks[0].is_random && model_.layers[1].has_independent_outputs();
    if (!applies) throw BadFile("not covered: theorem " + claim.text("theorem") + " for this network");
    const Ball distance =
        output_law_distance(law, model_.activations[0], model_.layers[1], mean.front(), covariance.at(0, 0));
    return finished(checked, distance, "theorem Y.1");
  }
  Ball total;
  std::string terms;
  for (std::size_t k = 1; k <= last; ++k) {
    const Step step(law, model_.activations[k - 1], model_.masks[k - 1], model_.layers[k], in_doubles(k));
    const Ball term = carried(step, k == last ? output_norm_ : norms(chains[k - 1].text())[k]);
    total += term;
    terms += (k > 1 ? ", layer " : "layer ") + length(k) + " " + number(upper_end(term));
    law = step.pushed();
  }
  const Ball apart = distance(law, mean, covariance);
  return finished(checked, total + apart, terms + ", the Gaussian itself " + number(upper_end(apart)));
}

}  // namespace mixcert_check
