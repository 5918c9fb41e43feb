// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The record of the run and the numbers per row of a result archive, read and checked.
#pragma once

#include <string>
#include <vector>

#include "io/formats/npz.h"
#include "io/results/run_json.h"
#include "mixcert/io/result_file.h"

namespace mixcert::io {

/// The array `run`, and the names of choices in it. Throws FileError.
RunRecord read_run_record(NpzReader& reader, const std::string& file, StoredChoices& choices);

/// Fills in all but the mixtures of `results`: bounds must be there, the other arrays may be absent. Throws
/// FileError.
void read_rows(NpzReader& reader, const std::string& file, const StoredChoices& choices,
               std::vector<StoredResult>& results);

}  // namespace mixcert::io
