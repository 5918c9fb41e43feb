// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading result archives. The file may come from anywhere, so everything that the
// comparison relies on is checked: shapes, signs, symmetry, semidefiniteness.
#include <cmath>
#include <new>

#include "io/files/file_error.h"
#include "io/formats/elements.h"
#include "io/formats/npy.h"
#include "io/results/result_parts.h"
#include "mixcert/core/error.h"
#include "mixcert/io/input_file.h"
#include "mixcert/io/result_file.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

/// Relative to the largest variance: what rounding may leave of asymmetry and negative
/// eigenvalues.
constexpr double kCovarianceTolerance = 1e-9;

void require_psd(const Matrix& covariance, const std::string& file, const std::string& field) {
  const double scale = covariance.cwiseAbs().maxCoeff();
  if (scale == 0.0) return;
  const Matrix scaled = covariance / scale;
  if ((scaled - scaled.transpose()).cwiseAbs().maxCoeff() > kCovarianceTolerance) {
    io::bad_file(file, field, "a symmetric matrix", "an unsymmetric one");
  }
  if (!is_semidefinite(scaled, kCovarianceTolerance)) {
    io::bad_file(file, field, "a positive semidefinite matrix", "one with a negative eigenvalue");
  }
}

class ResultReader {
 public:
  ResultReader(NpzReader& reader, std::string file) : file_(std::move(file)) {
    weights_ = reader.read("weights");
    if (weights_.rank() != 2 || weights_.size() == 0) {
      io::bad_file(file_, "'weights'", "shape [inputs, components] without zeros",
                   io::shape_text(weights_.shape));
    }
    inputs_ = weights_.shape[0];
    components_ = weights_.shape[1];
    means_ = reader.read("means");
    outputs_ = means_.rank() == 3 ? means_.shape[2] : 0;
    if (outputs_ < 1) {
      io::bad_file(file_, "'means'", "shape [inputs, components, outputs]", io::shape_text(means_.shape));
    }
    require_shape("means", means_, {inputs_, components_, outputs_});
    covariances_ = reader.read("covariances");
    require_shape("covariances", covariances_, {inputs_, components_, outputs_, outputs_});
    io::require_finite(weights_.values, weights_.shape, file_, "'weights'");
    io::require_finite(means_.values, means_.shape, file_, "'means'");
    io::require_finite(covariances_.values, covariances_.shape, file_, "'covariances'");
  }

  [[nodiscard]] std::vector<StoredResult> mixtures() const {
    std::vector<StoredResult> results;
    for (Index row = 0; row < inputs_; ++row) {
      StoredResult& result = results.emplace_back();
      result.mixture = mixture(row);
    }
    return results;
  }

 private:
  void require_shape(const std::string& name, const Array& array, const std::vector<Index>& shape) const {
    if (array.shape == shape) return;
    io::bad_file(file_, "'" + name + "'", "shape " + io::shape_text(shape), io::shape_text(array.shape));
  }

  [[nodiscard]] GaussianMixture mixture(Index row) const {
    std::vector<double> kept;
    std::vector<Gaussian> components;
    for (Index c = 0; c < components_; ++c) {
      const double weight = weights_.values[static_cast<std::size_t>(row * components_ + c)];
      if (weight == 0.0) continue;
      kept.push_back(weight);
      components.push_back(component(row, c));
    }
    try {
      return {Eigen::Map<const Vector>(kept.data(), static_cast<Index>(kept.size())), std::move(components)};
    } catch (const InvalidArgument& error) {
      throw FileError(file_ + ": 'weights' of input " + std::to_string(row) + ": " + error.what());
    }
  }

  [[nodiscard]] Gaussian component(Index row, Index c) const {
    const Index place = row * components_ + c;
    Vector mean = Eigen::Map<const Vector>(means_.values.data() + place * outputs_, outputs_);
    Matrix covariance = Eigen::Map<const Matrix>(covariances_.values.data() + place * outputs_ * outputs_,
                                                 outputs_, outputs_);
    require_psd(covariance, file_, "'covariances' at " + io::shape_text({row, c}));
    return {std::move(mean), Covariance::dense(std::move(covariance))};
  }

  std::string file_;
  Index inputs_ = 0;
  Index components_ = 0;
  Index outputs_ = 0;
  Array weights_;
  Array means_;
  Array covariances_;
};

/// The numbers of inputs and outputs must be those of the results.
void check_inputs(const StoredRun& stored) {
  const bool joint = stored.run && stored.run->joint;
  const Index rows = static_cast<Index>(stored.results.size());
  const Index expected = joint ? stored.inputs.cols() : rows;
  if (joint && rows != 1) io::bad_file(stored.file, "'weights'", "one joint result", std::to_string(rows));
  if (stored.inputs.cols() != expected) {
    io::bad_file(stored.file, "'inputs'", std::to_string(rows) + " rows, as there are results",
                 std::to_string(stored.inputs.cols()));
  }
  const Index outputs = stored.run ? stored.run->outputs : 0;
  const Index dimension = stored.results.front().mixture.dimension();
  if (outputs == 0) return;
  if (joint ? dimension % outputs != 0 || dimension / outputs != stored.inputs.cols()
            : dimension != outputs) {
    io::bad_file(stored.file, "'run': 'outputs'", "the dimension of the means at one input",
                 std::to_string(outputs));
  }
}

StoredRun read_whole(NpzReader& reader, const std::string& label) {
  StoredRun stored;
  stored.file = label;
  stored.results = ResultReader(reader, label).mixtures();
  io::StoredChoices choices;
  if (reader.contains("run")) stored.run = io::read_run_record(reader, label, choices);
  io::read_rows(reader, label, choices, stored.results);
  io::read_laws(reader, label, stored.results);
  for (StoredResult& result : stored.results) {
    if (result.statistics && stored.run) result.statistics->assumption = stored.run->statistics_assumption;
  }
  if (!reader.contains("inputs")) return stored;
  InputFile inputs = read_input_arrays(reader, label);
  stored.inputs = std::move(inputs.inputs);
  stored.noise = std::move(inputs.noise);
  check_inputs(stored);
  io::read_cells(reader, label, stored.inputs, stored.results);
  return stored;
}

StoredRun read_all(NpzReader reader, const std::string& label) {
  try {
    return read_whole(reader, label);
  } catch (const std::bad_alloc&) {
    throw ResourceError(label + ": not enough memory for the results");
  }
}

}  // namespace

StoredRun read_run(const std::filesystem::path& npz, const ReadLimits& limits) {
  return read_all(NpzReader(npz, limits), npz.string());
}

StoredRun parse_run(std::span<const std::byte> npz, const std::string& label, const ReadLimits& limits) {
  return read_all(NpzReader(npz, label, limits), label);
}

std::vector<StoredResult> read_results(const std::filesystem::path& npz, const ReadLimits& limits) {
  return read_run(npz, limits).results;
}

}  // namespace mixcert
