// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The networks that a result file was made from, read again: explain certifies them, answer draws from them.
#pragma once

#include <string>
#include <vector>

#include "mixcert/io/result_file.h"
#include "mixcert/network/ensemble.h"

namespace mixcert::cli {

/// From the files `given`, or from those of the record where there are none, with the run's input noise and
/// functional. `purpose` says who needs them. Throws FileError where the file has no record, or a model is
/// missing or is not the one that the record has the SHA-256 of.
Ensemble load_recorded(const StoredRun& stored, const std::vector<std::string>& given,
                       const std::string& purpose);

}  // namespace mixcert::cli
