// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sizes, finiteness and signs of a layer's plain tensors.
#pragma once

#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/types.h"

namespace mixcert {

class TensorCheck {
 public:
  /// `who` names the layer in messages.
  explicit TensorCheck(std::string who) : who_(std::move(who)) {}

  /// Throws InvalidArgument unless there are `size` finite values. In doubles: sizes of a file may overflow
  /// integers, and then fit no tensor.
  void values(const Vector& tensor, double size, const std::string& field) const {
    require(static_cast<double>(tensor.size()) == size, who_ + ": " + field + ": expected " +
                                                            format_number(size) + " values, got " +
                                                            std::to_string(tensor.size()));
    require(tensor.allFinite(), who_ + ": " + field + ": expected finite values");
  }
  void variances(const Vector& tensor, double size, const std::string& field) const {
    values(tensor, size, field);
    require(tensor.size() == 0 || tensor.minCoeff() >= 0.0,
            who_ + ": " + field + ": expected variances, at least 0");
  }

 private:
  std::string who_;
};

}  // namespace mixcert
