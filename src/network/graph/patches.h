// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Images as the patches that a moving window sees (im2col), and back: convolutions are then products of
// matrices, several times faster than loops over taps.
#pragma once

#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// Of images of some channels; indices as in layer_spec.h.
class Patches {
 public:
  Patches(const Window2d& window, const Size2d& image, Index channels);

  /// Of the window.
  [[nodiscard]] Index positions() const { return out_.height * out_.width; }
  /// Numbers that it sees at a position, the padding's zeros among them.
  [[nodiscard]] Index taps() const { return channels_ * window_.kernel.height * window_.kernel.width; }
  [[nodiscard]] Index pixels() const { return image_.height * image_.width; }

  /// `patches` (positions x taps): column (channel, i, j) is the pixel under tap (i, j) at every position.
  void gather(const double* image, Matrix& patches) const;
  /// Adds to the image what gather()'s transpose makes of `patches`.
  void scatter(const Matrix& patches, double* image) const;
  /// What tap (i, j) sees, position by position.
  struct Sight {
    Index pixel, position;
  };
  [[nodiscard]] std::vector<Sight> seen_by(Index i, Index j) const;

 private:
  /// visit(first pixel, first entry of the column, how many) for the rows of one plane that tap (i, j) sees.
  template <class Visit>
  void for_each_row(Index i, Index j, Visit visit) const;

  Window2d window_;
  Size2d image_, out_;
  Index channels_;
};

}  // namespace mixcert
