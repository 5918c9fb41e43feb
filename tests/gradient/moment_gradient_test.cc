// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The reverse mode of the moment method at one input.
#include "gradient_checks.h"
