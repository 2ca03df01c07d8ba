"""Packages that use scikit-learn's SVMs: which of their tests are run, and the differences that are
known."""

from typing import NamedTuple

COMMON = ("scikit-learn==1.9.1", "pytest==9.2.0", "pytest-timeout==2.4.0")


class Package(NamedTuple):
    """A pinned package and its tests of SVMs."""

    name: str
    version: str
    tests: tuple[str, ...]
    """Arguments of pytest."""
    where: str
    """Folder of the tests: in the source distribution ("sdist:tests"), installed ("") or here
    ("here")."""
    needs: tuple[str, ...] = ()
    """Other pinned packages."""


PACKAGES = (
    Package(
        "skl2onnx",
        "1.20.0",
        (
            "test_sklearn_svm_converters.py",
            "test_sklearn_glm_classifier_converter.py",
            "test_sklearn_glm_regressor_converter.py",
            "test_sklearn_one_vs_rest_classifier_converter.py",
            "test_sklearn_one_vs_one_classifier_converter.py",
            "test_sklearn_calibrated_classifier_cv_converter.py",
            "-k",
            "svc or svr or svm or SVC or SVR or SVM",
        ),
        "sdist:tests",
        ("onnx==1.23.2", "onnxruntime==1.31.1"),
    ),
    Package(
        "imbalanced-learn",
        "0.14.2",
        (
            "--pyargs",
            "imblearn.over_sampling._smote.tests.test_svm_smote",
            "imblearn.ensemble.tests.test_bagging",
            "imblearn.tests.test_pipeline",
        ),
        "",
    ),
    Package(
        "nilearn",
        "0.14.1",
        ("--pyargs", "nilearn.decoding.tests.test_decoder", "-k", "svc or svr or surface"),
        "",
        ("polars==2.1.0", "numpydoc==1.11.0"),
    ),
    Package("tslearn", "0.10.0", ("test_svm.py",), "sdist:tests"),
    Package("mlxtend", "0.25.0", ("uses_mlxtend.py",), "here"),
    Package("pyod", "3.6.7", ("uses_pyod.py",), "here"),
    Package("skl2onnx", "1.20.0", ("uses_skl2onnx.py",), "here"),
    Package("scikit-learn", "1.9.1", ("uses_scikit_learn.py",), "here"),
)

PROBABILITY = "fits with `probability=True`, which raised when this page was made"

KNOWN = {
    r"svm_converters.*_(ptrue(_4)?|class_true|break_ties)$": PROBABILITY,
    r"svm_converters.*::test_convert_nusvc_multi_pfalse$": (
        "one pair of classes has a margin near 0 at this nu: the coefficients of the exact "
        "solution are so large "
        "that the float32 sums of ONNX lose their digits; those of LIBSVM, which stops earlier, "
        "are smaller"
    ),
    r"test_decoder_regressor_predict_score_surface$": (
        "asks for an R² below 0 on random targets: scikit-learn stops at `max_iter`, far from the "
        "solution; "
        "ours is solved, and its R² is a little above 0"
    ),
}
"""Tests that fail with maxmargin only, and why: regular expressions of their names."""
