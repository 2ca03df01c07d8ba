"""Untrusted files: rows 35-39 and 63-68 of the failure table.

Whatever a file says, load returns a model or raises ValueError.
"""

import contextlib
import gzip
import hashlib
import io as bytes_io
import json
import pickle
import struct
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from helpers import binary, in_subprocess, three
from maxmargin import SVC, SVR, LinearSVC, NormaSVC, PegasosSVC, io
from models import ALL, outputs


def refused(data, tmp_path, X=None):
    """Loading these bytes is refused with ValueError; or, where X is given, gives a model that
    predicts or refuses to."""
    path = tmp_path / "crafted"
    path.write_bytes(data)
    try:
        model = io.load(path)
    except ValueError as error:
        told = str(error)
    else:
        told = None
    if told is not None:
        assert str(path) in told or X is not None
        return True
    assert X is not None, "loaded"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outputs(model, X)
        except ValueError:
            return True
    return False


# ---- our own format ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    X, y = binary(12, 4)
    path = tmp_path_factory.mktemp("own") / "m.mm"
    io.save(SVC().fit(X, y), path)
    return path.read_bytes()


def parts(data):
    """Header and members of a file."""
    with zipfile.ZipFile(bytes_io.BytesIO(data)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    return json.loads(members.pop("header.json")), members


def packed(header, members, compression=zipfile.ZIP_STORED, first="header.json", again=()):
    """A file of these parts."""
    out = bytes_io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.writestr(first, header if isinstance(header, bytes) else json.dumps(header).encode())
        for name, content in [*members.items(), *again]:
            file.writestr(name, content)
    return out.getvalue()


def test_the_tools_of_this_file(small, tmp_path):
    (tmp_path / "m").write_bytes(packed(*parts(small)))
    io.load(tmp_path / "m")


def test_truncated_at_every_byte(small, tmp_path):
    for length in range(len(small)):
        assert refused(small[:length], tmp_path)


def test_every_byte_flipped(small, tmp_path):
    """A flipped bit is an error, or is in a field of the zip that means nothing here.

    Then the model is the same.
    """
    X, _ = binary(12, 4)
    (tmp_path / "m").write_bytes(small)
    expected = io.load(tmp_path / "m").decision_function(X)
    loaded = 0
    for place in range(0, len(small), 3):
        data = bytearray(small)
        data[place] ^= 1 << (place % 8)
        (tmp_path / "m").write_bytes(data)
        try:
            model = io.load(tmp_path / "m")
        except ValueError:
            continue
        loaded += 1
        np.testing.assert_array_equal(model.decision_function(X), expected)
    assert loaded < len(small) // 10


def test_checksums(small, tmp_path):
    header, members = parts(small)
    name = max(members, key=lambda key: len(members[key]))
    changed = bytearray(members[name])
    changed[3] ^= 1
    assert refused(packed(header, {**members, name: bytes(changed)}), tmp_path)


def test_what_a_kernel_machine_knows_is_said_once(small):
    """There are no public coefficients beside those that predict, and no record beside them."""
    attributes = parts(small)[0]["model"]["attributes"]
    assert set(attributes) == {
        "model_",
        "class_weight_",
        "fit_status_",
        "n_features_in_",
        "n_iter_",
        "shape_fit_",
    }


@pytest.mark.parametrize("version", [3, 10**30, 0, -1, None, "1", 1.0, True, [1]])
def test_versions(small, version, tmp_path):
    header, members = parts(small)
    (tmp_path / "m").write_bytes(packed({**header, "version": version}, members))
    with pytest.raises(ValueError, match="version"):
        io.load(tmp_path / "m")


def test_containers(small, tmp_path):
    header, members = parts(small)
    first = next(iter(members))
    # twice the same name
    assert refused(packed(header, members, again=[(first, members[first])]), tmp_path)
    assert refused(packed(header, members, again=[("header.json", b"{}")]), tmp_path)
    assert refused(packed(header, members, compression=zipfile.ZIP_DEFLATED), tmp_path)
    for name in ("../evil", "/etc/evil", "arrays/99", "arrays/01", "C:\\evil"):
        assert refused(packed(header, members, again=[(name, b"")]), tmp_path)
    assert refused(
        packed(header, {key: value for key, value in members.items() if key != first}), tmp_path
    )
    assert refused(packed(header, members, first="other.json"), tmp_path)
    assert refused(small + b"x", tmp_path)
    assert not (tmp_path.parent / "evil").exists()
    for text in (
        b"",
        b"{}",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b'{"format": NaN}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format":"maxmargin model"}',
    ):
        assert refused(packed(text, members), tmp_path)
    for data in (
        b"",
        b"P",
        b"PK",
        b"PK\x03\x04",
        b"PK\x05\x06" + bytes(18),
        b"\x80\x04.",
        b"hello",
        b"\x1f\x8b\x08\x00",
    ):
        assert refused(data, tmp_path)


def machine_of(header):
    """The fields of the record of a kernel machine."""
    return header["model"]["attributes"]["model_"]["machine"]


def slots(header):
    """Where values of a file are: parameters, attributes, fields of the record."""
    model = header["model"]
    found = [model["parameters"], model["attributes"]]
    return [*found, *model["attributes"].get("model_", {}).values()]


def described(header, members, entry, content, place="coef"):
    """The file with another array in the place of one."""
    header = json.loads(json.dumps(header))
    k = machine_of(header)[place]["array"]
    header["arrays"][k] = [*entry, hashlib.sha256(content).hexdigest()]
    return packed(header, {**members, f"arrays/{k}": content})


@pytest.mark.parametrize(
    "dtype",
    [
        "|O",
        "object",
        "|V8",
        "<c16",
        "<M8[s]",
        ">f8",
        "<f16",
        "|S8",
        "<U0",
        "<U9999999",
        "f8",
        "<f8,<f8",
        "",
        None,
        8,
    ],
)
def test_types_of_arrays(small, dtype, tmp_path):
    header, members = parts(small)
    for shape in ([1, 1], [0], []):
        assert refused(described(header, members, [dtype, shape], bytes(8)), tmp_path)


@pytest.mark.parametrize("shape", [
    [2**62, 4], [2**31, 2**31, 2**2], [-1, -8], [1, 2**64], [1] * 40, [8.0], ["8"], [True], None,
    "8", [10**4000], [2**48, 0], [0, 2**60], [1, 9],
])  # fmt: skip
def test_shapes_of_arrays(small, shape, tmp_path):
    header, members = parts(small)
    for size in (0, 8, 64):
        assert refused(described(header, members, ["<f8", shape], bytes(size)), tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["coef", "intercept", "vectors"])
def test_numbers_that_are_none(small, place, value, tmp_path):
    header, members = parts(small)
    k = machine_of(header)[place]["array"]
    array = np.frombuffer(members[f"arrays/{k}"], "<f8").copy()
    array[-1] = value
    assert refused(
        described(header, members, header["arrays"][k][:2], array.tobytes(), place), tmp_path
    )


def values_of_every_kind():
    strange = [
        None,
        True,
        0,
        -1,
        2**70,
        10**4000,
        0.5,
        1e308,
        "x",
        [],
        [1],
        {},
        {"array": 0},
        {"array": -1},
        {"array": 10**9},
        {"array": "0"},
    ]
    strange += [
        {"float": "nan"},
        {"float": "x"},
        {"float": []},
        {"tuple": 1},
        {"tuple": [[]]},
        {"dict": [[[], 1]]},
        {"dict": [1]},
        {"dict": {}},
    ]
    strange += [
        {"scalar": ["<f8", "x"]},
        {"scalar": ["|O", 1]},
        {"scalar": ["|i1", 300]},
        {"scalar": []},
        {"strings": [[2**40], 0, 0]},
    ]
    strange += [
        {"objects": [[2**40, 0], []]},
        {"objects": [[1], []]},
        {"objects": [[2], [None, "a"]]},
        {"csr": [["matrix", 2**40, 1], 0, 0, 0]},
    ]
    strange += [
        {"csr": [["matrix", 1, 1], 0, 1, 2]},
        {"csr": []},
        {"kernel": ["CALLABLE", 1.0, 0.0, 3]},
        {"kernel": ["RBF", -1.0, 0.0, 3]},
    ]
    strange += [
        {"kernel": ["RBF", 0.5, 0.0, 3]},
        {"kernel": [1, 2, 3, 4]},
        {"certificate": [0, 0, 0]},
        {"certificate": 1},
        {"record": ["os", []]},
    ]
    strange += [
        {"record": ["Walks", []]},
        {"record": ["Iterates", [1, 2, 3]]},
        {"model": {}},
        {"model": {"class": "SVC"}},
        {"eval": "1"},
        {"a": 1, "b": 2},
    ]
    nested = 1
    for _ in range(30):
        nested = {"tuple": [nested]}
    return [*strange, nested]


@pytest.mark.parametrize(
    "name",
    [
        "SVC",
        "SVC-three-sparse",
        "SVC-strings",
        "SVR",
        "LinearOneClassSVM",
        "NormaSVC",
        "PegasosSVC",
    ],
)
def test_every_value_replaced(name, tmp_path):
    """Each parameter and attribute in turn is replaced by values of every kind: refused, or a model
    that predicts or refuses to."""
    model, X = ALL[name]()
    io.save(model, tmp_path / "m")
    header, members = parts((tmp_path / "m").read_bytes())
    draw = np.random.default_rng(0)
    for where, values in enumerate(slots(header)):
        for key in values:
            kinds = values_of_every_kind()
            for value in (kinds[k] for k in draw.choice(len(kinds), 12, replace=False)):
                changed = json.loads(json.dumps(header))
                slots(changed)[where][key] = value
                refused(packed(changed, members), tmp_path, X)
            changed = json.loads(json.dumps(header))
            del slots(changed)[where][key]
            refused(packed(changed, members), tmp_path, X)


def uses(model, X):
    """All that a fitted model is asked for, as far as it has it; the errors that are not
    ValueErrors."""
    y = (
        X[:, 0]
        if not hasattr(model, "classes_")
        else model.classes_[np.arange(X.shape[0]) % len(model.classes_)]
    )
    arguments = (X,) if "OneClass" in type(model).__name__ else (X, y)
    calls = [
        lambda: outputs(model, X),
        lambda: repr(model),
        lambda: str(model.certificate_),
        lambda: pickle.dumps(model),
    ]
    calls += [lambda: model.certify(*arguments)] if hasattr(model, "certify") else []
    calls += (
        [lambda: model.set_params(warm_start=True).fit(*arguments)]
        if "warm_start" in model.get_params()
        else []
    )
    for call in calls:
        with contextlib.suppress(ValueError):
            call()


NEEDED = {"class_weight_", "model_", "duals"}
NEEDED |= {"coef", "intercept", "certificate", "scales", "vectors", "kernel", "problem"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        "SVC",
        "SVC-three",
        "SVC-sparse",
        "NuSVC",
        "SVR",
        "OneClassSVM",
        "LinearSVC-three",
        "LinearOneClassSVM",
    ],
)
def test_attributes_that_are_empty_or_missing(name, tmp_path):
    """Refused, or nothing that the model is asked for later misses them."""
    model, X = ALL[name]()
    io.save(model, tmp_path / "m")
    header, members = parts((tmp_path / "m").read_bytes())
    empty = len(header["arrays"])
    header["arrays"].append(EMPTY)
    members[f"arrays/{empty}"] = b""
    for where, values in list(enumerate(slots(header)))[1:]:
        for key in values:
            for value in ("nothing", {"array": empty}, None):
                changed = json.loads(json.dumps(header))
                place = slots(changed)[where]
                place[key] = value
                if value == "nothing":
                    del place[key]
                (tmp_path / "m").write_bytes(packed(changed, members))
                with contextlib.suppress(ValueError):
                    loaded = io.load(tmp_path / "m")
                    assert key not in NEEDED
                    uses(loaded, X)


