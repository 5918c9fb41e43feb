# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Build type, warnings, sanitizers. No -march=native: binaries are portable. Contraction of
# multiply-add is off, so that results do not depend on the compiler's choices.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(MIXCERT_SANITIZER "" CACHE STRING "Empty, or a list for -fsanitize=, e.g. address,undefined")
option(MIXCERT_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)

# Every target of this project links it, none of its users see it. A switch without a default that leaves out a value
# of its enum is an error: that is how an activation without its record is found.
add_library(mixcert_build_flags INTERFACE)
target_compile_options(mixcert_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Werror=switch -ffp-contract=off)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # A private class of one source is an included one there.
  target_compile_options(mixcert_build_flags INTERFACE -Wno-subobject-linkage)
endif()
if(MIXCERT_WARNINGS_AS_ERRORS)
  target_compile_options(mixcert_build_flags INTERFACE -Werror)
endif()
if(MIXCERT_SANITIZER)
  target_compile_options(mixcert_build_flags INTERFACE -fsanitize=${MIXCERT_SANITIZER}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(mixcert_build_flags INTERFACE -fsanitize=${MIXCERT_SANITIZER})
endif()
