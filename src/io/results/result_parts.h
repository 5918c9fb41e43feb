// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The two halves of ResultWriter: arrays for the .npz file and the JSON report.
#pragma once

#include <string>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/files/spill_file.h"
#include "io/formats/npz.h"
#include "io/results/result_rows.h"
#include "mixcert/io/result_file.h"

namespace mixcert {

/// Weights, means and dense covariances, spilled until the number of components is known.
class ResultWriter::Arrays {
 public:
  Arrays(const std::filesystem::path& path, RunRecord run, const ReadLimits& limits);
  void add_inputs(const Matrix& inputs, const InputNoise& noise);
  void add(const Result& result);
  /// Writes everything to the disk beside the final name.
  void write(Index dimension);
  void commit() { archive_.commit(); }

 private:
  [[nodiscard]] Index most_components() const;
  void check_room(Index dimension) const;
  /// Adds the array [inputs, components, tail...] whose rows lie in `spill`.
  void add_padded(const std::string& name, const std::vector<Index>& tail, io::SpillFile& spill);

  std::filesystem::path path_;
  RunRecord run_;
  ReadLimits limits_;
  NpzWriter archive_;
  io::SpillFile weights_;
  io::SpillFile means_;
  io::SpillFile covariances_;
  io::ResultRows rows_;
  std::vector<Index> first_component_ = {0};
};

class ResultWriter::Report {
 public:
  Report(const std::filesystem::path& path, const RunRecord& run);
  void add(const Result& result);
  void write();
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  bool first_ = true;
};

}  // namespace mixcert
