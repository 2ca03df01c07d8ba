#!/usr/bin/env bash
# Fuzz the readers one after the other: tests/fuzz/run.sh [seconds for each, 600] [svmlight mm libsvm liblinear svm_light]. Needs atheris.
# Each ends with a line: what was fuzzed, its CPU seconds (user + system), libFuzzer's last words. New inputs of interest go to run/fuzz/<name>, findings to
# run/fuzz/<name>-crash-..., -timeout-... or -oom-...
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-600}
shift || true
status=0
for name in ${*:-svmlight mm libsvm liblinear svm_light}; do
  folder=run/fuzz/$name
  mkdir -p "$folder"
  case $name in
    svmlight) command=(tests/fuzz/svmlight.py "$folder" tests/fuzz/corpus/svmlight) ;;
    *) command=(tests/fuzz/fuzz_models.py "$name" "$folder") ;;
  esac
  TIMEFORMAT="%U + %S"
  { time .venv/bin/python "${command[@]}" "-max_total_time=$seconds" "-artifact_prefix=$folder-" > "$folder.log" 2>&1; } 2> "$folder.cpu" || status=1
  echo "$name: $(tail -n 1 "$folder.cpu") CPU seconds; $(tail -n 1 "$folder.log")"
done
exit $status
