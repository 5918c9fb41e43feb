// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Shapes of weight laws.
#include "mixcert/network/entry_law.h"

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert {

EntryLaw::EntryLaw(Family family, double degrees)
    : family_(family), degrees_(family == Family::StudentT ? degrees : 0.0) {
  require(family != Family::StudentT || degrees > 2.0,
          "student_t: degrees: expected a number above 2 (a finite variance), got " + format_number(degrees));
}

double EntryLaw::squared_distance_to_normal() const {
  // Independent draws of two laws of unit variance and equal mean.
  return is_normal() ? 0.0 : 2.0;
}

std::string EntryLaw::name() const {
  switch (family_) {
    case Family::Normal:
      return "normal";
    case Family::Laplace:
      return "laplace";
    case Family::Uniform:
      return "uniform";
    case Family::StudentT:
      return "student_t(" + format_number(degrees_) + ")";
  }
  throw InvalidArgument("unknown weight law");
}

}  // namespace mixcert
