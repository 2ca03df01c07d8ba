"""The container of .mm files: an uncompressed zip of header.json and raw arrays, no code.

    header.json      {"format": "maxmargin model", "version": 2, "library": "0.1.0",
                      "model": ..., "arrays": [[dtype, shape, sha256], ...]}
    arrays/0, ...    the bytes of each array, little-endian, in C's order

Files may come from untrusted sources, so the parser has limits. The sizes of the central directory
and of the header are bounded, and nothing is decompressed. All members together may not be larger
than the file. The size of a shape is computed in Python's integers and compared with the size of
its member before anything is allocated. Every member is compared with its checksum.
"""

import hashlib
import json
import math
import re
import struct
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from maxmargin.io.files import atomic_write

FORMAT, VERSION, OLDEST = "maxmargin model", 2, 1
HEADER, PREFIX = "header.json", "arrays/"
MOST_MEMBERS, MOST_DIRECTORY, MOST_HEADER = 10_000, 2**21, 2**23
"""Largest number of members, bytes of the zip's directory and bytes of the header."""
PIECE = 2**24
"""Bytes read at once."""
MOST_DIMENSION, MOST_AXES = 2**48, 4
DTYPES = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,5}")
"""Types that arrays may have: booleans, integers, floats, strings of a fixed length."""
LONE_END, LOCATOR, END64 = b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06"
GREATEST: dict[str, tuple[Any, int]] = {"b": (np.uint8, 1), "U": (np.dtype("<u4"), 0x10FFFF)}
"""Largest values of booleans and characters, which do not use all values of their bytes."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of every member, so that equal models are equal files."""


DAMAGED = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    struct.error,
    OverflowError,
)
"""Errors that reading a manipulated zip raises; OSError is for offsets before its beginning."""


class Arrays:
    """The arrays of a file that is being written; equal objects are stored once."""

    def __init__(self) -> None:
        self.kept: list[NDArray[Any]] = []
        self._place: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is unique only while its object lives

    def add(self, array: NDArray[Any]) -> int:
        """Store an array and return its number."""
        if id(array) not in self._place:
            little = np.ascontiguousarray(array).reshape(array.shape)
            little = little.astype(little.dtype.newbyteorder("<"), copy=False)
            if not DTYPES.fullmatch(little.dtype.str):
                raise ValueError(f"a model file cannot hold arrays of type {array.dtype}.")
            self._place[id(array)] = len(self.kept)
            self.kept.append(little)
            self._alive.append(array)
        return self._place[id(array)]


def _bytes(array: NDArray[Any]) -> Any:
    return array.reshape(-1).view(np.uint8) if array.size else b""


def write(path: Any, model: Any, arrays: Arrays) -> None:
    """Write a file atomically."""
    table = [
        [array.dtype.str, list(array.shape), hashlib.sha256(_bytes(array)).hexdigest()]
        for array in arrays.kept
    ]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "library": metadata.version("maxmargin"),
        "model": model,
        "arrays": table,
    }
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > MOST_HEADER or len(arrays.kept) >= MOST_MEMBERS:
        raise ValueError(
            f"the model has too many parts for a file: a header of {len(text)} bytes, "
            f"{len(arrays.kept)} arrays."
        )
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, EPOCH), text)
        for k, array in enumerate(arrays.kept):
            with archive.open(
                zipfile.ZipInfo(f"{PREFIX}{k}", EPOCH), "w", force_zip64=array.nbytes >= 2**31
            ) as member:
                member.write(_bytes(array))


# ---- reading -------------------------------------------------------------------------------------


