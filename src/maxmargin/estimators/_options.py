"""Parameters that are one of a few words.

Error messages list the words in alphabetical order and suggest the one that was probably meant.
"""

from collections.abc import Mapping
from typing import Any

from sklearn.utils import _param_validation
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from maxmargin.suggestions import did_you_mean


class StrOptions(_param_validation.StrOptions):  # type: ignore[misc]
    """scikit-learn's constraint, with a message that is the same in every process.

    scikit-learn lists the options in the order of a set, which differs between processes.
    """

    def __str__(self) -> str:
        """The options in alphabetical order."""
        options = ", ".join(self._mark_if_deprecated(option) for option in sorted(self.options))
        return f"a str among {{{options}}}"


def validate(constraints: Mapping[str, Any], values: Mapping[str, Any], caller: str) -> None:
    """As scikit-learn does; the error ends with the option that was probably meant."""
    for name, value in values.items():
        try:
            validate_parameter_constraints(constraints, {name: value}, caller_name=caller)
        except InvalidParameterError as error:
            known = [
                option
                for item in constraints[name]
                if isinstance(item, StrOptions)
                for option in item.options
            ]
            raise InvalidParameterError(f"{error}{did_you_mean(value, sorted(known))}") from None
