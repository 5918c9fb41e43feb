// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sections of a certificate that are about single inputs: bounds by rank, class probabilities, the table.
#pragma once

#include <vector>

#include "report/pages/certify_page.h"

namespace mixcert::page {

std::vector<Section> input_sections(const CertifyContents& contents);

}  // namespace mixcert::page
