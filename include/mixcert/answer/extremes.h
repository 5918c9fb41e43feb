// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The smallest and the largest value over a box of inputs of what was answered for each of its cells (U.22).
#pragma once

#include <string>
#include <vector>

#include "mixcert/answer/questions.h"

namespace mixcert {

/// Of one quantity.
struct Extremes {
  std::string name;
  /// The least value over all inputs lies in the first range, the largest in the last. Estimates are those of
  /// the mixtures at the cells' centres.
  Interval least, greatest;
  /// The cells whose ends they are: no other one has a smaller lower end, or a larger upper one.
  Index least_cell = 0, greatest_cell = 0;
};

/// `cells`: ranges that hold at every input of a cell, one of each cell. Throws InvalidArgument where there
/// are none.
Extremes extremes(std::string name, const std::vector<Interval>& cells);

/// Of means and deviations of outputs y0, y1, .., and probabilities of statements, in this order.
std::vector<Extremes> all_extremes(const std::vector<LawAnswers>& cells,
                                   const std::vector<std::string>& statements);

/// With which probability some range of a cell may fail, because integrals were sampled; 0: none was.
double sampled_failure(const LawAnswers& cell, const AnswerOptions& options);

/// Is one class settled at every input? Then which; -1 where not, or where classes were not asked for.
Index common_class(const std::vector<LawAnswers>& cells);

}  // namespace mixcert
