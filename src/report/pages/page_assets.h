// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What every HTML report carries in it, compiled into the program by cmake/embed_report_page.cmake.
#pragma once

#include <string_view>

namespace mixcert::page {

struct Asset {
  std::string_view text;
  std::string_view sha256;  ///< of the text, hexadecimal: the page allows this script and this style only
};

// Named as the files they are made of.
// NOLINTBEGIN(readability-identifier-naming)
extern const Asset script;    ///< Vega, the themes and page.js
extern const Asset style;     ///< page.css
extern const Asset licences;  ///< of what is embedded

/// Vega specifications without their data; report/charts.h fills them.
extern const Asset bands_template, bounds_template, comparison_template, curves_template, density_template,
    functions_template, heatmap_template, intervals_template, law_template, layers_template;
// NOLINTEND(readability-identifier-naming)

}  // namespace mixcert::page
