#!/usr/bin/env bash
# A plain install and some tests with each Python that is here: tools/versions.sh "3.11 3.12 ..." [pytest's arguments].
# A version is looked for as pythonX.Y and in pyenv's folder. The environments are .venv-X.Y. One instruction level is
# compiled: bindings differ between versions of Python, levels do not. The versions are tried side by side, since most of
# the time is that of one process; each writes to build/versions/X.Y.txt, which is shown when it is done.
set -euo pipefail
cd "$(dirname "$0")/.."
versions=$1
shift
root=$PWD

find_python() {
  local candidate
  for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2> /dev/null; then
      "$candidate" -c "import sys; print(sys.executable)"
      return
    fi
  done
}

# Runs in a shell of its own, where the first error ends it.
try() {
  set -e
  local version=$1 python=$2 venv=.venv-$1
  shift 2
  echo "Python $version: setting up $venv with a plain install"
  test -x "$venv/bin/python" || "$python" -m venv "$venv"
  local pip="$venv/bin/python -m pip --quiet --disable-pip-version-check"
  $pip install --upgrade --force-reinstall --no-deps --config-settings="build-dir=build/versions/{wheel_tag}" \
    --config-settings=cmake.define.MAXMARGIN_LEVELS=base .
  "$venv/bin/python" tools/requirements.py run cli plots progress > "$venv/requirements.txt"
  $pip install --requirement "$venv/requirements.txt" pytest pytest-timeout hypothesis mpmath pandas
  tools/installed.sh "$root/$venv/bin"
  "$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
}

declare -A processes
tried=
trap 'trap - TERM; kill 0' INT TERM
mkdir -p build/versions
for version in $versions; do
  python=$(find_python "$version")
  if [ -z "$python" ]; then
    echo "Python $version: not on this machine"
    continue
  fi
  echo "Python $version: begun"
  (try "$version" "$python" "$@") > "build/versions/$version.txt" 2>&1 &
  processes[$version]=$!
  tried+=" $version"
done
test -n "$tried" || { echo "none of Python $versions was found" >&2; exit 1; }

failed=
for version in $tried; do
  wait "${processes[$version]}" || failed+=" $version"
  cat "build/versions/$version.txt"
done
test -z "$failed" || { echo "failed with Python$failed" >&2; exit 1; }
echo "worked with Python$tried"
