"""Kernel rows on demand, and their cache.

The cache holds whole rows in slots of one array. A row that is missing takes the slot of the least
recently used one. The solver asks for tiles K[W, W] of a working set W and for products with rows.
With too little memory, products are computed without storing rows, with the same bits.
"""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Integers, Matrix
from maxmargin.kernel.sources import Scratch, Source


class Settings(NamedTuple):
    """How much memory kernel rows may take, and how tiles are made."""

    default: int = 200
    """scikit-learn's default of cache_size, in megabytes; here the least that an automatic cache
    takes (decision 7)."""
    share: float = 0.25
    """Share of the free memory that an automatic cache may take."""
    most: float = 0.9
    """Share of the free memory that any cache may take."""
    renewed: float = 0.6
    """Share of a tile's rows up to which these alone are computed, and copied to their columns: all
    values at once are computed by half (decision 40)."""


SETTINGS = Settings()


def free_memory() -> int:
    """Bytes of memory that can be allocated without swapping, as far as the system tells."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 2 * 2**30


def cache_bytes(cache_size: float | str, workers: int = 1) -> float:
    """Bytes of kernel rows for each of several workers, never more than is free.

    That is ``cache_size`` megabytes. The default and "auto" stand for that default or a share of
    the free memory, whichever is more (SETTINGS).
    """
    free = free_memory()
    automatic = isinstance(cache_size, str) or cache_size == SETTINGS.default
    megabytes = SETTINGS.default if isinstance(cache_size, str) else float(cache_size)
    size = max(megabytes * 2**20, SETTINGS.share * free if automatic else 0.0)
    return min(size, SETTINGS.most * free) / workers


class RowCache:
    """Kernel rows of one source in one precision; the capacity does not change any value.

    Memory: at most ``budget`` bytes; none for a precomputed matrix. ``whole`` is for problems of
    one tile: the matrix is computed at once.
    """

    def __init__(
        self, source: Source, dtype: DTypeLike, budget: float, whole: bool = False
    ) -> None:
        self.source, self.dtype, xp = source, np.dtype(dtype), source.backend.xp
        self.xp, n = xp, source.n_rows
        self._clock, self.asked_whole = 0, whole
        self.complete = whole or source.stored
        if self.complete:
            self.capacity, self._rows = n, source.block(None, None, dtype)
            self._slot = self._owner = xp.arange(n)
        else:
            self.capacity = int(min(n, budget // max(1, n * self.dtype.itemsize)))
            self._rows = xp.empty((self.capacity, n), self.dtype)
            self._slot, self._owner = xp.full(n, -1), xp.full(self.capacity, -1)
        self._used = xp.zeros(self.capacity, np.int64)
        self._scratch = Scratch(xp)
        self._last: dict[Any, tuple[Integers, Matrix]] = {}  # the last tile of each precision

    def _fetch(self, idx: Integers) -> Integers:
        """Make the rows present (there is room for all of them) and return their slots."""
        self._clock += 1
        slots: Integers = self._slot[idx]
        self._used[slots[slots >= 0]] = self._clock
        missing = self.xp.unique(idx[slots < 0])
        if len(missing):
            order = self.xp.argsort(self._used, kind="stable")[: len(missing)]
            dropped = self._owner[order]
            self._slot[dropped[dropped >= 0]] = -1
            self.source.fill_rows(missing, self._rows, order)
            self._owner[order], self._slot[missing], self._used[order] = missing, order, self._clock
            slots = self._slot[idx]
        return slots

    def is_whole(self, idx: Integers) -> bool:
        """Whether idx are all rows in order, once or more often: the tile is what is stored."""
        n = len(self._owner)
        whole = self.complete and len(idx) > 0 and len(idx) % n == 0
        return whole and bool((idx.reshape(-1, n) == self._owner).all())

    def tile(self, idx: Integers, dtype: DTypeLike | None = None) -> Matrix:
        """K[idx, idx], from stored rows where that is faster, without storing new ones.

        Of all rows several times it is K alone, as pair steps take it. It is read only and valid
        until the next call. Where most of idx is what it was, only the rest is computed.
        Values of another precision than that of the rows are computed.
        """
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        if dtype == self.dtype and self.is_whole(idx):
            return self._rows
        last, tile = self._last.pop(dtype, (idx, None))
        if tile is not None and len(last) == len(idx):
            places = self.xp.flatnonzero(last != idx)
        else:
            tile = self._scratch.matrix("tile", (len(idx), len(idx)), dtype)
            places = self.xp.arange(len(idx))
        if len(places) > SETTINGS.renewed * len(idx):
            self._fill(idx, tile)
        elif len(places):
            self._renew(idx, places, tile)
        self._last[dtype] = idx, tile
        return tile

    def _fill(self, idx: Integers, tile: Matrix) -> None:
        """tile = K[idx, idx]."""
        slots = self._slot[idx]
        stored = slots >= 0
        if tile.dtype != self.dtype or self.source.quick or not stored.any():
            self.source.fill_block(idx, idx, tile)
        elif stored.all():
            self.source.backend.gather(self._rows, slots, idx, tile)
        else:
            tile[stored] = self.source.backend.gather(self._rows, slots[stored], idx)
            tile[~stored] = self.source.block(idx[~stored], idx, self.dtype)

    def _renew(self, idx: Integers, places: Integers, tile: Matrix) -> None:
        """Rows and columns `places` of tile = K[idx, idx]."""
        slots = self._slot[idx[places]]
        if tile.dtype != self.dtype or self.source.quick or not (slots >= 0).all():
            self.source.fill_places(idx, places, tile)
        else:
            tile[places] = self.source.backend.gather(self._rows, slots, idx)
        self.source.backend.mirror(tile, places)

    def block(self, a: Integers, b: Integers) -> Matrix:
        """K[a, b], from stored rows where all of a are, without storing new ones."""
        slots = self._slot[a]
        if (slots >= 0).all():
            return self.source.backend.gather(self._rows, slots, b)
        return self.source.block(a, b, self.dtype)

    def keep(self, idx: Integers) -> None:
        """Store rows that will be asked for, if there is room for all of them."""
        if len(idx) <= self.capacity:
            self._fetch(idx)

    def add_rows(self, idx: Integers, delta: Floats, F: Floats) -> None:
        """F += sum of delta_i K[idx_i], in the order of idx."""
        if len(idx) <= self.capacity:
            self.source.backend.update_gradient(self._rows, self._fetch(idx), delta, F)
        else:
            self.source.add_product(
                idx, self.xp.ascontiguousarray(delta[:, None]), None, F[None, :], self.dtype
            )
