#!/usr/bin/env bash
# Fuzz the model loaders one after the other: tests/fuzz/run.sh [seconds for each, 600] [mm libsvm liblinear svm_light]. Needs atheris.
# New inputs of interest go to run/fuzz/<name>, findings to run/fuzz/<name>-crash-..., -timeout-... or -oom-...
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-600}
shift || true
status=0
for name in "${@:-mm libsvm liblinear svm_light}"; do
  for one in $name; do
    mkdir -p "run/fuzz/$one"
    .venv/bin/python tests/fuzz/fuzz_models.py "$one" "run/fuzz/$one" "-max_total_time=$seconds" "-artifact_prefix=run/fuzz/$one-" > "run/fuzz/$one.log" 2>&1 || status=1
    echo "$one: $(tail -n 1 "run/fuzz/$one.log")"
  done
done
exit $status
