"""The last rounds of AutoSVC: the best candidates on other partitions of the samples into folds.

The best of many scores is the best partly by luck: which samples share a fold moves each score, and
near the best candidate the surface is flat. So candidates within two standard errors of the best
are cross-validated again with other folds; each has the mean of all its scores. By successive
halving (Jamieson and Talwalkar 2016) each round keeps the better half. A candidate that is better
than all others by more needs no round.
"""

from typing import NamedTuple

from maxmargin.model_selection.explorer import Explorer
from maxmargin.model_selection.trials import Trial, difference, finalists


class Settings(NamedTuple):
    """The sizes of the rounds (decision 24)."""

    partitions: int = 4
    """Greatest number of partitions into folds, the first included."""
    candidates: int = 8
    """Greatest number of candidates of the first round; each round halves it."""
    margin: float = 1.3
    """Predicted times are multiplied by this."""


SETTINGS = Settings()


class Finals:
    """The rounds of one search."""

    def __init__(self, explorer: Explorer, settings: Settings = SETTINGS) -> None:
        self.explorer, self.settings = explorer, settings
        self.limited = False
        """Whether the time left out a round or a candidate."""

    def run(self, room: float) -> None:
        """Rounds of RBF machines, then the same partitions for the best linear one, all within some
        seconds."""
        explorer = self.explorer
        kept = explorer.left - room
        partitions = 1 + len(explorer.samples.others)
        most = self.settings.candidates
        for _ in range(1, partitions):
            trials = self._affordable(finalists(explorer.of("rbf"), most), explorer.left - kept)
            if len(trials) < 2 or not self._worth(trials[0]):
                break
            if not self._again(trials, explorer.left - kept):
                return
            most = max(len(trials) // 2, 2)
        self._even(kept)

    def _worth(self, leader: Trial) -> bool:
        """Whether an RBF machine may still be chosen."""
        linear = self.explorer.best("linear")
        if linear is None:
            return True
        gain, error = difference(leader, linear)
        return not gain < -error

    def _affordable(self, trials: list[Trial], room: float) -> list[Trial]:
        """As many of the trials as the time allows."""
        while len(trials) > 1:
            if self.settings.margin * self.explorer.predicted_again(trials) <= room:
                break
            self.limited = True
            trials = trials[:-1]
        return trials

    def _again(self, trials: list[Trial], room: float) -> bool:
        """One round; False if it did not end."""
        done = not self.explorer.interrupted and self.explorer.repeat(trials, room)
        self.limited |= not done
        return done

    def _even(self, kept: float) -> None:
        """Score the best linear machine on every partition that the best RBF machine has."""
        explorer = self.explorer
        rbf, linear = explorer.best("rbf"), explorer.best("linear")
        if rbf is None or linear is None or linear.samples != rbf.samples:
            return
        for _ in range(linear.partitions, rbf.partitions):
            linear = explorer.best("linear")
            if linear is None or not self._again([linear], explorer.left - kept):
                return
