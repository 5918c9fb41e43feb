// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates by simulation: bounds of W2 that hold but for a stated probability over the program's own
// draws, for every number of draws, docs/theory/simulation.md. Link mixcert::simulated.
#pragma once

#include "mixcert/certificate/services.h"

namespace mixcert {

/// What certify() asks when options.simulate is set.
SimulationService simulation_service(const CancelFlag* cancel = nullptr);
/// What method coupled asks. The network must outlive what is made of it.
CoupledService coupled_service(const CancelFlag* cancel = nullptr);
/// What Services::stein expects.
SteinService stein_service(const CancelFlag* cancel = nullptr);
/// The same as what Services::forecast expects.
ForecastService forecast_service(const CancelFlag* cancel = nullptr);

}  // namespace mixcert
