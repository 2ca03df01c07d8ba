"""The tests of packages that use scikit-learn's SVMs, with and without ``patch_sklearn()``: only
differences count.

    make downstream                   # all packages
    make downstream ARGS=skl2onnx     # some

A test that fails with maxmargin and passes without it must be listed in ``packages.KNOWN`` with a
reason, and a listed one that passes with maxmargin must go from that list: else the command fails.
A test that fails both ways (for want of a network, for one) does not count. The table goes to
docs/downstream.md.
"""

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from packages import COMMON, KNOWN, PACKAGES, Package

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCES = ROOT / "build" / "downstream"
PAGE = ROOT / "docs" / "downstream.md"
TIMEOUT = 1200
"""Seconds for the tests of a package."""
TEST_TIMEOUT = 300
"""Seconds for one test: one that hangs fails, and the others still run."""


class Result(NamedTuple):
    """What the tests of a package said."""

    package: Package
    without: dict[str, bool]
    patched: dict[str, bool]
    fits: int

    @property
    def different(self) -> list[str]:
        """Tests that pass without maxmargin and do not with it; of our own, all that do not pass
        with it."""
        ours = self.package.where == "here"
        names = self.without.keys() | self.patched.keys()
        return sorted(
            one for one in names if (ours or self.without.get(one)) and not self.patched.get(one)
        )


def requirements() -> list[str]:
    """Everything that the environment needs, pinned."""
    packages = (f"{one.name}=={one.version}" for one in PACKAGES)
    needs = (name for one in PACKAGES for name in one.needs)
    return list(dict.fromkeys([*COMMON, *packages, *needs]))


def folder(package: Package) -> Path:
    """Where the tests of a package are; its source distribution is downloaded once."""
    if not package.where.startswith("sdist:"):
        return HERE if package.where == "here" else SOURCES
    name = f"{package.name}-{package.version}"
    if not (SOURCES / name).exists():
        options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(SOURCES)]
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                *options,
                f"{package.name}=={package.version}",
            ],
            check=True,
        )
        with tarfile.open(SOURCES / f"{name}.tar.gz") as archive:
            archive.extractall(SOURCES, filter="data")
    return SOURCES / name / package.where.removeprefix("sdist:")


def outcomes(package: Package, *options: str) -> tuple[dict[str, bool], int]:
    """Whether each test passed, and the fits by maxmargin."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
    ]
    command += ["--timeout", str(TEST_TIMEOUT)]
    if not package.where:  # or the names of tests lack that of their file
        command += ["--rootdir", sys.prefix]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "COLUMNS": "1000", "MPLBACKEND": "agg"}
    done = subprocess.run(
        [*command, *options, *package.tests],
        cwd=folder(package),
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    lines = re.findall(r"^(PASSED|FAILED|ERROR) (\S*::.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if not lines:
        raise RuntimeError(
            f"{package.name}: no test ran\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    fits = re.search(r"(\d+) fits by maxmargin", done.stdout)
    return {name: outcome == "PASSED" for outcome, name in lines}, int(fits[1]) if fits else 0


def reason(test: str) -> str | None:
    """Why a test is known to differ."""
    return next((why for pattern, why in KNOWN.items() if re.search(pattern, test)), None)


def complaints(results: list[Result]) -> list[str]:
    """What has to be mended, in the library or in the list of known differences."""
    new = [name for one in results for name in one.different if reason(name) is None]
    mended = [
        name for one in results for name, passed in one.patched.items() if passed and reason(name)
    ]
    idle = [one.package.name for one in results if not one.fits]
    return [
        *(
            f"NOT KNOWN: {name} fails with maxmargin only: mend it, or list it in KNOWN"
            for name in new
        ),
        *(f"NO LONGER: {name} passes with maxmargin: take it from KNOWN" for name in mended),
        *(f"NOT USED: no test of {name} fitted a model of maxmargin" for name in idle),
    ]


INTRODUCTION = """\
`make downstream` runs the tests of packages that use scikit-learn's SVMs, once unchanged and once
with `patch_sklearn()`, and writes this page. A test that fails both ways does not count. mlxtend
and pyod publish no tests on PyPI, so `tests/downstream/uses_*.py` are ours. Those for scikit-learn
are scripts in the style of its gallery, in which a warning is an error. scikit-learn is
{version}."""


def page(results: list[Result]) -> str:
    """The table and the known differences, as Markdown."""
    rows = [
        f"| {one.package.name} "
        f"{one.package.version}{' (our tests of its use)' if one.package.where == 'here' else ''} "
        "| "
        f"{len(one.without)} | {sum(one.without.values())} | {sum(one.patched.values())} | "
        f"{one.fits} | {len(one.different)} |"
        for one in results
    ]
    known = [
        f"| `{name.split('/')[-1]}` | {reason(name) or 'not known'} |"
        for one in results
        for name in one.different
    ]
    return "\n".join(
        [
            "# Other packages' tests, run on maxmargin",
            "",
            INTRODUCTION.format(version=COMMON[0].split("==")[1]),
            "",
            "| package | tests | pass without | pass with | fits by maxmargin | fail with "
            "maxmargin only |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            *(["| fails with maxmargin only | why |", "|---|---|", *known, ""] if known else []),
        ]
    )


def main(chosen: list[str]) -> int:
    """Run the packages chosen, or all, and say whether every difference is known."""
    SOURCES.mkdir(parents=True, exist_ok=True)
    results = []
    for package in PACKAGES:
        if chosen and package.name not in chosen:
            continue
        print(f"{package.name} {package.version} ...", flush=True)
        without, _ = outcomes(package)
        patched, fits = outcomes(package, "-p", "maxmargin.sklearn_patch")
        results.append(Result(package, without, patched, fits))
    text = page(results)
    print(text)
    if not chosen:
        PAGE.write_text(text)
    found = complaints(results)
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    if sys.argv[1:] == ["--requirements"]:
        print("\n".join(requirements()))
    else:
        sys.exit(main(sys.argv[1:]))
