#!/usr/bin/env bash
# A plain install works away from the source tree: tools/installed.sh BIN, the folder of an environment's programs.
set -euo pipefail
bin=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$bin/python" - <<'PYTHON'
from importlib import metadata
from pathlib import Path

import maxmargin
from maxmargin import SVC, LinearSVC, io
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

place = Path(maxmargin.__file__).parent
assert "site-packages" in place.parts, f"imported from {place}"
assert not list(place.rglob("*.cpp")), "the wheel holds C++ sources"
assert (place / "py.typed").exists(), "the wheel lacks py.typed"
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
for model in (SVC(C=10), LinearSVC()):
    assert model.fit(X, y).certificate_.status == "optimal", model.certificate_
    assert model.score(X, y) > 0.98
io.dump_svmlight(X, y, "data.svm")
print(f"maxmargin {metadata.version('maxmargin')} works in {place}")
PYTHON
"$bin/maxmargin" train data.svm model.mm -C 10 > /dev/null
"$bin/maxmargin" predict data.svm model.mm labels.txt > /dev/null
test "$(wc -l < labels.txt)" = 569 || { echo "maxmargin predict wrote $(wc -l < labels.txt) labels" >&2; exit 1; }
