// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Both result files of a run, filled side by side.
#include "io/results/result_parts.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

std::filesystem::path full_name(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal();
}

}  // namespace

ResultWriter::ResultWriter(const std::optional<std::filesystem::path>& npz,
                           const std::optional<std::filesystem::path>& json, const RunRecord& run,
                           const ReadLimits& limits)
    : joint_(run.joint) {
  require(!npz || !json || full_name(*npz) != full_name(*json),
          "ResultWriter: expected different files for arrays and report, got '" + npz.value_or("").string() +
              "' twice");
  if (npz) arrays_ = std::make_unique<Arrays>(*npz, run, limits);
  if (json) report_ = std::make_unique<Report>(*json, run);
}

ResultWriter::~ResultWriter() = default;

void ResultWriter::add_inputs(const Matrix& inputs, const InputNoise& noise) {
  require(inputs.size() > 0 && inputs_ == 0, "ResultWriter::add_inputs: expected inputs, once, got " +
                                                 std::string(inputs_ > 0 ? "more" : "none"));
  inputs_ = inputs.cols();
  if (arrays_) arrays_->add_inputs(inputs, noise);
}

void ResultWriter::add(const Result& result) {
  require(result.input == count_ && !(joint_ && count_ > 0),
          "ResultWriter::add: expected " +
              (joint_ && count_ > 0 ? "one joint result" : "input " + std::to_string(count_)) +
              ", got input " + std::to_string(result.input));
  if (count_ == 0) dimension_ = result.mixture.dimension();
  require(result.mixture.dimension() == dimension_ && dimension_ > 0,
          "ResultWriter::add: expected a mixture of dimension " + std::to_string(dimension_) + ", got " +
              std::to_string(result.mixture.dimension()));
  if (arrays_) arrays_->add(result);
  if (report_) report_->add(result);
  ++count_;
}

void ResultWriter::finish() {
  require(count_ > 0, "ResultWriter::finish: expected at least one result, got none");
  require(joint_ || inputs_ == 0 || inputs_ == count_, "ResultWriter::finish: expected a result at each of " +
                                                           std::to_string(inputs_) + " inputs, got " +
                                                           std::to_string(count_));
  if (arrays_) arrays_->write(dimension_);
  if (report_) report_->write();
  // Only renames are left.
  if (arrays_) arrays_->commit();
  if (report_) report_->commit();
}

}  // namespace mixcert
