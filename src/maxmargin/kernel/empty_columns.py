"""Sparse data without their empty columns, which change no kernel value.

Hashed text has a million columns, of which few are in use.
"""

from typing import Any

import numpy as np
from scipy import sparse

MANY_COLUMNS = 4096
"""Columns up to which data are taken as they are."""


def without_empty_columns(A: Any, B: Any = None) -> tuple[Any, Any]:
    """Two CSR matrices over the columns in which one of them stores an entry.

    Anything else is returned as it is.
    """
    both = sparse.issparse(A) and (B is None or sparse.issparse(B))
    if not both or A.shape[1] <= MANY_COLUMNS:
        return A, B
    used = np.unique(A.indices) if B is None else np.union1d(A.indices, B.indices)

    def narrow(X: Any) -> Any:
        return sparse.csr_matrix(
            (X.data, np.searchsorted(used, X.indices), X.indptr), shape=(X.shape[0], len(used))
        )

    return narrow(A), None if B is None else narrow(B)
