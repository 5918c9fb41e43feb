// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A value that only the certificate's own side can make, as theorems are in provers of the LCF kind: whoever
// holds one may read it and hand it on, not write it. Certificates are evaluated from sealed traces alone, so
// every number that a bound depends on was computed in src/certify, and computed once.
#pragma once

#include <memory>
#include <utility>

#include "mixcert/core/error.h"

namespace mixcert {

template <class T>
class Sealed {
 public:
  /// Holds nothing: reading it throws InvalidArgument.
  Sealed() = default;

  [[nodiscard]] bool is_empty() const { return value_ == nullptr; }
  [[nodiscard]] const T& operator*() const {
    if (is_empty()) throw InvalidArgument("certificate: the trace is empty");
    return *value_;
  }
  const T* operator->() const { return &**this; }

 private:
  friend class Seal;  // src/certify/seal.h, which no other module may include
  explicit Sealed(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  std::shared_ptr<const T> value_;
};

}  // namespace mixcert
