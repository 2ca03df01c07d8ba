"""Small data in the plane for the figures, the same every time."""

import numpy as np
from sklearn.datasets import make_circles, make_moons


def separable(seed=3, n=24):
    """Two clouds with a gap between them."""
    random = np.random.default_rng(seed)
    y = np.repeat([-1, 1], n // 2)
    return random.normal(scale=0.55, size=(n, 2)) + 1.4 * y[:, None], y


def overlapping(seed=7, n=50, gap=1.1):
    """Two clouds that overlap."""
    random = np.random.default_rng(seed)
    y = np.repeat([-1, 1], n // 2)
    return random.normal(size=(n, 2)) + gap * y[:, None], y


def crescents(noise=0.2, n=100, seed=0):
    """Two crescents."""
    X, y = make_moons(n, noise=noise, random_state=seed)
    return X, 2 * y - 1


def rings(noise=0.1, n=120, seed=0):
    """A ring around a disc."""
    X, y = make_circles(n, noise=noise, factor=0.45, random_state=seed)
    return X, 2 * y - 1


def xor(n=80, seed=0, spread=0.3):
    """Four clouds at the corners of a square; opposite corners are of one class."""
    corners = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])[np.arange(n) % 4]
    noise = np.random.default_rng(seed).normal(size=(n, 2))
    return corners + spread * noise, np.sign(corners.prod(axis=1)).astype(int)


def three_clouds(seed=1, n=90, spread=0.6):
    """Three clouds at the corners of a triangle."""
    random = np.random.default_rng(seed)
    corners = np.array([[0.0, 1.2], [-1.2, -0.8], [1.2, -0.8]])
    y = np.arange(n) % 3
    return corners[y] + spread * random.normal(size=(n, 2)), y


def uneven_clouds(seed=0, k=3):
    """Clouds of unequal width at random places.

    Their pairs' boundaries do not meet in one point.
    """
    random = np.random.default_rng(seed)
    y = np.arange(30 * k) % k
    places, width = random.uniform(-2.2, 2.2, size=(k, 2)), random.uniform(0.2, 0.9, size=k)
    return places[y] + width[y][:, None] * random.normal(size=(30 * k, 2)), y


def sine(seed=0, n=60, noise=0.18):
    """A noisy sine curve."""
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(0, 2 * np.pi, n))
    return x[:, None], np.sin(x) + noise * random.normal(size=n)


def strips(seed=1, n=60):
    """Two strips without labels, and a point with a label at an end of each."""
    random = np.random.default_rng(seed)
    side = np.repeat([-1.0, 1.0], n // 2)
    U = np.column_stack([1.2 * random.normal(size=n), side + 0.3 * random.normal(size=n)])
    return np.array([[-1.5, -1.0], [1.5, 1.0]]), np.array([-1, 1]), U


def parts(seed=19, n=14):
    """Bags of three parts.

    One part of each positive bag lies above all others. The rest of them lie further to the right
    than those of negative bags, which misleads at first.
    """
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    bags = random.normal(size=(n, 3, 2)) * [1.6, 0.6]
    bags[y > 0, :, 0] += 1.5
    bags[y > 0, 0] = [0.0, 2.5] + [0.8, 0.35] * random.normal(size=(n // 2, 2))
    return list(bags), y


def ring_and_strays(seed=5, n=60):
    """An arc of points, and a few far from it."""
    random = np.random.default_rng(seed)
    angle = random.uniform(-0.2, 1.2 * np.pi, n - 4)
    arc = np.column_stack([2 * np.cos(angle), 1.6 * np.sin(angle)])
    strays = np.array([[3.6, 2.6], [-3.4, 2.4], [0.1, -1.6], [3.2, -1.9]])
    return np.vstack([arc + 0.25 * random.normal(size=arc.shape), strays])


def fan(seed=0, n=160):
    """A wave whose noise grows."""
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(0, 6, n))
    return x[:, None], np.sin(x) + (0.08 + 0.13 * x) * random.normal(size=n)


def uneven(share=0.05, seed=0, n=400):
    """Two clouds that overlap; one is rare."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1, -1)
    X = random.normal(size=(n, 2))
    X[y > 0] += [1.2, 0.7]
    return X, y
