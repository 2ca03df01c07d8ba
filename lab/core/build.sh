#!/usr/bin/env bash
# lab.cpp -> lab/build/core.wasm
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p ../build
command -v em++ > /dev/null || {
  echo "The core of the lab is compiled by em++: on Debian, apt-get install emscripten node-acorn" >&2
  exit 1
}
# Where Debian keeps the Node modules that em++ uses.
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
functions=_malloc,_free,_lab_kernel_block,_lab_kernel_product,_lab_is_definite,_lab_pair_steps,_lab_newton
em++ -std=c++17 -O3 -msimd128 -DMAXMARGIN_LEVEL=wasm -I../../src/maxmargin/core lab.cpp -o ../build/core.wasm \
  --no-entry -sALLOW_MEMORY_GROWTH -sEXPORTED_FUNCTIONS=$functions
