// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Gaussian mixtures as NumPy arrays.
#include <pybind11/stl.h>

#include <cmath>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "mixcert/core/error.h"
#include "mixcert/core/parallel.h"
#include "mixcert/statistics/simulate.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert::python {
namespace {

/// Relative; NumPy's own arithmetic leaves as much.
constexpr double kSymmetryTolerance = 1e-9;

using MixturePointer = std::shared_ptr<GaussianMixture>;

Covariance checked_covariance(Matrix matrix, Index component) {
  const std::string name = "covariances: component " + std::to_string(component) + ": ";
  require(matrix.allFinite(), name + "expected finite numbers, got nan or inf");
  const double scale = matrix.diagonal().cwiseAbs().maxCoeff();
  require((matrix - matrix.transpose()).cwiseAbs().maxCoeff() <= kSymmetryTolerance * scale,
          name + "expected a symmetric matrix, got an unsymmetric one");
  matrix = (0.5 * (matrix + matrix.transpose())).eval();
  require(scale == 0.0 || is_semidefinite(Matrix(matrix / scale), kSymmetryTolerance),
          name + "expected a positive semidefinite matrix, got one with a negative eigenvalue");
  return Covariance::dense(std::move(matrix));
}

Covariance checked_variances(const Vector& variances, Index component) {
  require(variances.allFinite() && variances.minCoeff() >= 0.0,
          "covariances: component " + std::to_string(component) + ": expected variances of at least 0");
  return Covariance::diagonal(variances);
}

/// Weights [c], means [c, d], covariances [c, d, d] or variances [c, d].
MixturePointer mixture_of_arrays(const py::object& weights, const py::object& means,
                                 const py::object& covariances) {
  const Vector shares = to_vector(weights, "weights");
  const Matrix centres = to_matrix(means, "means");
  const Numbers spreads = to_numbers(covariances, "covariances");
  const Index count = shares.size();
  const Index dimension = centres.cols();
  require(centres.rows() == count && dimension > 0 && centres.allFinite(),
          "means: expected finite numbers of shape (" + std::to_string(count) + ", d), got shape (" +
              std::to_string(centres.rows()) + ", " + std::to_string(dimension) + ")");
  const bool dense = spreads.ndim() == 3 && spreads.shape(2) == dimension;
  require((dense || spreads.ndim() == 2) && spreads.shape(0) == count && spreads.shape(1) == dimension,
          "covariances: expected shape (" + std::to_string(count) + ", " + std::to_string(dimension) + ", " +
              std::to_string(dimension) + ") or variances without the last axis, got " + shape_text(spreads));
  std::vector<Gaussian> components;
  const Index step = dense ? dimension * dimension : dimension;
  for (Index c = 0; c < count; ++c) {
    const double* const values = spreads.data() + c * step;
    components.push_back({centres.row(c).transpose(),
                          dense
                              ? checked_covariance(Eigen::Map<const Matrix>(values, dimension, dimension), c)
                              : checked_variances(Eigen::Map<const Vector>(values, dimension), c)});
  }
  return std::make_shared<GaussianMixture>(shares, std::move(components));
}

py::array means_of(const GaussianMixture& mixture) {
  Matrix means(mixture.dimension(), mixture.size());
  for (Index c = 0; c < mixture.size(); ++c) means.col(c) = mixture.component(c).mean;
  return rows_from_columns(means);
}

py::array covariances_of(const GaussianMixture& mixture) {
  const Index dimension = mixture.dimension();
  py::array_t<double> array({mixture.size(), dimension, dimension});
  for (Index c = 0; c < mixture.size(); ++c) {
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        array.mutable_data() + c * dimension * dimension, dimension, dimension) =
        mixture.component(c).covariance.to_dense();
  }
  return array;
}

MixturePointer marginal_of(const GaussianMixture& mixture, const std::vector<Index>& indices) {
  for (const Index index : indices) {
    if (index < 0 || index >= mixture.dimension())
      throw py::index_error("marginal: expected indices in 0.." + std::to_string(mixture.dimension() - 1) +
                            ", got " + std::to_string(index));
  }
  return std::make_shared<GaussianMixture>(mixture.marginal(indices));
}

py::object log_prob(const GaussianMixture& mixture, const py::object& given) {
  bool single = false;
  const Matrix points = to_points(given, "y", mixture.dimension(), single);
  require(!points.hasNaN(), "y: expected numbers, got nan");
  Vector values(points.cols());
  run_interruptibly([&](const CancelFlag& cancel) {
    parallel_for(
        points.cols(), points.cols() < 64 ? 1 : 0,
        [&](Index i) { values[i] = mixture.log_density(points.col(i)); }, &cancel);
  });
  if (single) return py::float_(values[0]);
  return from_vector(values);
}

py::array sample_of(const GaussianMixture& mixture, Index samples, std::uint64_t seed) {
  Matrix drawn;
  run_interruptibly(
      [&](const CancelFlag&) { drawn = sample_mixture(mixture, samples, seed, Stream::Mixture, 0); });
  return rows_from_columns(drawn);
}

}  // namespace

void bind_mixture(py::module_& module) {
  py::class_<GaussianMixture, MixturePointer>(module, "GaussianMixture", "A Gaussian mixture.")
      .def(py::init(&mixture_of_arrays))
      .def_property_readonly("size", &GaussianMixture::size)
      .def_property_readonly("dimension", &GaussianMixture::dimension)
      .def_property_readonly("weights",
                             [](const GaussianMixture& mixture) { return from_vector(mixture.weights()); })
      .def_property_readonly("means", &means_of)
      .def_property_readonly("covariances", &covariances_of)
      .def("mean", [](const GaussianMixture& mixture) { return from_vector(mixture.mean()); })
      .def("cov", [](const GaussianMixture& mixture) { return from_matrix(mixture.covariance()); })
      .def("std", [](const GaussianMixture& mixture) { return from_vector(mixture.standard_deviation()); })
      .def("marginal", &marginal_of)
      .def("log_prob", &log_prob)
      .def("sample", &sample_of);
}

}  // namespace mixcert::python
