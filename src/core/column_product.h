// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Matrix products whose columns do not see one another: (R.7) of docs/theory/rounding.md. A library's product
// may sum an entry in an order that depends on how many columns there are and on where a column stands; then
// inputs that are taken through a layer together would get other bits than alone.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

/// left * right. Entry (i, j) is the sum of left(i, k) right(k, j) in the order k = 0, 1, ..., in one running
/// total: it depends on row i of `left` and column j of `right` alone, to the last bit.
Matrix column_product(ConstMatrixRef left, ConstMatrixRef right);

}  // namespace mixcert
