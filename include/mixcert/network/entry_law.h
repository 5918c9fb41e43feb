// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The shape of the law of independent weights around their means. The engine propagates the Gaussian of the
// same mean and variance and pays for the difference (W.1).
#pragma once

#include <string>

namespace mixcert {

class EntryLaw {
 public:
  enum class Family { Normal, Laplace, Uniform, StudentT };

  EntryLaw() = default;
  /// `degrees` of freedom of student_t, above two; ignored by the others. Throws InvalidArgument.
  explicit EntryLaw(Family family, double degrees = 0.0);

  [[nodiscard]] Family family() const { return family_; }
  [[nodiscard]] double degrees() const { return degrees_; }
  [[nodiscard]] bool is_normal() const { return family_ == Family::Normal; }
  /// No less than W2^2 between the law scaled to unit variance and N(0,1) (W.2) - (W.5).
  [[nodiscard]] double squared_distance_to_normal() const { return squared_distance_; }
  /// "normal", "laplace", "uniform", "student_t(5)".
  [[nodiscard]] std::string name() const;

 private:
  Family family_ = Family::Normal;
  double degrees_ = 0.0;
  double squared_distance_ = 0.0;  // costs a millisecond for student_t
};

}  // namespace mixcert
