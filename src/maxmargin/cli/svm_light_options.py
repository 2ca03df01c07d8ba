"""Options that the programs of SVM-light, SVM-rank and SVM-perf share.

    -t 0 linear   1 polynomial (s x.z + r)^d   2 RBF exp(-g |x - z|^2)   3 sigmoid tanh(s x.z + r)
    -d 3   -g 1   -s 1   -r 1

SVM-struct is the frame of SVM-rank and SVM-perf. Its options:

    -p 1 sum of slacks   -o 2 margin rescaling   -y verbosity of the inner solver
    -w algorithm   -k, -f, -b constraints to add, to cache, to refresh
    -n, -m, -h, -# of the inner solver

-p 2 (squared slacks), -o 1 (slack rescaling) and -a (dual variables of constraints) are not
available. The rest steers the algorithm: it is accepted, and the optimum is the same.
"""

from typing import Any

import typer

from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags, files
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.svm_train import warn_unused
from maxmargin.kernel.kernels import Kernel

USED_BY_KERNEL = {"d": (1,), "g": (2,), "s": (1, 3), "r": (1, 3)}
STRUCT_MODEL = "svm_struct_model"
"""The model file of SVM-struct if none is named."""
STRUCT: dict[str, Any] = {
    "c": 0.01,
    "p": 1,
    "o": 2,
    "k": 100,
    "f": 5,
    "b": 100.0,
    "n": 0,
    "m": 40.0,
    "h": 100,
    "#": 100_000,
    "t": 0,
    "d": 3,
    "g": 1.0,
    "s": 1.0,
    "r": 1.0,
    "u": "",
    "a": "",
    "v": 1,
    "y": 0,
}
"""The options of SVM-struct and their defaults, without -l, -w and -e, whose defaults differ."""


def check_choice(found: Flags, name: str, known: tuple[Any, ...]) -> None:
    """Raise an error if an option is none of a few values."""
    if found[name] not in known:
        *first, last = map(str, known)
        raise usage(f"-{name} must be {', '.join(first)} or {last}, got {found[name]}")


def check_kernel(found: Flags) -> None:
    """Raise an error for kernels that are not available; warn about numbers a kernel lacks."""
    if found["t"] == 4 or found["u"]:
        raise usage(
            "-t 4 and -u are a kernel written in C; in Python any function is a kernel: "
            "SVC(kernel=function)"
        )
    check_choice(found, "t", (0, 1, 2, 3))
    warn_unused(found, "t", USED_BY_KERNEL)


def kernel_of(found: Flags) -> Kernel:
    """Return the kernel of the options."""
    if found["t"] == 0:
        return Kernel.linear()
    if found["t"] == 2:
        return Kernel.rbf(found["g"])
    inner = found["s"], found["r"]
    return Kernel.poly(found["d"], *inner) if found["t"] == 1 else Kernel.sigmoid(*inner)


# ---- SVM-struct ----------------------------------------------------------------------------------


def check_struct(found: Flags) -> None:
    """Raise an error for options that SVM-struct refuses or that are not available."""
    check_kernel(found)
    for name in ("c", "e"):
        if not found[name] > 0:
            raise usage(f"-{name} must be positive, got {found[name]}")
    if found["p"] == 2:
        raise usage("-p 2, squared slack variables, is not available: -p 1 adds them up")
    if found["o"] == 1:
        raise usage("-o 1, slack rescaling, is not available: -o 2 is margin rescaling")
    if found["a"]:
        raise usage("-a is not available: the solver keeps no dual variables of all constraints")
    check_choice(found, "p", (1, 2))
    check_choice(found, "o", (1, 2))
    check_choice(found, "w", (0, 1, 2, 3, 4, 9))


def struct_files(found: Flags) -> tuple[str, str]:
    """Return the example file and the model file, whose name may be left out."""
    path, *rest = files(found, 1, 2, "an example file and a model file")
    output = rest[0] if rest else STRUCT_MODEL
    check_outputs(output, inputs=(path,))
    return path, output


def print_solution(model: Any) -> None:
    """Print what SVM-struct prints of a solution, and the certificate."""
    found = model.certificate_
    typer.echo(f"Upper bound on duality gap: {found.gap:.5f}")
    typer.echo(f"Dual objective value: dval={found.dual:.5f}")
    typer.echo(f"Primal objective value: pval={found.primal:.5f}")
    typer.echo(f"Number of iterations: {model.n_iter_}")
    typer.echo(str(found))
