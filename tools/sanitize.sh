#!/usr/bin/env bash
# Tests on a core that the compiler's sanitizers watch, at the shipped optimisation and at the instruction level of this
# processor: tools/sanitize.sh address [pytest's arguments]   reads and writes out of bounds, undefined behaviour
#         tools/sanitize.sh thread [pytest's arguments]    data races
# The environment .venv-address or .venv-thread holds the watched package and sees the packages of .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1
shift
venv=.venv-$kind
case $kind in
  address) sanitizers=address,undefined libraries="libasan.so libubsan.so" ;;
  thread) sanitizers=thread libraries=libtsan.so ;;
  *) echo "tools/sanitize.sh address|thread" >&2 && exit 2 ;;
esac

echo "Compiling the core with -fsanitize=$sanitizers: a few minutes the first time"
.venv/bin/python -m pip --quiet --disable-pip-version-check wheel --no-build-isolation --no-deps --wheel-dir "build/$kind/wheel" \
  --config-settings="build-dir=build/$kind/{wheel_tag}" --config-settings="cmake.define.MAXMARGIN_SANITIZE=$sanitizers" .
test -x "$venv/bin/python" || .venv/bin/python -m venv --without-pip "$venv"
packages=$("$venv/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
.venv/bin/python -c "import sys; print(*(path for path in sys.path if path.endswith('-packages')), sep='\n')" > "$packages/of-venv.pth"
.venv/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --upgrade --target "$packages" "build/$kind/wheel/"*.whl

# The sanitizers come first in the process, and C++'s library early enough for its exceptions to be seen.
preload=
for library in $libraries libstdc++.so.6; do
  preload+=${preload:+:}$(${CXX:-g++} -print-file-name="$library")
done
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:history_size=4:second_deadlock_stack=1:suppressions=$PWD/tools/thread_suppressions.txt
LD_PRELOAD=$preload exec "$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