class Archive:
    """A file that is being read."""

    def __init__(self, path: Any) -> None:
        self.path = Path(path)
        with open(self.path, "rb") as file:
            try:
                self._read(file)
            except DAMAGED as error:
                raise self.error(f"it is damaged: {error}") from None

    def error(self, message: str) -> ValueError:
        """Return an error that names the file."""
        return ValueError(f"{self.path} cannot be loaded: {message}")

    def _read(self, file: BinaryIO) -> None:
        size = file.seek(0, 2)
        self._check_directory(file, size)
        with zipfile.ZipFile(file) as archive:
            members = self._members(archive, size)
            self.header = self._header(archive.read(members[HEADER]))
            table = self.header.get("arrays")
            if not isinstance(table, list) or set(members) != {
                HEADER,
                *(f"{PREFIX}{k}" for k in range(len(table))),
            }:
                raise self.error("its members are not those that its header lists.")
            self.arrays = [
                self._array(archive, members[f"{PREFIX}{k}"], entry)
                for k, entry in enumerate(table)
            ]

    def _check_directory(self, file: BinaryIO, size: int) -> None:
        """Refuse a directory that would need much memory, before it is read."""
        file.seek(max(0, size - 98))
        tail = file.read()
        if len(tail) < 22 or tail[-22:-18] != LONE_END:
            raise self.error("it does not end like a model file: was it cut off?")
        count, directory = struct.unpack("<HL", tail[-12:-6])
        if tail[-42:-38] == LOCATOR:
            if tail[:4] != END64:
                raise self.error(
                    "it is damaged: the end of its directory is not where it should be."
                )
            count, directory = struct.unpack("<QQ", tail[32:48])
        if count > MOST_MEMBERS or directory > MOST_DIRECTORY:
            raise self.error(
                f"it has {count} members in a directory of {directory} bytes, more than a model "
                "can have."
            )

    def _members(self, archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
        infos = archive.infolist()
        members = {info.filename: info for info in infos}
        if len(members) != len(infos) or len(infos) > MOST_MEMBERS:
            raise self.error("two of its members have the same name.")
        if HEADER not in members:
            raise self.error(f"it has no {HEADER}: it is a zip, but not a model.")
        stored = all(
            i.compress_type == zipfile.ZIP_STORED
            and i.file_size == i.compress_size
            and not i.flag_bits & 1
            for i in infos
        )
        if not stored:
            raise self.error("its members are compressed or encrypted; those of a model never are.")
        if sum(info.file_size for info in infos) > size:
            raise self.error(
                "its members are larger than the file: they overlap, or it was cut off."
            )
        if members[HEADER].file_size > MOST_HEADER:
            raise self.error(
                f"its header has {members[HEADER].file_size} bytes, more than the limit of "
                f"{MOST_HEADER}."
            )
        return members

    def _header(self, text: bytes) -> dict[str, Any]:
        try:
            header = json.loads(text.decode("utf-8"), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise self.error(f"its header is not JSON: {error}") from None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise self.error("its header is not that of a model.")
        version = header.get("version")
        if type(version) is not int or not OLDEST <= version <= VERSION:
            writer = str(header.get("library"))[:20]
            newer = type(version) is int and version > VERSION
            remedy = f" It was written by maxmargin {writer!r}; update maxmargin." if newer else ""
            raise self.error(
                f"its format has version {str(version)[:20]}; this library reads versions {OLDEST} "
                f"to {VERSION}.{remedy}"
            )
        return header

    def _array(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, entry: Any) -> NDArray[Any]:
        """Return the array of a member, after checking its shape, size and checksum."""
        if not (
            isinstance(entry, list)
            and len(entry) == 3
            and all(isinstance(entry[k], str) for k in (0, 2))
            and isinstance(entry[1], list)
        ):
            raise self.error(f"{info.filename} is not described by type, shape and checksum.")
        name, shape, digest = entry
        if not DTYPES.fullmatch(name):
            raise self.error(
                f"{info.filename} is an array of type {name[:20]!r}, which is not accepted."
            )
        if len(shape) > MOST_AXES or not all(
            type(k) is int and 0 <= k <= MOST_DIMENSION for k in shape
        ):
            raise self.error(f"{info.filename} has a shape that is not accepted.")
        dtype = np.dtype(name)
        if math.prod(shape) * dtype.itemsize != info.file_size:
            raise self.error(
                f"{info.filename} has {info.file_size} bytes, which are not {name} of shape "
                f"{tuple(shape)}."
            )
        raw = _content(archive, info)
        if hashlib.sha256(raw).hexdigest() != digest:
            raise self.error(f"{info.filename} does not have the checksum it was written with.")
        array = np.frombuffer(raw, dtype).reshape(shape) if raw else np.empty(shape, dtype)
        limit = GREATEST.get(dtype.kind)
        if limit is not None and raw and (np.frombuffer(raw, limit[0]) > limit[1]).any():
            raise self.error(f"{info.filename} holds values that {name} does not have.")
        return array.astype(dtype.newbyteorder("="), copy=False)


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytearray:
    """Return the bytes of a member, read into memory of its size."""
    raw, at = bytearray(info.file_size), 0
    member: Any
    with archive.open(info) as member, memoryview(raw) as view:
        while at < len(raw):
            got = member.readinto(view[at : at + PIECE])
            if not got:
                raise EOFError(f"{info.filename} ends too early")
            at += got
        member.read(1)  # at the end the zip checks its own checksum
    return raw


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
