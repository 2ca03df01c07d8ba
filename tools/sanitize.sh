#!/usr/bin/env bash
# Tests on a core that the compiler's sanitizers watch, at the shipped optimisation:
#   tools/sanitize.sh address [pytest's arguments]   reads and writes out of bounds, undefined behaviour
#   tools/sanitize.sh thread [pytest's arguments]    data races; even small work is shared among threads
# Only the instruction level of this processor is compiled, or MAXMARGIN_LEVEL: each takes three minutes.
# The environment .venv-address or .venv-thread holds the watched package and sees the packages of .venv.
# Tests of a process's memory are left out: the sanitizers take more than the core does.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1
shift
venv=.venv-$kind
case $kind in
  address) sanitizers=address,undefined libraries="libasan.so libubsan.so" options=() ;;
  thread) sanitizers=thread libraries=libtsan.so options=(-p threaded) ;;
  *) echo "tools/sanitize.sh address|thread" >&2 && exit 2 ;;
esac

level=$(.venv/bin/python -c "from maxmargin.core import cpu; print(cpu.INSTRUCTION_LEVEL)")
echo "Compiling the core's level $level with -fsanitize=$sanitizers: a few minutes the first time"
.venv/bin/python -m pip --quiet --disable-pip-version-check wheel --no-build-isolation --no-deps --wheel-dir "build/$kind/wheel" \
  --config-settings="build-dir=build/$kind/{wheel_tag}" --config-settings="cmake.define.MAXMARGIN_SANITIZE=$sanitizers" \
  --config-settings="cmake.define.MAXMARGIN_LEVELS=$level" --config-settings="install.strip=false" .
test -x "$venv/bin/python" || .venv/bin/python -m venv --without-pip "$venv"
packages=$("$venv/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
.venv/bin/python -c "import sys; print(*(path for path in sys.path if path.endswith('-packages')), sep='\n')" > "$packages/of-venv.pth"
.venv/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --upgrade --target "$packages" "build/$kind/wheel/"*.whl

# The sanitizers come first in the process, and C++'s library early enough for its exceptions to be seen.
preload=
for library in $libraries libstdc++.so.6; do
  preload+=${preload:+:}$(${CXX:-g++} -print-file-name="$library")
done
# Reports go to files, those of child processes too; UBSan's go to standard error, which pytest leaves alone.
reports=$PWD/build/$kind/reports
rm -rf "$reports"
mkdir -p "$reports"
all=log_path=$reports/report:halt_on_error=1
export ASAN_OPTIONS=$all:detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=$all:print_stacktrace=1
export TSAN_OPTIONS=$all:history_size=4:second_deadlock_stack=1:suppressions=$PWD/tools/thread_suppressions.txt
export OMP_NUM_THREADS=3 PYTHONPATH=tests
status=0
LD_PRELOAD=$preload "$venv/bin/python" -m pytest -q -p no:cacheprovider --capture=sys -m "not memory" "${options[@]}" "$@" || status=$?
if compgen -G "$reports/*" > /dev/null; then
  cat "$reports"/*
  echo "The sanitizer's reports are in $reports" >&2
  exit 1
fi
exit $status
