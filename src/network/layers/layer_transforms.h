// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers made from layers: rows scaled (L.3), noise on the outputs (L.5).
#pragma once

#include <optional>
#include <string>

#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// Has the family of the layer room for rows scaled like this? A parameter that several rows share has one
/// scale (a batch norm behind a convolution and a flatten has one per pixel).
bool can_scale_rows(const DenseLayer& layer, const Vector& scale);

/// The law of diag(scale) (W x + b) + shift, where can_scale_rows.
DenseLayer scaled_rows(const DenseLayer& layer, const Vector& scale, const Vector& shift);

/// The layer with independent noise added to its outputs, where the families have room for it.
std::optional<DenseLayer> with_noise(const DenseLayer& layer, const Vector& offset,
                                     const BiasCovariance& noise);

DenseLayer identity_layer(const std::string& name, Index size, Vector offset, BiasCovariance noise);

}  // namespace mixcert
