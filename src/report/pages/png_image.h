// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Small pictures of inputs as PNG files.
#pragma once

#include <string>

#include "mixcert/core/types.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::page {

/// `values` channel-major as networks have them, one channel (grey) or three (red, green, blue); `low`
/// becomes black, `high` full. Throws InvalidArgument for other shapes.
std::string png_image(ConstVectorRef values, const LayerShape& shape, double low, double high);

}  // namespace mixcert::page
