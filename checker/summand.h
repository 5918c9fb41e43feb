// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One neuron of a sum of independent ones, docs/theory/stein.md (Y.2), (Y.3): a = f(m + s x), x standard
// normal.
#pragma once

#include <vector>

#include "activation.h"
#include "complex_ball.h"

namespace mixcert_check {

/// In units of the output's deviation.
struct SummandSizes {
  Ball mean, deviation;  ///< m, s
  Ball weight, noise;    ///< mean and variance of the weight
  Ball center;           ///< mu, any number near E a
  Ball center_error;     ///< no less than |E a - mu|
};

class Summand {
 public:
  /// Nodes are good for frequencies up to `highest`. Throws BadFile where that would take too many.
  Summand(const Activation& f, SummandSizes sizes, const Ball& highest);

  /// Multiplies f_j(kh), k = 1, 2, .., to the numbers.
  void multiply_transforms(const Ball& h, std::vector<ComplexBall>& numbers) const;
  /// E exp(-t^2 V a^2 / 2).
  [[nodiscard]] Ball damping(const Ball& t) const;
  /// E exp(r M (a - mu) + r^2 V a^2 / 2); not finite where that is not known.
  [[nodiscard]] Ball exponential_moment(const Ball& r) const;

 private:
  struct Node {
    Ball weight, difference, value;  ///< a - mu, a
  };
  /// E exp(p (a - mu) + q a^2).
  [[nodiscard]] ComplexBall expectation(const ComplexBall& p, const Ball& q) const;
  [[nodiscard]] ComplexBall by_lines(const ComplexBall& p, const Ball& q) const;
  void add_nodes(const Ball& highest);
  /// Of the rule, where |exp(..)| is at most exp(growth) in the strip.
  [[nodiscard]] Ball rule_error(const Ball& growth) const;
  /// Of real exponents, which grow along the line.
  [[nodiscard]] Ball moment_error(const Ball& lambda, const Ball& kappa) const;

  const Activation& f_;
  SummandSizes at_;
  bool has_rule_ = false;          ///< are nodes those of a rule?
  std::vector<Node> nodes_;        ///< none for lines
  Ball half_width_, step_, move_;  ///< of the strip, the rule; |a(x + iy) - a(x)| is at most move_ in it
};

}  // namespace mixcert_check
