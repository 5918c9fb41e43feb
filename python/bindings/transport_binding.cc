// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Distances between laws, and laws on finitely many points.
#include <cmath>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixcert/transport/mixture_transport.h"
#include "quantize/signature.h"

namespace mixcert::python {
namespace {

double mixture_distance(const GaussianMixture& from, const GaussianMixture& to) {
  require(from.dimension() == to.dimension(), "mw2: expected mixtures of one dimension, got " +
                                                  std::to_string(from.dimension()) + " and " +
                                                  std::to_string(to.dimension()));
  double distance = 0.0;
  run_interruptibly([&](const CancelFlag&) { distance = mixture_transport(from, to).distance; });
  return distance;
}

/// Rows of a sample; an array of rank 1 holds points on the line.
Matrix sample_columns(const py::object& given, const std::string& name) {
  const Numbers numbers = to_numbers(given, name);
  const Index rank = numbers.ndim();
  require((rank == 1 || rank == 2) && numbers.size() > 0,
          name + ": expected samples of shape (n,) or (n, d), got " + shape_text(numbers));
  const Index dimension = rank == 2 ? numbers.shape(1) : 1;
  Matrix columns = Eigen::Map<const Matrix>(numbers.data(), dimension, numbers.shape(0));
  require(columns.allFinite(), name + ": expected finite numbers, got nan or inf");
  return columns;
}

double sample_distance(const py::object& first, const py::object& second) {
  const Matrix a = sample_columns(first, "a");
  const Matrix b = sample_columns(second, "b");
  require(a.rows() == b.rows() && a.cols() == b.cols(),
          "wasserstein2: expected as many points of the same dimension, got (" + std::to_string(a.cols()) +
              ", " + std::to_string(a.rows()) + ") and (" + std::to_string(b.cols()) + ", " +
              std::to_string(b.rows()) + ")");
  double distance = 0.0;
  run_interruptibly([&](const CancelFlag&) { distance = empirical_wasserstein2(a, b); });
  return distance;
}

double gelbrich_distance(const py::object& mean_a, const py::object& covariance_a, const py::object& mean_b,
                         const py::object& covariance_b) {
  const Vector a = to_vector(mean_a, "mean_a");
  const Vector b = to_vector(mean_b, "mean_b");
  const Matrix first = to_matrix(covariance_a, "cov_a");
  const Matrix second = to_matrix(covariance_b, "cov_b");
  const Index size = a.size();
  require(
      b.size() == size && first.rows() == size && first.cols() == size && second.rows() == size &&
          second.cols() == size,
      "gelbrich: expected means of one size d and covariances of shape (d, d), d = " + std::to_string(size));
  require(a.allFinite() && b.allFinite() && first.allFinite() && second.allFinite(),
          "gelbrich: expected finite numbers, got nan or inf");
  return std::sqrt(positive_part(gelbrich_squared(a, first, b, second)));
}

/// Points [n, d], their probabilities, and W2 between the mixture and them from above.
py::tuple quantize_mixture(const GaussianMixture& mixture, Index points) {
  const Index dimension = mixture.dimension();
  const Vector metric = Vector::Ones(dimension);
  std::vector<DiscreteLaw> laws;
  double square = 0.0;
  Index total = 0;
  run_interruptibly([&](const CancelFlag& cancel) {
    for (Index c = 0; c < mixture.size(); ++c) {
      if (cancel.load()) throw Interrupted("interrupted");
      const Gaussian& gaussian = mixture.component(c);
      const GridSignature signature = grid_signature(gaussian.covariance, metric, points, optimal_quantizer);
      square += mixture.weights()[c] *
                positive_part(signature.mean_square_errors(gaussian.covariance.variances())).sum();
      laws.push_back(signature.points(gaussian.mean));
      total += laws.back().weights.size();
    }
  });
  Matrix places(dimension, total);
  Vector weights(total);
  Index begin = 0;
  for (Index c = 0; c < mixture.size(); ++c) {
    const DiscreteLaw& law = laws[static_cast<std::size_t>(c)];
    places.middleCols(begin, law.weights.size()) = law.points;
    weights.segment(begin, law.weights.size()) = mixture.weights()[c] * law.weights;
    begin += law.weights.size();
  }
  return py::make_tuple(rows_from_columns(places), from_vector(weights), std::sqrt(square));
}

}  // namespace

void bind_transport(py::module_& module) {
  module.def("mw2", &mixture_distance);
  module.def("wasserstein2", &sample_distance);
  module.def("gelbrich", &gelbrich_distance);
  module.def("quantize", &quantize_mixture);
}

}  // namespace mixcert::python
