// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "mixcert/answer/statement.h"

#include <string>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert {
namespace {

// Rows are divided by their norms.
constexpr double kSmallest = 1e-100;
constexpr double kLargest = 1e100;

}  // namespace

void Statement::validate(Index dimension) const {
  require(rows.rows() > 0 && thresholds.size() == rows.rows(),
          "statement: expected one threshold per half-space and at least one, got " +
              std::to_string(rows.rows()) + " rows and " + std::to_string(thresholds.size()) + " thresholds");
  require(rows.cols() == dimension, "statement: expected rows of " + std::to_string(dimension) +
                                        " entries, got " + std::to_string(rows.cols()));
  require(rows.allFinite() && thresholds.allFinite(), "statement: expected finite numbers");
  for (Index j = 0; j < rows.rows(); ++j) {
    const double largest = rows.row(j).cwiseAbs().maxCoeff();
    require(largest >= kSmallest && largest <= kLargest,
            "statement: expected coefficients of which the largest is in 1e-100..1e100, got " +
                format_number(largest) + " in row " + std::to_string(j));
  }
}

Statement class_statement(Index dimension, Index first, Index classes, Index winner) {
  require(first >= 0 && classes >= 2 && first + classes <= dimension,
          "classes: expected at least two within " + std::to_string(dimension) + " outputs, got " +
              std::to_string(classes) + " from " + std::to_string(first));
  require(winner >= 0 && winner < classes,
          "class: expected 0.." + std::to_string(classes - 1) + ", got " + std::to_string(winner));
  Statement statement{Matrix::Zero(classes - 1, dimension), Vector::Zero(classes - 1)};
  for (Index j = 0; j + 1 < classes; ++j) {
    statement.rows(j, first + winner) = 1.0;
    statement.rows(j, first + (j < winner ? j : j + 1)) = -1.0;
  }
  return statement;
}

}  // namespace mixcert
