"""Parts that several figures share."""

import numpy as np

from maxmargin.plots.style import CLASS_COLOURS, INK, dots, paler


def points_of(ax, X, y, size=30):
    """The data alone, each class in its colour and with its marker, on axes of one scale."""
    for k, label in enumerate(np.unique(y)):
        dots(ax, X[y == label], k, size, f"$y = {label:+d}$" if len(np.unique(y)) == 2 else "")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")


def contours(ax, model, margins=True, shade=None, label="", linestyles="-"):
    """The boundary of a model across the axes, whose limits stay, and its margins."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    a, b = np.meshgrid(np.linspace(left, right, 160), np.linspace(low, high, 160))
    values = model.decision_function(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
    if shade:
        ax.contourf(a, b, values, levels=[0, np.inf], colors=paler([shade], 0.85), zorder=0)
    ax.contour(a, b, values, levels=[0], colors=INK, linewidths=1.5, linestyles=linestyles)
    if margins:
        ax.contour(a, b, values, levels=[-1, 1], colors=INK, linewidths=0.8, linestyles="--")
    if label:
        ax.plot([], [], color=INK, linestyle=linestyles, label=label)
    ax.set(xlim=(left, right), ylim=(low, high))


def line(ax, w, b, **style):
    """The line w'x + b = 0 across the axes, whose limits stay as they are."""
    w = np.asarray(w, float)
    foot, along = -b * w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
    limits = ax.axis()
    far = 4 * np.abs(limits).max()
    ax.plot(*np.transpose([foot - far * along, foot + far * along]), **style)
    ax.axis(limits)


def arrow(ax, start, end, colour, text="", **style):
    """An arrow with a text at its head."""
    ax.annotate(
        "",
        end,
        start,
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, **style},
    )
    if text:
        ax.annotate(text, end, (5, 5), textcoords="offset points", color=colour, fontsize=12)


def square(ax, limit):
    """Axes from -limit to limit, of one scale."""
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")


def turned(w, angle):
    """A vector of the plane turned by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ w


GREEN, PINK, AMBER = CLASS_COLOURS[2:5]
