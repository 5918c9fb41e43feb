// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From a list of layers to the canonical network of network.h, docs/theory/layers.md. Deterministic layers in
// front become a FeatureMap (L.1); convolutions, pooling and batch norm become matrices (L.2), (L.3), a
// maximum becomes relu of differences (L.4); dropout becomes a mask and noise a bias, with identity layers
// where the canonical form has no room for them (L.5); what later layers need passes the others (O.18),
// (O.19).
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/network/ensemble.h"
#include "mixcert/network/input_noise.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct BuildLimits {
  /// For the matrices that convolutions, pooling, residual blocks and identity layers are written out as, and
  /// for the copies of an ensemble's members.
  std::uint64_t max_bytes = std::uint64_t{2} << 30U;
  /// Choices of mixture components.
  Index max_members = 4096;
};

/// One member per choice of the alternatives of every mixture layer and of the components of the noise.
/// Throws InvalidArgument where layers do not fit, ResourceError (naming the size) where a limit does not
/// suffice.
Ensemble build_ensemble(const std::vector<LayerSpec>& layers, const InputNoise& noise = {},
                        const BuildLimits& limits = {});

/// The same where there is exactly one member; InvalidArgument otherwise.
Network build_network(const std::vector<LayerSpec>& layers, const InputNoise& noise = {},
                      const BuildLimits& limits = {});

}  // namespace mixcert
