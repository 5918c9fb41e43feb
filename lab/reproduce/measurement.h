// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One network under one choice of options: means over the points of the certified bound, of estimates of the
// same distance, and of their floors, all relative to the root mean square of the mixture.
#pragma once

#include "mixcert/certify/certify.h"
#include "reproduce/outcome_file.h"
#include "reproduce/subject.h"

namespace mixcert::lab {

struct MeasurementPlan {
  Options options;
  /// Samples of either side of the empirical W2; 0: none. The paper has 1000.
  Index empirical_samples = 0;
  /// Samples for Gelbrich's distance and the coupled simulation; 0: none.
  Index statistics_samples = 0;
};

/// Numbers of measure() at each point, not kept.
std::vector<RowNumbers> measure_points(const Context& context, const Subject& subject,
                                       const MeasurementPlan& plan);

/// Transport plans and interruption for certify().
Services certify_services(const Context& context);

/// Names of the numbers: `bound` certified; `empirical` with `floor`; `gelbrich` distance of moments,
/// plugged in, with `gelbrich_floor` (of as many samples of the mixture); `lower` and `upper` statistical
/// bounds, `coupled` cost (C.2 - C.4), NaN where the mixture is not the moment method's; `seconds` per point
/// of certification alone, on one thread; `components` of the mixture; `unit` its root mean square. Kept
/// under rows/NAME.
RowNumbers measure(const Context& context, const Subject& subject, const std::string& name,
                   const MeasurementPlan& plan);

/// Options of the paper's method: grid signatures with its constants.
Options paper_options(Index signature_size, Index components);
/// The same with cross signatures, which have no certificate.
Options cross_options(Index signature_size, Index components);
/// Ours: the best certified bound; `pieces` Gaussians a layer may be split into. `masks`: of a network with
/// dropout, to which none of the theorems beyond the moment method applies.
Options our_options(Index pieces = 1, bool masks = false);

}  // namespace mixcert::lab
