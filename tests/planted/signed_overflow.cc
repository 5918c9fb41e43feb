// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Adds to the largest Index, as a careless product of tensor sizes would. The undefined-behaviour
// sanitizer must report it. The summand comes from argc, so that the compiler cannot see the fault.
#include <cstdio>
#include <limits>

#include "mixcert/core/types.h"

int main(int argc, char** /*argv*/) {
  const mixcert::Index size = std::numeric_limits<mixcert::Index>::max();
  std::printf("%td\n", size + argc);
  return 0;
}
