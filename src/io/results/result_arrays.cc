// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The .npz half of a result: rows of unequal length spilled to disk, padded with zeros
// while the archive is written.
#include <algorithm>
#include <utility>

#include "io/files/file_error.h"
#include "io/results/result_parts.h"
#include "mixcert/core/error.h"
#include "mixcert/io/input_file.h"

namespace mixcert {
namespace {

double bytes_of(Index count, Index dimension) {
  return 8.0 * static_cast<double>(count) * static_cast<double>(dimension) * static_cast<double>(dimension);
}

std::span<const double> values_of(const Vector& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

}  // namespace

ResultWriter::Arrays::Arrays(const std::filesystem::path& path, RunRecord run, const ReadLimits& limits)
    : path_(path),
      run_(std::move(run)),
      limits_(limits),
      archive_(path),
      weights_(path),
      means_(path),
      covariances_(path),
      rows_(path),
      laws_(path),
      marginals_(path) {}

void ResultWriter::Arrays::add_inputs(const Matrix& inputs, const InputNoise& noise) {
  add_input_arrays(archive_, inputs, noise);
}

void ResultWriter::Arrays::add(const Result& result) {
  const GaussianMixture& mixture = result.mixture;
  io::check_memory(path_.string(), "a dense covariance of dimension " + std::to_string(mixture.dimension()),
                   bytes_of(1, mixture.dimension()), limits_.max_bytes);
  weights_.append(values_of(mixture.weights()));
  for (const Gaussian& component : mixture.components()) {
    means_.append(values_of(component.mean));
    const Matrix covariance = component.covariance.to_dense();
    covariances_.append({covariance.data(), static_cast<std::size_t>(covariance.size())});
  }
  first_component_.push_back(first_component_.back() + mixture.size());
  rows_.add(result);
  laws_.add(result);
  marginals_.add(result);
  cells_.add(result);
  if (result.statistics) run_.statistics_assumption = result.statistics->assumption;
}

Index ResultWriter::Arrays::most_components() const {
  Index most = 0;
  for (std::size_t i = 1; i < first_component_.size(); ++i) {
    most = std::max(most, first_component_[i] - first_component_[i - 1]);
  }
  return most;
}

/// One padded row must fit into memory, all of them on the disk.
void ResultWriter::Arrays::check_room(Index dimension) const {
  const double row = bytes_of(most_components(), dimension);
  io::check_memory(
      path_.string(),
      std::to_string(most_components()) + " covariances of dimension " + std::to_string(dimension), row,
      limits_.max_bytes);
  std::error_code error;
  const std::filesystem::path directory = path_.parent_path();
  const auto space = std::filesystem::space(directory.empty() ? "." : directory, error);
  const double needed = row * static_cast<double>(first_component_.size() - 1);
  if (!error && static_cast<double>(space.available) < needed) {
    throw ResourceError(path_.string() + ": the covariances, padded to " + std::to_string(most_components()) +
                        " components, need " + io::memory_text(needed) + " on the disk, " +
                        io::memory_text(static_cast<double>(space.available)) + " are free");
  }
}

void ResultWriter::Arrays::add_padded(const std::string& name, const std::vector<Index>& tail,
                                      io::SpillFile& spill) {
  Index unit = 1;
  for (const Index size : tail) unit *= size;
  std::vector<Index> shape = {static_cast<Index>(first_component_.size()) - 1, most_components()};
  shape.insert(shape.end(), tail.begin(), tail.end());
  archive_.add(name, std::move(shape), [this, unit, &spill](Index row, std::span<double> block) {
    const Index begin = first_component_[static_cast<std::size_t>(row)];
    const Index end = first_component_[static_cast<std::size_t>(row) + 1];
    const std::span<double> filled = block.first(static_cast<std::size_t>((end - begin) * unit));
    spill.read(begin * unit, filled);
    std::fill(block.begin() + static_cast<Index>(filled.size()), block.end(), 0.0);
  });
}

void ResultWriter::Arrays::write(Index dimension) {
  check_room(dimension);
  add_padded("weights", {}, weights_);
  add_padded("means", {dimension}, means_);
  add_padded("covariances", {dimension, dimension}, covariances_);
  rows_.write_to(archive_);
  laws_.write_to(archive_);
  marginals_.write_to(archive_, dimension);
  cells_.write_to(archive_);
  nlohmann::ordered_json run = io::run_to_json(run_);
  run.update(io::choices_to_json(io::StoredChoices::known()));
  archive_.add_text("run", io::text_of(run));
  archive_.write();
}

}  // namespace mixcert
