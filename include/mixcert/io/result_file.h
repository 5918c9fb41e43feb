// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files of certification results, docs/result-format.md: arrays for programs (.npz) and
// a report of every bound (.json). Results stream to the disk as they come; what stays in
// memory is 40 bytes per input. Both files appear at finish(), or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/io/array.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/propagate/result.h"

namespace mixcert {

/// A model file of an ensemble.
struct ModelRecord {
  std::string sha256;
  double weight = 1.0;  ///< probability in the ensemble
};

/// What the JSON file records about the run.
struct RunRecord {
  std::string version;
  std::string model_sha256;  ///< of a single model
  std::vector<std::string> assumptions;
  std::uint64_t seed = 0;
  std::string command;
  bool joint = false;
  /// Name and value of every option, as option_table() gives them; empty: not set.
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<ModelRecord> members = {};  ///< of an ensemble of several files, in place of model_sha256
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
  Index count_ = 0;
  Index dimension_ = 0;
};

/// One row of a result file.
struct StoredResult {
  GaussianMixture mixture;         ///< components of weight zero (padding) are dropped
  double w2_bound = 0.0;           ///< NaN where there is none
  double relative_w2_bound = 0.0;  ///< NaN where there is none
};

/// Checks that shapes agree, values are finite, weights are a distribution, covariances
/// are symmetric positive semidefinite and bounds are nonnegative or NaN; throws FileError
/// or ResourceError.
std::vector<StoredResult> read_results(const std::filesystem::path& npz, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name in messages.
std::vector<StoredResult> parse_results(std::span<const std::byte> npz, const std::string& label,
                                        const ReadLimits& limits = {});

}  // namespace mixcert
