#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes a Debian package of a finished static build. The same sources and libraries give the same bytes.
#
#   packaging/build-deb.sh BUILD_DIR OUT_DIR
#
# DEBFULLNAME and DEBEMAIL, as of dch(1), name the maintainer of the package. Its home page is $HOMEPAGE or, if there is
# none, where the checkout came from (https alone).
set -euo pipefail
if [ $# -ne 2 ] || [ ! -x "$1/offwait" ]; then
  echo "Usage: $0 BUILD_DIR OUT_DIR, where BUILD_DIR is a build, such as build/release" >&2
  exit 2
fi
packaging=$(realpath "$(dirname "$0")")
BUILD=$(realpath "$1")
export BUILD
mkdir -p "$2"
out=$(realpath "$2")
if ! command -v dpkg-checkbuilddeps >/dev/null; then
  echo "$0: dpkg-dev and debhelper are missing: run 'sudo $packaging/install-packages.sh build deb'" >&2
  exit 1
fi
if ! missing=$(dpkg-checkbuilddeps "$packaging/debian/control" 2>&1); then
  echo "$0: packages are missing: ${missing##*: }: run 'sudo $packaging/install-packages.sh build deb'" >&2
  exit 1
fi

version=$(dpkg-parsechangelog -l "$packaging/debian/changelog" -S Version)
if [ "$("$BUILD/offwait" --version)" != "offwait $version" ]; then
  echo "$0: debian/changelog is for $version, but $BUILD/offwait is $("$BUILD/offwait" --version)" >&2
  exit 1
fi
if readelf --dynamic "$BUILD/offwait" | grep -q NEEDED; then
  echo "$0: $BUILD/offwait is not static; configure with -DOFFWAIT_STATIC=ON, as the preset release does" >&2
  exit 1
fi
# Who built offwait alone, as examples/run.sh does, has no manual yet.
if [ ! -e "$BUILD/packaging/manual.stamp" ] && ! said=$(cmake --build "$BUILD" --target manual 2>&1); then
  echo "$0: cannot make the manual and the completions in $BUILD:"$'\n'"$said" >&2
  exit 1
fi
# Outside of a checkout the time is the changelog's date.
if commit_time=$(git -C "$packaging" log -1 --format=%ct 2>/dev/null); then
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$commit_time}
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/offwait"
cp -r "$packaging/debian" "$scratch/offwait"
cd "$scratch/offwait"
home=${HOMEPAGE:-$(git -C "$packaging" remote get-url origin 2>/dev/null || true)}
if [[ $home == https://* ]]; then
  sed -i "/^Rules-Requires-Root/a Homepage: ${home%.git}" debian/control
fi
if [ -n "${DEBEMAIL-}" ]; then
  sed -i "s|^Maintainer: .*|Maintainer: ${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>|" debian/control
fi
if ! dpkg-buildpackage --build=binary --no-sign >"$scratch/log" 2>&1; then
  cat "$scratch/log" >&2
  exit 1
fi
mv "$scratch"/offwait_*.deb "$out"
ls "$out"/offwait_"$version"_*.deb
