// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certified answers about a network's law, from its mixture and bound: means and deviations (U.1 - U.3),
// probabilities (U.4 - U.6), credible intervals (U.7), expectations and classes (U.10 - U.13).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/types.h"

namespace mixcert {

// Expectations under a mixture that have no closed form: means over independent samples, with intervals that
// hold for every number of samples but for a stated probability (U.10). Not asymptotic, unlike (C.4): the
// functions are bounded. The generator's numbers count as independent and uniform.

struct IntegrationOptions {
  /// Samples of the mixture per law; widths fall like 1/sqrt(samples).
  Index samples = 100000;
  /// Of all intervals of one law together: the chance that one of them misses the mixture's value.
  double failure_probability = 1e-9;
  std::uint64_t seed = 0;
};

/// Means of functions with values in [0, 1] over independent samples (functions x samples, two samples or
/// more), as intervals that all hold together but for `failure_probability` (U.10). The estimate is the
/// sample mean. Throws InvalidArgument where a value lies outside.
std::vector<Interval> sampled_means(ConstMatrixRef values, double failure_probability);

// Mean, standard deviation and covariances of a certified law as intervals (U.1 - U.3). They are sharp: every
// end is attained by a law within the W2 bound, up to rounding. Joint laws: coordinates of the stacked
// vector.

Interval certified_mean(const CertifiedLine& line);
/// Of y + e with independent e of standard deviation `noise`, sharper than that of line.with_noise(noise)
/// (U.8).
Interval certified_deviation(const CertifiedLine& line, double noise = 0.0);

struct MomentAnswers {
  std::vector<Interval> means;
  std::vector<Interval> deviations;
};

/// Of every output.
MomentAnswers certified_moments(const CertifiedLaw& law);

/// Entry (i, j) of the three matrices belongs together.
struct CovarianceAnswers {
  Matrix estimate;
  Matrix lower;
  Matrix upper;

  [[nodiscard]] Interval entry(Index i, Index j) const { return {estimate(i, j), lower(i, j), upper(i, j)}; }
};

/// Covariances of the chosen outputs, in their order. Throws InvalidArgument where an index is out of range.
CovarianceAnswers certified_covariances(const CertifiedLaw& law, const std::vector<Index>& outputs);
/// Of all outputs: three matrices of dimension x dimension.
CovarianceAnswers certified_covariances(const CertifiedLaw& law);

/// How far a mixture on the line is from the Gaussian with its mean and deviation: of the mixture, not of the
/// network, and not proven. A law without deviation is normal.
struct Normality {
  double skewness = 0.0;
  double excess_kurtosis = 0.0;
  double gaussian_distance = 0.0;  ///< W2 to that Gaussian, in deviations, by a sum over quantiles
};
Normality normality(const LineMixture& mixture);

// Probabilities of a certified law as intervals (U.4 - U.6). All ends hold for the statement with "greater"
// and with "greater or equal": upper ends are those of the closed set, lower ends those of the open one.

struct ProbabilityAnswer {
  Interval interval{0.0, 0.0, 1.0};
  /// The ends hold but for this probability: zero unless they come from samples of the mixture.
  double failure_probability = 0.0;
  /// The smoothing widths behind the two ends; 0 where none was needed or none helped.
  double lower_width = 0.0;
  double upper_width = 0.0;
  /// Is it the computed law that says most (U.20)?
  bool is_computed = false;
};

/// P(y > threshold), sharp (U.5).
ProbabilityAnswer probability_above(const CertifiedLine& line, double threshold);

/// P(lower < y < upper), sharp (U.5); either end may be infinite.
ProbabilityAnswer probability_between(const CertifiedLine& line, double lower, double upper);

/// P(statement). A half-space or a slab is answered in closed form; other statements by samples of the
/// mixture (U.6) together with what the single half-spaces say.
ProbabilityAnswer probability(const CertifiedLaw& law, const Statement& statement,
                              const IntegrationOptions& options = {});

struct MostLikelyClass {
  Index predicted = 0;   ///< the class with the largest estimate
  bool settled = false;  ///< its lower end exceeds the upper ends of all others
  /// Of each class: the probability that its output exceeds all others. All hold together but for
  /// the failure probability that each of them carries.
  std::vector<ProbabilityAnswer> probabilities;
};

/// Which of `classes` outputs from `first` on is most probably the largest.
MostLikelyClass most_likely_class(const CertifiedLaw& law, Index first, Index classes,
                                  const IntegrationOptions& options = {});

// Intervals that are proven to hold at least the asked mass of a certified law (U.7).

struct CredibleInterval {
  double lower = 0.0;
  double upper = 0.0;
  double level = 0.0;         ///< no more than P_p(lower <= y <= upper)
  double enlargement = 0.0;   ///< what either side was moved out from where the search began
  double mixture_mass = 0.0;  ///< P_q(lower < y < upper)
};

/// The shorter of two: the mixture's central interval of mass `level` and the mixture's mean, both enlarged
/// equally on both sides until the proof succeeds. Infinite where there is no bound. Throws InvalidArgument
/// unless 0 < level < 1.
CredibleInterval credible_interval(const CertifiedLine& line, double level);

// Expectations under the true law: of Lipschitz functions (U.11), of the softmax probabilities of classes
// (U.12) and of their differences (U.13), by which the predicted class is settled or not. Outputs of the law
// are logits. Expectations under the mixture are means over samples (U.10).

/// E_p f for an f with Lipschitz constant `constant`, from the range that E_q f lies in (U.11).
Interval lipschitz_expectation(const CertifiedLaw& law, const Interval& mixture_value, double constant);

/// The same of a function with values in [low, high], E_q f by samples. `index` selects the random stream.
Interval lipschitz_expectation(const CertifiedLaw& law, const std::function<double(ConstVectorRef)>& function,
                               double low, double high, double constant, const IntegrationOptions& options,
                               std::uint64_t index = 0);

struct ClassAnswer {
  /// E_p softmax_c of every class.
  std::vector<Interval> probabilities;
  /// The class with the largest E_q softmax_c.
  Index predicted = 0;
  /// E_p softmax_predicted - E_p softmax_j; 0 at j = predicted.
  std::vector<Interval> margins;
  /// Is `predicted` proven to be the class with the largest E_p softmax_c?
  bool settled = false;
};

/// Two outputs or more. All intervals hold together but for options.failure_probability. `index` selects the
/// random stream: one per input.
ClassAnswer class_answer(const CertifiedLaw& law, const IntegrationOptions& options, std::uint64_t index = 0);

}  // namespace mixcert
