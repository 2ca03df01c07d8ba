#!/usr/bin/env bash
# The two commands of the README as on a machine that has never built anything: a clone of HEAD, another HOME, no package
# cache, no ccache, none of this shell's settings. Arguments select tests; without any, all of them run.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=$("${PYTHON:-python3}" -c "import sys; print(sys.executable)")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/home" "$folder/tmp"
git -C "$root" diff --quiet HEAD || echo "note: changes that are not committed are not tried"
git clone --quiet "$root" "$folder/clone"
cd "$folder/clone"

# What the network needs is kept; nothing else.
kept=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE PIP_CERT PIP_INDEX_URL; do
  if [ -n "${!name:-}" ]; then kept+=("$name=${!name}"); fi
done
fresh() {
  env -i "${kept[@]}" PATH="$PATH" LANG=C.UTF-8 HOME="$folder/home" TMPDIR="$folder/tmp" PIP_NO_CACHE_DIR=1 CCACHE_DISABLE=1 "$@"
}
fail() {
  echo "make fresh: $*" >&2
  exit 1
}

fresh make run PYTHON="$python" | tee "$folder/run.txt"
test -s run/quick_start.png || fail "make run wrote no picture"
grep --quiet "optimal" "$folder/run.txt" || fail "make run shows no certificate"
for package in pytest ruff liblinear libsvm; do
  if fresh .venv/bin/python -c "import $package" 2> "$folder/import.txt"; then fail "make run installed $package, which running does not need"; fi
done
compiled=$(stat --format=%Y build/*/CMakeFiles/level_*.dir/src/maxmargin/core/module_kernel.cpp.o)
fresh make test PYTHON="$python" ARGS="$*"
test "$compiled" = "$(stat --format=%Y build/*/CMakeFiles/level_*.dir/src/maxmargin/core/module_kernel.cpp.o)" || fail "the core was compiled twice"
echo "make fresh: both commands work on a machine that has nothing"
