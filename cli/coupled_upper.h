// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupled simulation's upper bounds for results read from a file: a file holds mixtures but no traces, so
// the moment method is run again, and its trace used where it leads to the stored mixture.
#pragma once

#include <string>
#include <vector>

#include "mixcert/io/result_file.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/propagate/options.h"

namespace mixcert::cli {

struct CoupledUpper {
  std::vector<double> values;  ///< one per result; NaN where there is none
  Index found = 0;             ///< how many there are
  std::string gap;             ///< why some are absent; "" when none is
};

/// `options`: as given to certify, with `statistics` samples; the method is moment whatever they say.
CoupledUpper coupled_upper(const Ensemble& ensemble, const Matrix& inputs,
                           const std::vector<StoredResult>& results, Options options);

}  // namespace mixcert::cli
