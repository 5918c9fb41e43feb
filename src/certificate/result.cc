// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Names of terminations.
#include "mixcert/certificate/result.h"

namespace mixcert {

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::Completed:
      return "completed";
    case Termination::EpsilonReached:
      return "epsilon-reached";
    case Termination::BudgetSpent:
      return "budget-spent";
  }
  return "?";
}

}  // namespace mixcert