def test_what_is_said_twice_must_agree(tmp_path):
    """The offset that users assigned and the intercept that predicts.

    One of them changed in a file, with its checksum, is refused.
    """
    model, _ = ALL["OneClassSVM"]()
    for attribute in ("offset_", "intercept_"):
        before = getattr(model, attribute)
        setattr(model, attribute, 1.5 * before)
        with pytest.raises(ValueError, match="is wrong"):
            io.save(model, tmp_path / "m")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("maxmargin.io.model.validate", lambda model: None)
            io.save(model, tmp_path / "m")
        with pytest.raises(ValueError, match=r"cannot be loaded: \w+_.* is wrong"):
            io.load(tmp_path / "m")
        setattr(model, attribute, before)
    io.save(model, tmp_path / "m")


@pytest.mark.parametrize(("where", "key", "value"), [
    ("attributes", "predict", 1), ("attributes", "__class__", "x"),
    ("attributes", "__dict__", {"dict": []}), ("attributes", "C", 1.0),
    ("attributes", "coef_", {"array": 0}), ("attributes", "a b_", 1), ("attributes", "x", 1),
    ("parameters", "evil", 1), ("parameters", "kernel", "evil"), ("parameters", "C", -1.0),
    ("parameters", "kernel", "linear"), ("parameters", "kernel", "precomputed"),
])  # fmt: skip
def test_names_and_parameters(small, where, key, value, tmp_path):
    header, members = parts(small)
    header["model"][where][key] = value
    assert refused(packed(header, members), tmp_path)


