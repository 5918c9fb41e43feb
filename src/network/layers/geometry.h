// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Windows that move over images, for the geometry of convolutions and pooling: sizes that fit, and how they
// are written.
#pragma once

#include <string>
#include <vector>

#include "mixcert/network/layer_spec.h"
#include "network/layers/layer_kind.h"

namespace mixcert {

/// "3 x 5".
std::string to_string(const Size2d& size);

/// Throws InvalidArgument "WHO: expected EXPECTED, got GOT" unless it holds.
void expect(bool holds, const std::string& who, const std::string& expected, const std::string& got);
/// Both sides at least `least`, and no more than kMaxLayerSize.
void expect_range(const std::string& who, const Size2d& size, Index least);

/// The shape of what a window sees; checks that it fits.
LayerShape moved_over(const std::string& who, const Window2d& window, Index channels, const Size2d& image);

/// The kernel, and what differs from the usual stride, padding and dilation.
std::vector<LayerDetail> window_details(const Window2d& window, const Size2d& usual_stride);

}  // namespace mixcert
