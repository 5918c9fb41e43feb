// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers made from layers: rows scaled (L.3), coordinates carried past a layer and added behind it (L.7),
// noise on the outputs (L.5).
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

/// Outputs [W x + b; skip], where the input is x with skip = x (`duplicate`), or [x; skip]. Deterministic,
/// mean-field and shared weights; throws InvalidArgument for others.
DenseLayer with_skip(const DenseLayer& layer, Index skip, bool duplicate);

/// Where the outputs are [y; skip] as with_skip makes them: the layer that gives y + skip.
DenseLayer with_skip_added(const DenseLayer& layer);

/// The layer with independent noise added to its outputs, where the families have room for it.
std::optional<DenseLayer> with_noise(const DenseLayer& layer, const Vector& offset,
                                     const BiasCovariance& noise);

DenseLayer identity_layer(const std::string& name, Index size, Vector offset, BiasCovariance noise);

/// `law` followed by coordinates without noise.
BiasCovariance padded(const BiasCovariance& law, Index rows);

/// The smallest equal groups of rows of a matrix of `rows` rows that keep every parameter inside one of them.
Index finest_row_groups(const SharedWeights& law, Index rows);

}  // namespace mixcert
