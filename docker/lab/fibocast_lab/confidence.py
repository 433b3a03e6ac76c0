"""What can be said from repetitions: confidence by the bootstrap, differences by Mann and Whitney's test.

Neither assumes a normal distribution: latencies have a floor and a long tail.
"""
import math
import random
from statistics import NormalDist, median

RESAMPLES = 2000


def bootstrap(values, statistic, seed=1, resamples=RESAMPLES):
    """Sorted values of a statistic of resampled lists; `values` is one list, or several that are resampled apart."""
    dice = random.Random(seed)
    return sorted(statistic(*[dice.choices(v, k=len(v)) for v in values]) for _ in range(resamples))


def interval(sorted_values, confidence=0.95):
    """The middle part of a bootstrap's values."""
    last = len(sorted_values) - 1
    return sorted_values[round(last * (1 - confidence) / 2)], sorted_values[round(last * (1 + confidence) / 2)]


def uncertainty(values):
    """Half of the width of the median's 95 % confidence interval, in parts of the median (normal approximation of the
    order statistics, which is cheap enough to ask after every round)."""
    n = len(values)
    if n < 3:
        return math.inf
    ordered, reach = sorted(values), 1.96 * math.sqrt(n) / 2
    low, high = ordered[max(0, math.floor(n / 2 - reach))], ordered[min(n - 1, math.ceil(n / 2 + reach) - 1)]
    return (high - low) / 2 / median(values)


def ranks_of(values):
    """1, 2, ..; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in order[at:end + 1]:
            ranks[i] = (at + end) / 2 + 1
        at = end + 1
    return ranks


def mann_whitney(a, b):
    """Two-sided p that a and b come from one distribution: exact for few values without ties, else approximate."""
    n, m = len(a), len(b)
    ranks = ranks_of(a + b)
    u = sum(ranks[:n]) - n * (n + 1) / 2
    u = min(u, n * m - u)
    if n + m <= 20 and len(set(a + b)) == n + m:
        ways = u_counts(n, m)
        return min(1.0, 2 * sum(ways[:int(u) + 1]) / sum(ways))
    ties = sum(count ** 3 - count for count in map((a + b).count, set(a + b)))
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance == 0:
        return 1.0
    return min(1.0, 2 * NormalDist().cdf((u - n * m / 2 + 0.5) / math.sqrt(variance)))


def u_counts(n, m):
    """In how many ways n values among n + m can have U = 0, 1, ..: the coefficients of the Gaussian binomial."""
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways


def holm(p_values, level=0.05):
    """Which of many tests are significant together (Holm's step-down): the chance of any false alarm is `level`."""
    significant, order = [False] * len(p_values), sorted(range(len(p_values)), key=p_values.__getitem__)
    for step, i in enumerate(order):
        if p_values[i] > level / (len(p_values) - step):
            break
        significant[i] = True
    return significant


def line(points):
    """Least squares: (slope, intercept) of y over x."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    squares = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / squares if squares else 0
    return slope, mean_y - slope * mean_x