@pytest.mark.parametrize(
    "name", ["os.system", "", "object", "liblinear", None, [], "KernelCenterer"]
)
def test_classes(small, name, tmp_path):
    header, members = parts(small)
    header["model"]["class"] = name
    assert refused(packed(header, members), tmp_path)
    del header["model"]["attributes"]
    assert refused(packed(header, members), tmp_path)


# ---- text ----------------------------------------------------------------------------------------

LIBSVM = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.1 0.2 0.3
label 2 0 1
nr_sv 1 2 1
SV
1 -1 1:0.5 3:1
0.5 1 1:1
-0.5 0.25 2:1
1 1 3:-2
"""
LIBLINEAR = """solver_type L2R_L2LOSS_SVC_DUAL
nr_class 3
label 2 0 1
nr_feature 2
bias 1
w
0.5 0.25 1
-1 2 3
0 0 1
"""
SVM_LIGHT = """SVM-light Version V6.02
2 # kernel type
3 # kernel parameter -d
0.5 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
3 # highest feature index
10 # number of training documents
4 # number of support vectors plus 1
0.25 # threshold b, each following line is a SV (starting with alpha*y)
0.5 1:1 3:0.5 #
-0.25 2:1 #
-0.25 1:-1 3:2 #
"""
TEXTS = {"libsvm": LIBSVM, "liblinear": LIBLINEAR, "svm_light": SVM_LIGHT}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_load(name, tmp_path):
    (tmp_path / "m").write_text(TEXTS[name])
    io.load(tmp_path / "m")


@pytest.mark.parametrize("name", TEXTS)
def test_texts_truncated_at_every_byte(name, tmp_path):
    """Cut inside the last number a text may still be one, with another number.

    Everywhere else it is refused.
    """
    text = TEXTS[name].encode()
    X = np.zeros((2, 3 if name != "liblinear" else 2))
    loaded = [length for length in range(len(text)) if not refused(text[:length], tmp_path, X)]
    assert all(length >= len(text) - len(TEXTS[name].splitlines()[-1]) - 1 for length in loaded)


@pytest.mark.parametrize("name", TEXTS)
def test_errors_name_the_line(name, tmp_path):
    lines = TEXTS[name].splitlines()
    for k in range(1, len(lines)):
        if "-u" in lines[k]:  # text of the user
            continue
        bad = [*lines[:k], "@" + lines[k], *lines[k + 1 :]]
        (tmp_path / "m").write_text("\n".join(bad))
        with pytest.raises(ValueError, match=rf"line {k + 1}:"):
            io.load(tmp_path / "m")


WORDS = [
    "",
    "-1",
    "0",
    "1",
    "2",
    "3",
    "4",
    "2147483647",
    "2147483648",
    "4294967296",
    "99999999999999999999",
    "1e9",
    "nan",
    "inf",
    "-inf",
    "0x10",
    "1_0",
]
WORDS += [
    "1e999",
    "1:1",
    "-1:1",
    "1:",
    ":1",
    "1:nan",
    "1:1:1",
    "2147483647:1",
    "#",
    "qid:1",
    "SV",
    "w",
    "\r",
    "\0",
    "٣",
    "+1",
    "linear",
    "precomputed",
]
WORDS += ["polynomial", "one_class", "nu_svr", "MCSVM_CS", "ONECLASS_SVM", "L2R_L1LOSS_SVR_DUAL"]


@pytest.mark.parametrize("name", TEXTS)
def test_every_word_replaced(name, tmp_path):
    """libsvm 3.37 trusted counts and order.

    Every word in turn is replaced, every line left out, doubled and moved.
    """
    X = np.zeros((2, 3 if name != "liblinear" else 2))
    lines = TEXTS[name].splitlines()
    refusals = 0
    for k, line in enumerate(lines):
        words = line.split(" ")
        for j in range(len(words)):
            for word in WORDS:
                changed = " ".join([*words[:j], word, *words[j + 1 :]])
                refusals += refused(
                    "\n".join([*lines[:k], changed, *lines[k + 1 :], ""]).encode(), tmp_path, X
                )
        refused("\n".join([*lines[:k], *lines[k + 1 :], ""]).encode(), tmp_path, X)
        refused("\n".join([*lines[:k], line, line, *lines[k + 1 :], ""]).encode(), tmp_path, X)
        refused("\n".join([*lines[:k], *lines[k + 1 :], line, ""]).encode(), tmp_path, X)
        refused("\n".join([line, *lines[:k], *lines[k + 1 :], ""]).encode(), tmp_path, X)
    assert refusals > 400


def test_any_order_of_the_head(tmp_path):
    """The head's lines may come in any order: counts are looked at when all are known."""
    head, tail = LIBSVM.splitlines()[:8], LIBSVM.splitlines()[8:]
    (tmp_path / "m").write_text(LIBSVM)
    X = np.eye(3)
    expected = io.load(tmp_path / "m").decision_function(X)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(head))
        (tmp_path / "m").write_text("\n".join([*(head[k] for k in order), *tail, ""]))
        np.testing.assert_array_equal(io.load(tmp_path / "m").decision_function(X), expected)


