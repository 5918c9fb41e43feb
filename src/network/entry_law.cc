// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Shapes of weight laws.
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/network/weight_law.h"
#include "network/law_distance.h"

namespace mixcert {
namespace {

double squared_distance(EntryLaw::Family family, double degrees) {
  switch (family) {
    case EntryLaw::Family::Normal:
      return 0.0;
    case EntryLaw::Family::Laplace: {
      static const double distance = laplace_squared_distance();
      return distance;
    }
    case EntryLaw::Family::Uniform:
      return uniform_squared_distance();
    case EntryLaw::Family::StudentT:
      require(degrees > 2.0, "student_t: degrees: expected a number above 2 (a finite variance), got " +
                                 format_number(degrees));
      return student_squared_distance(degrees);
  }
  throw InvalidArgument("unknown weight law");
}

}  // namespace

EntryLaw::EntryLaw(Family family, double degrees)
    : family_(family),
      degrees_(family == Family::StudentT ? degrees : 0.0),
      squared_distance_(squared_distance(family, degrees)) {}

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
