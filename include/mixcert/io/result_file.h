// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files of certification results, docs/result-format.md: arrays for programs (.npz) and
// a report of every bound (.json). The arrays describe themselves: inputs and run are among
// them. Results stream to the disk as they come; what stays in memory is about 130 bytes per
// input. Both files appear at finish(), or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/certificate/result.h"
#include "mixcert/io/array.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/input_noise.h"

namespace mixcert {

/// A model file of an ensemble.
struct ModelRecord {
  std::string sha256;
  double weight = 1.0;  ///< probability in the ensemble
};

/// What both files record about the run.
struct RunRecord {
  std::string version;
  std::string model_sha256;  ///< of a single model
  std::vector<std::string> assumptions;
  std::uint64_t seed = 0;
  std::string command;
  bool joint = false;
  /// Name and value of every option, as option_table() gives them; empty: not set.
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<ModelRecord> members = {};      ///< of an ensemble of several files, in place of model_sha256
  std::vector<std::string> model_files = {};  ///< as named on the command line, in the order of members
  std::string inputs_file = {};               ///< the same
  std::string functional = {};  ///< of the networks' outputs, which is what was certified; empty: all outputs
  Index outputs = 0;            ///< that were certified, at one input; 0: not known
  std::string statistics_assumption = {};  ///< under which statistics hold; set by the writer
};

class ResultWriter {
 public:
  /// Either path may be absent. Files beside the outputs are opened now, so that a
  /// directory that cannot be written is found before the work. Throws FileError.
  ResultWriter(const std::optional<std::filesystem::path>& npz,
               const std::optional<std::filesystem::path>& json, const RunRecord& run,
               const ReadLimits& limits = {});
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  /// Puts the inputs into the arrays. They are not copied: both must stay until finish() is through. At
  /// most once. Throws InvalidArgument.
  void add_inputs(const Matrix& inputs, const InputNoise& noise);
  /// Results in the order of the inputs, all of one dimension. Throws InvalidArgument,
  /// FileError, or ResourceError where a dense covariance would exceed the limit.
  void add(const Result& result);
  /// Pads all mixtures to the largest number of components and puts both files in place.
  void finish();

 private:
  class Arrays;
  class Report;
  std::unique_ptr<Arrays> arrays_;
  std::unique_ptr<Report> report_;
  bool joint_;
  Index inputs_ = 0;
  Index count_ = 0;
  Index dimension_ = 0;
};

/// One row of a result file. What files of earlier versions lack is NaN or empty.
struct StoredResult {
  GaussianMixture mixture;         ///< components of weight zero (padding) are dropped
  double w2_bound = 0.0;           ///< NaN where there is none
  double relative_w2_bound = 0.0;  ///< NaN where there is none
  double w1_bound = std::numeric_limits<double>::quiet_NaN();
  /// Proven lower bounds, as in Result.
  double w2_lower = std::numeric_limits<double>::quiet_NaN();
  double w2_lower_mixture = std::numeric_limits<double>::quiet_NaN();
  /// As in Result: where both bounds hold, and what that costs; nothing and NaN where it is the input alone.
  std::optional<InputBox> cell;
  double input_change = std::numeric_limits<double>::quiet_NaN();
  std::optional<Method> method;
  std::optional<CertificateMode> certificate;
  std::optional<Termination> termination;
  std::vector<LayerReport> layers;  ///< without the name of the metric
  std::optional<TwoSidedStatistics> statistics;
  std::optional<SimulatedBound> simulated;                 ///< without the reason of a missing one
  std::shared_ptr<const OutputDistribution> distribution;  ///< null where the file has none
};

/// A whole result file.
struct StoredRun {
  std::string file;  ///< for messages
  /// Nothing where an earlier version wrote the file.
  std::optional<RunRecord> run;
  Matrix
      inputs;  ///< one per column, as many as results or, jointly, all of the one result; empty: not stored
  InputNoise noise;
  std::vector<StoredResult> results;

  /// Throws FileError unless run and inputs are there; `purpose` says who needs them.
  const RunRecord& require_record(const std::string& purpose) const;
  /// Those of the run. Throws FileError where there is no record, or it has an option that this version has
  /// not.
  [[nodiscard]] Options options() const;
  /// A row as a Result, to print it (mixcert/certify/result_text.h): what files do not have is NaN, zero or
  /// empty, and `options` are shared by the rows. Throws InvalidArgument where there is no such row.
  [[nodiscard]] Result result(Index row, std::shared_ptr<const Options> options = nullptr) const;
};

/// Checks that shapes agree, values are finite, weights are a distribution, covariances
/// are symmetric positive semidefinite and bounds are nonnegative or NaN; throws FileError
/// or ResourceError. Ignores what StoredResult has no place for, so that a file of another version is read.
StoredRun read_run(const std::filesystem::path& npz, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name in messages.
StoredRun parse_run(std::span<const std::byte> npz, const std::string& label, const ReadLimits& limits = {});
/// The results alone.
std::vector<StoredResult> read_results(const std::filesystem::path& npz, const ReadLimits& limits = {});

}  // namespace mixcert