def test_compressed_text_that_is_damaged_or_too_long(tmp_path):
    packed_text = gzip.compress(LIBSVM.encode())
    for length in range(len(packed_text)):
        refused(packed_text[:length], tmp_path)
    bomb = gzip.compress(LIBSVM.encode() + b"1 1 1:1\n" * 2**22)
    (tmp_path / "m").write_bytes(bomb)
    with pytest.raises(ValueError, match="times as long as the file"):
        io.load(tmp_path / "m")


# ---- memory and time -----------------------------------------------------------------------------


CLAIM = {
    "format": "maxmargin model",
    "version": 2,
    "model": {},
    "arrays": [["<f8", [2**40], "0" * 64]],
}
EMPTY = ["<f8", [0], hashlib.sha256(b"").hexdigest()]


def directory():
    """A directory of a hundred thousand entries that are all the same member."""
    one = packed({}, {})
    start = one.index(b"PK\x01\x02")
    entry, count = one[start : one.index(b"PK\x05\x06")], 100_000
    end = struct.pack(
        "<4s4H2LH",
        b"PK\x05\x06",
        0,
        0,
        count & 0xFFFF,
        count & 0xFFFF,
        len(entry) * count,
        start,
        0,
    )
    return one[:start] + entry * count + end


BOMBS = {
    "claims": lambda: packed(CLAIM, {"arrays/0": b""}),
    "deflated": lambda: packed(
        {"format": "maxmargin model"}, {"arrays/0": bytes(2**28)}, zipfile.ZIP_DEFLATED
    ),
    "members": lambda: packed(
        {**CLAIM, "arrays": [EMPTY] * 9000}, {f"arrays/{k}": b"" for k in range(9000)}
    ),
    "json": lambda: packed(b"[" + b"[]," * 2_700_000 + b"[]]", {}),
    "directory": directory,
    "classes": lambda: LIBSVM.replace("nr_class 3", "nr_class 2147483647").encode(),
    "vectors": lambda: LIBSVM.replace("total_sv 4", "total_sv 2147483647").encode(),
    "index": lambda: LIBSVM.replace("3:-2", "2147483646:-2").encode(),
    "features": lambda: LIBLINEAR.replace("nr_feature 2", "nr_feature 2147483647").encode(),
    "light": lambda: SVM_LIGHT.replace("3 # highest", "2147483646 # highest").encode(),
    "rho": lambda: (
        b"svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 2000\nrho "
        + b"12 " * 2_600_000
        + b"\nSV\n"
    ),
    "line": lambda: b"svm_type c_svc\nrho " + b"1" * 2**24,
    "lines": lambda: LIBSVM.encode() + b"1 1\n" * 2**20,
    "gzip": lambda: gzip.compress(b"svm_type c_svc\nrho " + b"0" * 2**28),
}
"""Files of at most a few megabytes that ask for a lot."""


