// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Validation of weight laws; messages name layer, field, entry, expected and got.
#include "network/layer_validation.h"

#include <cmath>
#include <variant>

#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

// Negative eigenvalues down to this fraction of the largest are rounding of single precision.
constexpr double kSemidefiniteTolerance = 1e-6;
constexpr double kSymmetryTolerance = 1e-5;

class Checker {
 public:
  explicit Checker(const std::string& layer) : layer_(layer) {}

  void shape(const Matrix& tensor, Index rows, Index columns, const std::string& field) const {
    if (tensor.rows() == rows && tensor.cols() == columns) return;
    fail(field, "expected shape [" + std::to_string(rows) + ", " + std::to_string(columns) + "], got [" +
                    std::to_string(tensor.rows()) + ", " + std::to_string(tensor.cols()) + "]");
  }

  void finite(const Matrix& tensor, const std::string& field) const {
    if (tensor.allFinite()) return;
    for (Index i = 0; i < tensor.rows(); ++i) {
      for (Index j = 0; j < tensor.cols(); ++j) {
        if (!std::isfinite(tensor(i, j))) bad_entry(tensor, i, j, field, "a finite number");
      }
    }
  }

  void variances(const Matrix& tensor, Index rows, Index columns, const std::string& field) const {
    shape(tensor, rows, columns, field);
    finite(tensor, field);
    for (Index i = 0; i < tensor.rows(); ++i) {
      for (Index j = 0; j < tensor.cols(); ++j) {
        if (tensor(i, j) < 0.0) bad_entry(tensor, i, j, field, "a variance, at least 0");
      }
    }
  }

  void covariance(Matrix& tensor, Index size, const std::string& field) const {
    shape(tensor, size, size, field);
    finite(tensor, field);
    const double largest = tensor.diagonal().maxCoeff();
    const double asymmetry = (tensor - tensor.transpose()).cwiseAbs().maxCoeff();
    if (asymmetry > kSymmetryTolerance * positive_part(largest)) fail(field, "expected a symmetric matrix");
    tensor = 0.5 * (tensor + tensor.transpose()).eval();
    make_semidefinite(tensor, field);
  }

  void places(SharedWeights& law, Index out, Index in) const {
    if (law.rows_per_group == 0) law.rows_per_group = out;
    if (law.rows_per_group < 0 || out % law.rows_per_group != 0)
      fail("places", "expected equal groups of rows");
    std::vector<Index> row_of(static_cast<std::size_t>(law.variance.size()), -1);
    Index last = 0;
    for (const SharedWeights::Place& place : law.places) {
      const bool inside = place.row >= last && place.row < out && place.column >= 0 && place.column <= in &&
                          place.parameter >= 0 && place.parameter < law.variance.size();
      if (!inside) fail("places", "expected places inside the matrix, sorted by row");
      last = place.row;
      Index& row = row_of[static_cast<std::size_t>(place.parameter)];
      if (row == place.row) fail("places", "expected each parameter at most once in a row");
      if (row >= 0 && row / law.rows_per_group != place.row / law.rows_per_group) {
        fail("places", "expected no parameter in two groups of rows");
      }
      row = place.row;
    }
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& what) const {
    throw InvalidArgument((layer_.empty() ? "dense layer: " : "layer '" + layer_ + "' ") + field + ": " +
                          what);
  }
  [[noreturn]] void bad_entry(const Matrix& tensor, Index i, Index j, const std::string& field,
                              const std::string& expected) const {
    const std::string index = tensor.cols() == 1 ? "[" + std::to_string(i) + "]"
                                                 : "[" + std::to_string(i) + ", " + std::to_string(j) + "]";
    fail(field, "entry " + index + ": expected " + expected + ", got " + format_number(tensor(i, j)));
  }

  void make_semidefinite(Matrix& tensor, const std::string& field) const {
    // A shift of 1e-15 of the trace; without a positive variance the check decides before it is used.
    if (is_semidefinite(tensor, 1e-15 * tensor.trace() / tensor.diagonal().maxCoeff())) return;
    const SymmetricEigen eigen = symmetric_eigen(tensor);
    const double smallest = eigen.values(0);
    if (smallest < -kSemidefiniteTolerance * eigen.values.cwiseAbs().maxCoeff()) {
      fail(field,
           "expected a positive semidefinite matrix, got smallest eigenvalue " + format_number(smallest));
    }
    tensor = eigen.vectors * positive_part(eigen.values).asDiagonal() * eigen.vectors.transpose();
    tensor = 0.5 * (tensor + tensor.transpose()).eval();
  }

  const std::string& layer_;
};

void check_weights(const Checker& check, Index out, Index in, WeightCovariance& weights) {
  std::visit(
      Overloaded{[](DeterministicWeights&) {},
                 [&](MeanFieldWeights& law) { check.variances(law.variance, out, in, "weight.variance"); },
                 [&](KroneckerWeights& law) {
                   check.covariance(law.row_covariance, out, "weight.row_covariance");
                   check.covariance(law.column_covariance, in, "weight.column_covariance");
                 },
                 [&](KroneckerEigenbasisWeights& law) {
                   check.shape(law.row_basis, out, out, "weight.row_basis");
                   check.shape(law.column_basis, in, in, "weight.column_basis");
                   check.finite(law.row_basis, "weight.row_basis");
                   check.finite(law.column_basis, "weight.column_basis");
                   check.variances(law.variance, out, in, "weight.variance");
                 },
                 [&](LowRankWeights& law) {
                   check.variances(law.variance, out, in, "weight.variance");
                   for (const Matrix& column : law.factor) {
                     check.shape(column, out, in, "weight.factor");
                     check.finite(column, "weight.factor");
                   }
                   if (law.bias_factor.size() == 0) return;
                   check.shape(law.bias_factor, out, static_cast<Index>(law.factor.size()), "bias.factor");
                   check.finite(law.bias_factor, "bias.factor");
                 },
                 [&](FullWeights& law) { check.covariance(law.covariance, out * in, "weight.covariance"); },
                 [&](JointWeights& law) { check.covariance(law.covariance, out * (in + 1), "covariance"); },
                 [&](SharedWeights& law) {
                   check.variances(law.variance, law.variance.size(), 1, "weight.variance");
                   check.places(law, out, in);
                 }},
      weights);
}

}  // namespace

void validate_law(const std::string& layer, const Matrix& weight_mean, const Vector& bias_mean,
                  WeightCovariance& weights, BiasCovariance& bias) {
  const Checker check(layer);
  const Index out = weight_mean.rows();
  const Index in = weight_mean.cols();
  require(out > 0 && in > 0, "layer '" + layer + "' weight.mean: expected at least one row and column");
  check.finite(weight_mean, "weight.mean");
  check.shape(bias_mean, out, 1, "bias.mean");
  check.finite(bias_mean, "bias.mean");
  check_weights(check, out, in, weights);
  std::visit(
      Overloaded{[](DeterministicBias&) {},
                 [&](IndependentBias& law) { check.variances(law.variance, out, 1, "bias.variance"); },
                 [&](CorrelatedBias& law) { check.covariance(law.covariance, out, "bias.covariance"); }},
      bias);
  require(!includes_bias(weights) || is_deterministic(bias),
          "layer '" + layer + "' bias: its law is part of the joint covariance and cannot be given twice");
}

}  // namespace mixcert
