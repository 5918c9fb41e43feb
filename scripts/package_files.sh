# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# What ./run makes of a built build/release for users: a wheel, an environment in which it is installed, and a Debian
# package (docs/install.md). Sourced after scripts/build.sh and scripts/packages.sh.

# make_python_package: build/release/mixcert-*.whl, installed in build/venv, which sees Debian's Python packages. What
# else was installed into build/venv stays.
make_python_package() {
  local log=build/release/wheel.log
  if ! build/venv/bin/python -m pip --version >/dev/null 2>&1; then
    /usr/bin/python3 -m venv --clear --system-site-packages build/venv >"$log" 2>&1 || {
      cat "$log" >&2
      fail "could not make build/venv (package python3-venv)"
    }
  fi
  rm -f build/release/mixcert-*.whl
  {
    MIXCERT_BUILD_DIRECTORY=build/release build/venv/bin/python -m pip wheel . --no-deps --no-index -w build/release &&
      build/venv/bin/python -m pip install --force-reinstall --no-deps --no-index build/release/mixcert-*.whl
  } >"$log" 2>&1 || {
    cat "$log" >&2
    fail "could not install the Python package into build/venv"
  }
  printf '\nthe Python package is installed in build/venv; next:\n'
  printf '    . build/venv/bin/activate\n    python -c "import mixcert; print(mixcert.__version__)"\n'
  printf 'for another machine: %s (docs/install.md)\n' build/release/mixcert-*.whl
}

# make_debian_package: build/release/mixcert_*.deb.
make_debian_package() {
  local log=build/release/deb.log
  rm -f build/release/mixcert_*.deb
  cpack --config build/release/CPackConfig.cmake -B build/release >"$log" 2>&1 || {
    tail -n 15 "$log" >&2
    fail "could not make the Debian package (see $log)"
  }
  printf '\nthe Debian package is made; next:\n    %sapt-get install ./%s\n' "$(sudo_word)" build/release/mixcert_*.deb
}
