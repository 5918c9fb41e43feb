// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupled simulation's upper bounds for results read from a file: a file holds mixtures but no traces, so
// the moment method is run again, and its trace used where it leads to the stored mixture.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/io/result_file.h"

namespace mixcert::cli {

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

}  // namespace mixcert::cli
