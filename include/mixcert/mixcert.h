// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The core library: networks, certification, and what it returns. It needs Eigen alone. Files, statistics,
// derivatives, answers and prior selection have headers and libraries of their own (README.md).
#pragma once

#include "mixcert/certify/certify.h"
#include "mixcert/certify/certify_box.h"
#include "mixcert/certify/explain.h"
#include "mixcert/certify/trial.h"
#include "mixcert/certify/work_estimate.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"
#include "mixcert/network/network_builder.h"
