// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reads one element past the end of an Eigen vector, through its pointer, where Eigen's own
// assertions do not look. The address sanitizer must report it. The index comes from argc, so
// that the compiler cannot see the fault.
#include <cstdio>

#include "mixcert/core/types.h"

int main(int argc, char** /*argv*/) {
  const mixcert::Vector values = mixcert::Vector::Ones(3 * argc);
  const double* first = values.data();
  std::printf("%g\n", first[3 * argc]);
  return 0;
}
