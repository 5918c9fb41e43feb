// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the moments of one neuron at all inputs, (J.2) and (J.4): from what a number says about
// mean, covariance and fourth moments of the activation back to mean and covariance of its argument.
#pragma once

#include "methods/joint/neuron_moments.h"

namespace mixcert {

/// Derivatives in what CrossMoments has of one neuron.
struct NeuronCotangent {
  Vector mean;
  Matrix covariance;  ///< symmetric
  double error = 0.0;
  Matrix fourth;  ///< symmetric
  double fourth_error = 0.0;

  static NeuronCotangent zero(Index inputs) {
    return {Vector::Zero(inputs), Matrix::Zero(inputs, inputs), 0.0, Matrix::Zero(inputs, inputs), 0.0};
  }
};

/// Derivatives in mean and covariance of z over the inputs; the matrix is symmetric.
struct BlockCotangent {
  Vector mean;
  Matrix covariance;
};

/// What is still to be pulled back while a neuron's formulas are read backwards.
struct NeuronTape {
  Matrix coefficients;  ///< in c_pd, D x (order + 1); column 0 is the mean
  Vector variance;      ///< in Var a_d
  Vector slope_energy;
  Vector leftover;
  Vector mean;         ///< in m
  Vector deviation;    ///< in s
  Matrix correlation;  ///< in r; the diagonal is ignored
  Matrix activation_covariance;
  Matrix covariance;  ///< in C, directly
  double error = 0.0;
};

class NeuronGradient {
 public:
  /// `moments` must outlive this.
  explicit NeuronGradient(const NeuronMoments& moments) : at_(moments) {}

  [[nodiscard]] BlockCotangent pull_back(const NeuronCotangent& cotangent) const;

 private:
  void pull_error(NeuronTape& tape) const;
  void pull_series(NeuronTape& tape) const;
  void pull_correlation(NeuronTape& tape) const;
  void pull_expansions(NeuronTape& tape) const;

  const NeuronMoments& at_;
};

/// The fourth-moment part of it: adds to the tape.
class FourthGradient {
 public:
  explicit FourthGradient(const NeuronMoments& moments) : at_(moments) {}

  /// Derivatives in matrix and error of the bound that NeuronMoments chose.
  void pull_back(const Matrix& matrix, double error, NeuronTape& tape) const;

 private:
  void pull_supremum(double square, NeuronTape& tape) const;
  void pull_tail(double start, double square, double error, NeuronTape& tape) const;
  void pull_stein(const Matrix& matrix, double error, NeuronTape& tape) const;
  using Sums = NeuronMoments::SteinSums;
  void pull_stein_matrix(const Matrix& y, double error, NeuronTape& tape) const;
  void pull_stein_error(double error, const Matrix& w, Matrix& of_w, NeuronTape& tape) const;
  void pull_sums(const Sums& of, NeuronTape& tape) const;
  void pull_distance(double kappa, NeuronTape& tape) const;
  [[nodiscard]] double distance() const;

  const NeuronMoments& at_;
};

}  // namespace mixcert
