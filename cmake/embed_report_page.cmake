# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# cmake -DOUTPUT=F.cc -DVEGA_DIRECTORY=D -DPAGE_DIRECTORY=D -DCHART_DIRECTORY=D -P embed_report_page.cmake
#
# Writes a C++ source with everything an HTML report carries in it: one script (Vega's modules, the two themes, our
# page.js), one style sheet, licences, and the chart templates. Debian's Vega comes as one file per module, each of which
# would overwrite the global `vega` of the one before it; modules.js gives them a require() to find each other by.

# In an order of use; vega-functions asks for vega-selection under its plural.
set(vega_modules util time format loader dataflow statistics scale canvas scenegraph selection expression functions
    event-selector parser runtime view encode transforms view-transforms interpreter)
set(charts bands bounds comparison curves density functions heatmap intervals law layers)

function(append_file variable file)
  file(READ "${file}" text)
  # A map of the sources is a request that a browser's tools would make.
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" text "${text}")
  string(TOLOWER "${text}" lower)
  foreach(forbidden "</script" "</style" "<!--" ")mixcert_asset")
    string(FIND "${lower}" "${forbidden}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} holds '${forbidden}' and cannot be embedded")
    endif()
  endforeach()
  set(${variable} "${${variable}}${text}" PARENT_SCOPE)
endfunction()

function(append_asset variable name text)
  string(SHA256 hash "${text}")
  string(APPEND ${variable} "const Asset ${name} = {R\"mixcert_asset(${text})mixcert_asset\",\n  \"${hash}\"};\n")
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

set(script "(function () {\n\"use strict\";\n")
append_file(script "${PAGE_DIRECTORY}/modules.js")
foreach(module IN LISTS vega_modules)
  string(APPEND script "define(\"vega-${module}\", function (exports, module, require) {\n")
  append_file(script "${VEGA_DIRECTORY}/vega-${module}.min.js")
  string(APPEND script "\n});\n")
endforeach()
foreach(theme light dark)
  string(APPEND script "themes.${theme} = ")
  append_file(script "${PAGE_DIRECTORY}/${theme}.json")
  string(APPEND script ";\n")
endforeach()
append_file(script "${PAGE_DIRECTORY}/page.js")
string(APPEND script "})();\n")

set(style "")
append_file(style "${PAGE_DIRECTORY}/page.css")
set(licences "")
append_file(licences "${PAGE_DIRECTORY}/licences.txt")

set(source "// Written by embed_report_page.cmake.\n#include \"report/pages/page_assets.h\"\n\nnamespace mixcert::page {\n\n")
append_asset(source script "${script}")
append_asset(source style "${style}")
append_asset(source licences "${licences}")
foreach(chart IN LISTS charts)
  set(template "")
  append_file(template "${CHART_DIRECTORY}/${chart}.json")
  append_asset(source ${chart}_template "${template}")
endforeach()
string(APPEND source "\n}  // namespace mixcert::page\n")
file(WRITE "${OUTPUT}" "${source}")
