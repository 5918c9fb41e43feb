// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What layers written out as matrices may take.
#include "network/layers/layer_expansion.h"

#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert {
namespace {

std::string mebibytes(double bytes) { return format_number(std::ceil(bytes / 1048576.0)) + " MiB"; }

}  // namespace

void MemoryBudget::take(const std::string& what, double bytes) {
  ask(what, bytes);
  left_ -= bytes;
}

void MemoryBudget::ask(const std::string& what, double bytes) const {
  if (bytes > left_) {
    throw ResourceError(what + " needs " + mebibytes(bytes) + " written out as a matrix, " +
                        mebibytes(left_) + " of " + mebibytes(max_bytes_) + " are left");
  }
}

}  // namespace mixcert
