# shellcheck shell=bash disable=SC2154
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# What ./run and ./test share: error messages, and configuring and building one of the presets of
# CMakePresets.json. Sourced from the repository root, with $program set to the caller's name.

fail() {
  echo "$program: $1" >&2
  exit "${2:-1}"
}

jobs=$(nproc 2>/dev/null || echo 1)

# configure PRESET [NAME=VALUE...]: configures build/PRESET unless that was done with these values.
# The build system reconfigures by itself when a CMake file changes.
configure() {
  local preset=$1 cache=build/$1/CMakeCache.txt setting up_to_date=yes generator=()
  shift
  if [ -e "$cache" ] && ! [ "$(sed -n "s/^CMAKE_HOME_DIRECTORY:INTERNAL=//p" "$cache")" -ef . ]; then
    fail "build/$preset was configured for another source tree; remove it"
  fi
  if [ ! -e "build/$preset/build.ninja" ] && [ ! -e "build/$preset/Makefile" ]; then
    up_to_date=no
  fi
  for setting in "$@"; do
    grep -qs "^${setting%%=*}:[A-Z]*=${setting#*=}$" "$cache" || up_to_date=no
  done
  [ "$up_to_date" = no ] || return 0
  command -v cmake >/dev/null || fail "cmake not found (package cmake)"
  command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
  mkdir -p "build/$preset"
  cmake --preset "$preset" "${generator[@]}" "${@/#/-D}" >"build/$preset/configure.log" 2>&1 || {
    tail -n 15 "build/$preset/configure.log" >&2
    fail "could not configure build/$preset (see build/$preset/configure.log)"
  }
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"} || fail "could not build build/$preset"
}