@pytest.mark.memory
def test_bounded_memory_and_time(tmp_path):
    for name, make in BOMBS.items():
        (tmp_path / name).write_bytes(make())
    out = in_subprocess(
        f"""
        import time
        from pathlib import Path
        from scipy import sparse
        from helpers import peak_memory
        from maxmargin import io
        before = peak_memory()
        for path in sorted(Path({str(tmp_path)!r}).iterdir()):
            begin = time.perf_counter()
            try:
                model = io.load(path)
                model.predict(sparse.csr_matrix((1, model.n_features_in_)))
                print(path.name, "predicts")
            except ValueError as error:
                assert str(path) in str(error)
                print(path.name, "is refused")
            grown = (peak_memory() - before) / 1024
            assert grown < 400, (path.name, grown)
            assert time.perf_counter() - begin < 20, path.name
        """,
        timeout=250,
    )
    # wide, but sparse
    assert [line for line in out.splitlines() if "refused" not in line] == [
        "index predicts",
        "light predicts",
    ]
    assert len(out.splitlines()) == len(BOMBS)


def _head(count, classes=2):
    """The head of a LIBSVM model that claims `count` support vectors, all of the first class."""
    zeros = " 0" * (classes * (classes - 1) // 2)
    labels = " ".join(map(str, range(classes)))
    return (
        f"svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class {classes}\ntotal_sv "
        f"{count}\nrho{zeros}\n"
        f"label {labels}\nnr_sv {count}{' 0' * (classes - 1)}\nSV\n"
    ).encode()


def _zstd(text, blocks):
    """A frame of zstd: the text, then blocks of 128 kB of the same character, 4 bytes each."""
    raw = struct.pack("<I", len(text) << 3)[:3] + text
    run = struct.pack("<I", 2**17 << 3 | 1 << 1)[:3] + b"1"
    return (
        b"\x28\xb5\x2f\xfd\x00\x38"
        + raw
        + run * blocks
        + struct.pack("<I", 1 << 3 | 1 << 1 | 1)[:3]
        + b"1"
    )


LINES = 3 * 2**20
FALSE_COUNTS = {
    "few": lambda: _head(5) + b"1 1:1\n" * LINES,
    "many": lambda: _head(2**31 - 1) + b"1 1:1\n" * LINES,
    "one-more": lambda: _head(LINES + 1, 3) + b"1 1 1:1\n" * LINES,
    "ten-classes": lambda: _head(LINES, 10) + (b"1 " * 9 + b"1:1\n") * (LINES // 3),
    "weights": lambda: (
        LIBLINEAR.split("w\n")[0].replace("nr_feature 2", f"nr_feature {LINES}").encode()
        + b"w\n"
        + b"1 1 1\n" * LINES
    ),
    "light": lambda: SVM_LIGHT.encode() + b"1 1:1 #\n" * LINES,
    "gzip": lambda: gzip.compress(
        _head(LINES)
        + np.random.default_rng(0).choice([b"1 1:1\n", b"1 2:1\n"], LINES + 1).tobytes()
    ),
    "zstd-line": lambda: _zstd(_head(3) + b"1 1:", 2**14),
    "zstd-head": lambda: _zstd(b"svm_type c_svc\nrho ", 2**14),
}
"""Text of some 25 MB, or 64 kB of zstd that unfold to 2 GB, with a false count of lines."""


@pytest.mark.memory
def test_false_counts_are_refused_at_once(tmp_path):
    """Not after everything was parsed, which took half a minute, nor by way of hundreds of
    megabytes.
    """
    for name, make in FALSE_COUNTS.items():
        (tmp_path / name).write_bytes(make())
    out = in_subprocess(
        f"""
        import time
        from pathlib import Path
        from helpers import peak_memory
        from maxmargin import io
        for path in sorted(Path({str(tmp_path)!r}).iterdir()):
            before, begin = peak_memory(), time.process_time()
            try:
                io.load(path)
                print("loaded", path.name)
            except ValueError as error:
                assert str(path) in str(error)
            assert time.process_time() - begin < 1.5, (path.name, time.process_time() - begin)
            assert peak_memory() - before < 64 * 1024, (path.name, peak_memory() - before)
        """
    )
    assert out == ""


# ---- pickles of altered models: CVE-2020-28975 for linear and online ones ------------------------


def _with_index(matrix, value=10**6):
    broken = matrix.copy()
    broken.indices[0] = value
    return broken


def _sparse_linear():
    X, y = three()
    return LinearSVC(penalty="l1", C=1.0).fit(X, y).sparsify(), X


LINEAR = {
    "coef-short": ("LinearSVC-three", "coef_", lambda v: v[:, :-1]),
    "coef-row": ("LinearSVC-three", "coef_", lambda v: v[:2]),
    "coef-nan": ("LinearSVC", "coef_", lambda v: v * np.nan),
    "coef-text": ("LinearSVC", "coef_", lambda v: "x"),
    "coef-objects": ("LinearSVC", "coef_", lambda v: v.astype(object)),
    "coef-complex": ("LinearSVR", "coef_", lambda v: v * 1j),
    "coef-scalar": ("LinearOneClassSVM", "coef_", lambda v: np.float64(1.0)),
    "intercept-long": ("LinearSVC", "intercept_", lambda v: np.zeros(5)),
    "intercept-inf": ("LinearSVC-three", "intercept_", lambda v: v + np.inf),
    "intercept-none": ("LinearSVR", "intercept_", lambda v: None),
    "classes-one": ("LinearSVC", "classes_", lambda v: v[:1]),
    "classes-more": ("LinearSVC", "classes_", lambda v: np.arange(4)),
    "pegasos-coef": ("PegasosSVC", "model_.coef", lambda v: v[:, :-1]),
    "pegasos-intercept": ("PegasosSVC", "intercept_", lambda v: v * np.nan),
    "pegasos-float32": ("PegasosSVC-rbf", "dual_coef_", lambda v: v.astype(np.float32)),
    "linear-float32": ("LinearSVC", "coef_", lambda v: v.astype(np.float32)),
    "kernel-float32": ("SVC", "_dual_coef_", lambda v: v.astype(np.float32)),
    "pegasos-iterates": ("PegasosSVC", "model_.state", lambda v: v._replace(v=v.v[:, :-1])),
    "pegasos-numbers": (
        "PegasosSVC-rbf",
        "model_.state",
        lambda v: v._replace(numbers=v.numbers[:, :3]),
    ),
    "pegasos-points": ("PegasosSVC-rbf", "support_vectors_", lambda v: v[:-1]),
    "pegasos-sparse": ("PegasosSVC-sparse", "support_vectors_", _with_index),
    "pegasos-support": ("PegasosSVC-precomputed", "support_", lambda v: v + 10**6),
    "pegasos-negative": ("PegasosSVC-precomputed", "support_", lambda v: -1 - v),
    "norma-coef": ("NormaSVC", "dual_coef_", lambda v: v[:, :-1]),
    "norma-points": ("NormaNovelty", "support_vectors_", lambda v: v * np.inf),
    "norma-hypotheses": ("NormaSVC", "model_.state", lambda v: v._replace(coef=v.coef[:, :-1])),
    "norma-kernel": ("NormaSVC", "_kernel", lambda v: None),
}


@pytest.mark.parametrize("name", LINEAR)
def test_altered_linear_and_online_models_are_refused(name, tmp_path):
    which, attribute, change = LINEAR[name]
    model, X = ALL[which]()
    if attribute.startswith("model_."):
        field = attribute.removeprefix("model_.")
        value = change(getattr(model.model_, field))
        model.model_ = replace(model.model_, **{field: value})
    else:
        setattr(model, attribute, change(getattr(model, attribute)))
    with pytest.raises(ValueError):
        pickle.loads(pickle.dumps(model)).predict(X)
    with pytest.raises(ValueError):
        io.save(model, tmp_path / "m")


def test_altered_sparse_weights_are_refused():
    model, X = _sparse_linear()
    model.predict(X)
    model.coef_ = _with_index(model.coef_)
    with pytest.raises(ValueError):
        model.predict(X)
    model, X = _sparse_linear()
    y = three()[1]
    model.dual_coef_ = _with_index(model.dual_coef_, 10**6)
    with pytest.raises(ValueError):
        model.certify(X, y)
    with pytest.raises(ValueError):
        model.set_params(warm_start=True, penalty="l2").fit(X, y)


def test_altered_online_models_do_not_learn_on():
    X, y = three()
    for model in (
        NormaSVC(random_state=0),
        PegasosSVC(kernel="rbf", random_state=0),
        PegasosSVC(random_state=0),
    ):
        model.partial_fit(X, y, classes=[0, 1, 2])
        state = model.model_.state
        model.model_ = replace(model.model_, state=state._replace(numbers=state.numbers[:1]))
        with pytest.raises(ValueError):
            model.partial_fit(X, y)


@pytest.mark.parametrize("attribute", ["support_vectors_", "_dual_coef_"])
@pytest.mark.parametrize("cls", [SVC, SVR])
def test_altered_sparse_matrices_reach_nothing_of_scipy(cls, attribute):
    """SciPy itself trusts the indices of a sparse matrix.

    Weights, certificates and warm starts check them first.
    """
    X, y = binary()
    model = cls(kernel="linear", warm_start=True).fit(sparse.csr_matrix(X), y)
    setattr(model, attribute, _with_index(getattr(model, attribute), 2**30))
    for ask in (lambda: model.coef_, lambda: model.certify(sparse.csr_matrix(X), y)):
        with pytest.raises(ValueError, match="altered"):
            ask()
    if attribute == "_dual_coef_":
        with pytest.raises(ValueError, match="altered"):
            model.fit(sparse.csr_matrix(X), y)


def test_sparse_models_in_files_are_checked(tmp_path):
    X, y = three()
    model = SVC().fit(sparse.csr_matrix(X), y)
    model.support_vectors_ = _with_index(model.support_vectors_)
    with pytest.raises(ValueError):
        io.save(model, tmp_path / "m")
