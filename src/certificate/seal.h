// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The one way to a Sealed value. Files that include this are the kernel: a bound is as right as they and what
// they call. scripts/check_includes keeps all other modules out.
#pragma once

#include <utility>

#include "certificate/sealed.h"

namespace mixcert {

class Seal {
 public:
  template <class T>
  static Sealed<T> on(T value) {
    return Sealed<T>(std::move(value));
  }
};

}  // namespace mixcert
