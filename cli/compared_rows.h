// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What `compare` estimates for every result of a file, by the team of processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/io/result_file.h"
#include "mixcert/statistics/simulate.h"
#include "team.h"

namespace mixcert::cli {

// The coupled simulation's upper bounds for results read from a file: a file holds mixtures but no traces, so
// the moment method is run again, and its trace used where it leads to the stored mixture.

class CoupledUpper {
 public:
  /// All arguments must outlive this.
  CoupledUpper(const Ensemble& ensemble, const std::vector<StoredResult>& results, bool joint);

  /// Why no coupling can be simulated; "" where one can.
  [[nodiscard]] const std::string& gap() const { return gap_; }
  /// For certify() by the moment method with options.statistics samples: `found` is told the bound of every
  /// input, NaN where the trace is not that of the stored mixture, on the thread that works on it.
  [[nodiscard]] Services services(const std::function<void(Index, double)>& found) const;

 private:
  [[nodiscard]] bool is_stored(const GaussianMixture& mixture, Index index) const;

  const std::vector<StoredResult>& results_;
  std::string gap_;
};

// All estimates.

/// Estimates for one result. Sent between processes as it is.
struct ComparedRow {
  double empirical = 0.0;
  double floor = 0.0;
  double empirical_samples = 0.0;
  double lower = 0.0;
  double confidence = 0.0;
  double plug_in = 0.0;
  double bias = 0.0;
  double upper = 0.0;  ///< NaN where there is none
};

class ComparedRows {
 public:
  /// `options`: what certify was given, with the statistics' samples. All must outlive this.
  ComparedRows(const Ensemble& ensemble, const Matrix& inputs, const std::vector<StoredResult>& results,
               const SimulationOptions& simulation, const Options& options);

  /// Does this process's share. On the leader `arrived` is called for every result in order.
  void run(const std::function<void(Index, const ComparedRow&)>& arrived) const;
  [[nodiscard]] const std::string& gap() const { return upper_.gap(); }

 private:
  [[nodiscard]] ComparedRow row(Index i, double upper, int threads) const;
  void perform(const InputQueue& queue, const BytesSink& sink) const;
  [[nodiscard]] ComparedRow joint_row() const;

  const Ensemble& ensemble_;
  const Matrix& inputs_;
  const std::vector<StoredResult>& results_;
  SimulationOptions simulation_;
  Options options_;
  CoupledUpper upper_;
};

}  // namespace mixcert::cli
