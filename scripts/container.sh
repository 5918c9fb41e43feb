# shellcheck shell=bash disable=SC2154
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Bare Debian systems in folders, for scripts/check_install: made by debootstrap from the package sources of this machine,
# entered by chroot. Sourced with $folder set, below which they lie; $folder/base is kept.

# cannot_have_containers: why there can be none here; nothing where there can.
cannot_have_containers() {
  local space
  if [ "$(id -u)" -ne 0 ]; then
    echo "not root"
  elif ! command -v debootstrap >/dev/null; then
    echo "debootstrap is not installed (package debootstrap)"
  elif ! unshare --mount --pid --fork true 2>/dev/null; then
    echo "this machine does not let root mount (unshare --mount)"
  elif [ -z "$(package_sources)" ]; then
    echo "apt-get knows no Debian package sources here (apt-get update)"
  else
    mkdir -p "$folder"
    space=$(df --output=avail -BG "$folder" | tail -n 1 | tr -dc 0-9)
    [ "$space" -ge 6 ] || echo "$folder has $space GB of free space, and 6 are needed"
  fi
}

# The lines of sources.list that this machine takes Debian's packages from.
package_sources() {
  apt-get indextargets --format 'deb $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    grep -v backports | sort -u
}

# make_base: $folder/base, the smallest Debian of this machine's release.
make_base() {
  local base=$folder/base release mirror extra=()
  [ ! -e "$base/ready" ] || return 0
  rm -rf "$base"
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(package_sources | awk -v release="$release" '$3 == release { print $2; exit }')
  case $mirror in https:*) extra=(--include=ca-certificates) ;; esac
  debootstrap --variant=minbase "${extra[@]}" "$release" "$base" "$mirror" >"$folder/base.log" 2>&1 || {
    tail -n 5 "$folder/base.log" >&2
    fail "debootstrap failed (see $folder/base.log)"
  }
  package_sources >"$base/etc/apt/sources.list"
  {
    apt-config dump | grep -E '^Acquire::(http|https|Check-Valid-Until|Retries)' || true
    # Lines for users are run here as they are printed, and nobody answers.
    echo 'APT::Get::Assume-Yes "true";'
  } >"$base/etc/apt/apt.conf.d/99host"
  cp /etc/resolv.conf "$base/etc/resolv.conf"
  touch "$base/ready"
}

# fresh NAME: a bare system $folder/NAME.
fresh() {
  rm -rf "${folder:?}/$1"
  cp -a "$folder/base" "$folder/$1"
}

# inside NAME COMMANDS: runs them there by bash, as a user who has just logged in.
inside() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc"
    exec chroot "$1" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c "$2"' \
    inside "$folder/$1" "$2" </dev/null
}
