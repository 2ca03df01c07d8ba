"""The last rounds of AutoSVC: the best candidates with other and more folds.

The best of many scores is the best partly by luck: which samples share a fold moves each score, and
near the best candidate the surface is flat. And machines of a fold have fewer samples than the last
fit, which likes a larger gamma. So candidates within two standard errors of the best are
cross-validated again, with other folds and twice as many, and these scores alone decide. By
successive halving (Jamieson and Talwalkar 2016) each round keeps the better half; a candidate has
the mean of its rounds. One that beats all others by more than the noise needs no round.
"""

from typing import NamedTuple

from maxmargin.model_selection.explorer import Explorer
from maxmargin.model_selection.trials import Trial, difference, finalists


class Settings(NamedTuple):
    """The sizes of the rounds (decision 24)."""

    rounds: int = 3
    """Greatest number of rounds: partitions of the samples into folds."""
    folds: int = 2
    """How many times as many folds as in the search."""
    candidates: int = 8
    """Greatest number of candidates of the first round."""
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
        """Rounds of RBF machines, then of the best linear one, within some seconds."""
        explorer = self.explorer
        kept = explorer.left - room
        trials = finalists(explorer.of("rbf"), self.settings.candidates)
        if len(trials) < 2 or not self._worth(trials[0]):
            return
        for k in range(len(explorer.samples.others)):
            trials = self._affordable(trials, explorer.left - kept)
            if len(trials) < 2 or not self._again(trials, k, explorer.left - kept):
                break
            finals = [one for one in explorer.finals if one.kernel == "rbf"]
            trials = finalists(finals, max(len(trials) // 2, 2))
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

    def _again(self, trials: list[Trial], k: int, room: float) -> bool:
        """Round k; False if it did not end."""
        done = not self.explorer.interrupted and self.explorer.repeat(trials, k, room)
        self.limited |= not done
        return done

    def _even(self, kept: float) -> None:
        """The rounds of the best RBF machine for the best linear one."""
        explorer = self.explorer
        rbf, linear = explorer.best("rbf"), explorer.best("linear")
        if rbf not in explorer.finals or linear is None or linear.samples != rbf.samples:
            return
        for k in range(rbf.partitions):
            if not self._again([linear], k, explorer.left - kept):
                return
            linear = explorer.finals[-1]
