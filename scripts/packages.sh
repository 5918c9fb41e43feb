# shellcheck shell=bash disable=SC2154
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The Debian packages this project uses, in groups, and their installation. Sourced by ./run and
# ./test, and read by pip install (python/packaging/prerequisites.py); docs/dependencies.md says what
# each package is for. The clang tools carry their version, because what clang-format and clang-tidy
# say depends on it.

packages_of() {
  case $1 in
    core)
      echo g++ cmake ninja-build libeigen3-dev libspectra-dev liblemon-dev libboost-dev libcli11-dev \
        nlohmann-json3-dev libfmt-dev libzip-dev libssl-dev libnlopt-dev zlib1g-dev libjs-vega
      ;;
    checker) echo libflint-arb-dev libflint-dev ;;
    lab) echo libpng-dev ;;
    test) echo libgtest-dev libbenchmark-dev clang-format-14 ;;
    python) echo pybind11-dev python3-dev python3-numpy python3-venv ;;
    python-test) echo python3-pytest python3-torch ;;
    deb) echo dpkg-dev file ;;
    container) echo debootstrap ;;
    onnx) echo libonnx-dev libprotobuf-dev ;;
    mpi) echo libopenmpi-dev openmpi-bin ;;
    browser) echo chromium ;;
    site) echo furo libjs-mathjax python3-myst-parser python3-sphinx ;;
    full) echo clang-14 clang-tidy-14 iproute2 libclang-rt-14-dev llvm-14 ;;
  esac
}

# Prints those of the given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

# Before what only root may do, in lines for the reader to copy.
sudo_word() {
  [ "$(id -u)" -eq 0 ] || echo 'sudo '
}

# apt_line [PACKAGE...]: what to type to install them; nothing where none is given.
apt_line() {
  [ $# -gt 0 ] || return 0
  echo "$(sudo_word)apt-get update && $(sudo_word)apt-get install -y --no-install-recommends $*"
}

# install_packages GROUP...: installs what is missing and touches nothing when all is there.
# With may_install=no it only says what is missing: another package may provide the same files,
# so the build decides.
install_packages() {
  local group wanted=() missing as_root=()
  for group in "$@"; do
    read -ra names <<<"$(packages_of "$group")"
    wanted+=("${names[@]}")
  done
  if ! command -v dpkg-query >/dev/null; then
    [ "$may_install" = no ] || fail "not a Debian system; install ${wanted[*]} yourself and use --no-install"
    return 0
  fi
  missing=$(missing_packages "${wanted[@]}" | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  if [ "$may_install" = no ]; then
    # shellcheck disable=SC2086
    printf '%s: these packages are not installed; if the build fails, try\n    %s\n' "$program" "$(apt_line $missing)" >&2
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "you are not root and there is no sudo; as root, run: apt-get install $missing"
    as_root=(sudo)
  fi
  echo "Installing $missing"
  local log
  log=$(mktemp)
  # A stale index is not an error while the packages can still be fetched.
  "${as_root[@]}" apt-get update -qq >"$log" 2>&1 || true
  # shellcheck disable=SC2086
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "apt-get could not install: $missing"
  fi
  rm -f "$log"
}
