// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two numbers in one register, for the innermost loops: arrays of fixed size are kept in memory by the
// compiler, which takes twice as many instructions. GCC's and Clang's vector extension.
#pragma once

#include <cstring>

namespace mixcert {

using LineTwo = double __attribute__((vector_size(16)));

inline LineTwo load_two(const double* from) {
  LineTwo two;
  std::memcpy(&two, from, sizeof two);
  return two;
}
inline void store_two(const LineTwo& two, double* to) { std::memcpy(to, &two, sizeof two); }
inline LineTwo both(double value) { return LineTwo{value, value}; }

}  // namespace mixcert
