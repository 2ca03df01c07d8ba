"""What an input of the svmlight reader must satisfy: refused with a ValueError, or read the same
whole, in blocks and by the doctor."""

import tempfile
from pathlib import Path

import numpy as np

from maxmargin.io import dump_svmlight, load_svmlight, svmlight_chunks
from maxmargin.io.doctor import examine
from maxmargin.io.table_roles import Options

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where an input is written: in memory where the system has that; nothing stays behind."""
MOST_FEATURES = 10_000


def read(path: Path, block_bytes: int | None):
    """X, y and queries, or the message of the error."""
    try:
        if block_bytes is None:
            return load_svmlight(path, query_id=True, max_features=MOST_FEATURES)
        return svmlight_chunks(path, block_bytes=block_bytes, max_features=MOST_FEATURES).whole()
    except ValueError as error:
        return str(error)


WORDS = """
0 1 2 3 9 17 10000 10001 99999999999999999999 : : : . - + e E e-324 e308 e999
1:1 2:0.5 3:-1e-3 qid: qid:7 # , nan inf 0x1 0.12345678901234567
123456789012345678901234567890 1.7976931348623157e308 4.9e-324 00000000000000000001
"""
OTHERS = (
    b" ",
    b" ",
    b" ",
    b"\t",
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b"# comment",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xd9\xa1",
    b"\x1f\x8b",
)
TOKENS = (*(word.encode() for word in WORDS.split()), *OTHERS)
"""Pieces of the format, right and wrong."""


def text_of(data: bytes) -> bytes:
    """The file: the bytes themselves, or pieces of the format, one for each byte, where the first
    byte is odd."""
    return (
        b"".join(TOKENS[k % len(TOKENS)] for k in data[1:])
        if data[:1] and data[0] % 2
        else data[1:]
    )


def one_input(data: bytes) -> tuple[int, ...]:
    """Check an input, whose first byte is the size of the blocks and how the others are meant.

    Returns what kind of outcome it had.
    """
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        return _checked(data, Path(folder))


def _checked(data: bytes, folder: Path) -> tuple[int, ...]:
    """The same, with files in that folder."""
    path = folder / "a.svm"
    path.write_bytes(text_of(data))
    whole, blocks = read(path, None), read(path, 1 + (data[0] if data else 0))
    found = examine(path, Options(format="svmlight"), most=5)
    if isinstance(whole, str):
        assert whole == blocks, (whole, blocks)
        return (
            sum(map(ord, "".join(c for c in whole if c.isalpha())[:90])),
            len(found.problems),
            min(whole.count("line"), 3),
        )
    X, y, queries = whole
    assert not isinstance(blocks, str), blocks
    for a, b in zip(
        (X.data, X.indices, X.indptr, y, queries),
        (blocks[0].data, blocks[0].indices, blocks[0].indptr, *blocks[1:]),
        strict=True,
    ):
        assert np.array_equal(a, b)
    assert not found.problems
    assert found.data is not None
    assert found.data.X.shape == X.shape
    again = folder / "b.svm"
    dump_svmlight(X, y, again, query_id=queries if len(queries) else None, zero_based=True)
    back = load_svmlight(again, n_features=X.shape[1], zero_based=True, query_id=True)
    assert np.array_equal(back[0].data.view(np.int64), X.data.view(np.int64))
    assert np.array_equal(back[0].indices, X.indices)
    assert np.array_equal(back[1].view(np.int64), y.view(np.int64))
    assert np.array_equal(back[2], queries)
    return (
        len(y).bit_length(),
        X.nnz.bit_length(),
        len(queries).bit_length(),
        X.shape[1].bit_length(),
    )
