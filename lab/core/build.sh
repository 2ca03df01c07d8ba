#!/usr/bin/env bash
# lab.cpp -> lab/build/core.wasm, unless that is newer than its sources.
set -euo pipefail
cd "$(dirname "$0")"
core=../../src/maxmargin/core
target=../build/core.wasm
mkdir -p ../build
if [ -f "$target" ] && [ -z "$(find lab.cpp build.sh "$core" -name '*.h' -newer "$target" -o -name 'lab.cpp' -newer "$target" -o -name 'build.sh' -newer "$target")" ]; then
  exit 0
fi
command -v em++ > /dev/null || {
  echo "The lab's core needs em++: apt-get install emscripten node-acorn" >&2
  exit 1
}
# Debian keeps the Node modules of emscripten's tools here.
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
em++ -std=c++17 -O3 -msimd128 -DMAXMARGIN_LEVEL=wasm -I"$core" lab.cpp -o "$target" \
  --no-entry -sALLOW_MEMORY_GROWTH -sEXPORTED_FUNCTIONS=_malloc,_free,_lab_kernel_block,_lab_kernel_product,_lab_pair_steps
