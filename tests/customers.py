"""A made-up table of customers: an id, numbers, categories, gaps, a date, free text, and labels, some of them wrong.

The true label follows from the columns by a rule with a curve, so that no single column gives it away.
"""

import csv

import numpy as np

HEADING = [
    "customer_id", "age", "education", "occupation", "marital_status", "hours_per_week", "capital_gain", "joined",
    "comment", "income",
]  # fmt: skip
_EDUCATION = ["school", "college", "bachelor", "master", "doctorate"]
_OCCUPATION = ["clerk", "engineer", "nurse", "teacher", "driver", "manager", "farmer", "artist", "chef", "lawyer"]
_PAY = np.array([-0.6, 0.9, 0.0, 0.2, -0.5, 1.1, -0.9, -0.7, -0.4, 1.3])
_MARITAL = ["single", "married", "divorced", "widowed"]
_GOOD = ["renewed the premium plan", "asked for the gold card", "bought two seats in first class"]
_PLAIN = ["called about the bill", "changed the address", "asked for a copy of the contract", "no remarks at the time"]
_POOR = ["asked to pay in small parts", "missed a payment last month", "cancelled the second card"]


def customers(n=5000, *, wrong=0.2, seed=0):
    """Return ``(rows, clean)``: rows of texts as a CSV file has them, the noisy label last, and the clean labels."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    education = rng.choice(5, n, p=[0.3, 0.25, 0.25, 0.15, 0.05])
    occupation = rng.choice(10, n)
    marital = rng.choice(4, n, p=[0.35, 0.45, 0.15, 0.05])
    hours = np.clip(rng.normal(40, 10, n), 5, 90).round()
    gain = np.where(rng.random(n) < 0.1, rng.lognormal(8, 1, n), 0).round()
    joined = np.datetime64("2012-01-01") + rng.integers(0, 4000, n)
    mood = rng.normal(size=n)
    score = (
        1.6 * (education - 1.5)
        + 1.5 * _PAY[occupation]
        + 1.2 * (marital == 1)
        + 0.07 * (hours - 40)
        - 0.0035 * (age - 48) ** 2
        + 0.35 * np.log1p(gain)
        + 1.3 * mood
        - (joined - np.datetime64("2017-06-01")).astype(int) / 1500
        - 0.2
        + rng.logistic(size=n) * 0.6
    )
    clean = np.where(score > 0, ">50K", "<=50K")
    flipped = rng.random(n) < wrong
    given = np.where(flipped, np.where(clean == ">50K", "<=50K", ">50K"), clean)
    rows = []
    for i in range(n):
        tone = _GOOD if mood[i] > 0.5 else _POOR if mood[i] < -0.5 else _PLAIN
        comment = f"{tone[rng.integers(len(tone))]}, {tone[rng.integers(len(tone))]} ({rng.integers(1000)})"
        rows.append([
            f"C{100000 + i}",
            "" if rng.random() < 0.03 else str(age[i]),
            "NA" if rng.random() < 0.02 else _EDUCATION[education[i]],
            _OCCUPATION[occupation[i]],
            _MARITAL[marital[i]],
            "" if rng.random() < 0.05 else f"{hours[i]:.0f}",
            f"${gain[i]:,.0f}",
            str(joined[i]),
            "" if rng.random() < 0.1 else comment,
            str(given[i]),
        ])  # fmt: skip
    return rows, clean


def write_customers(path, rows, *, label=True):
    """Write the rows to a CSV file, with or without the label column."""
    width = len(HEADING) if label else len(HEADING) - 1
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADING[:width])
        writer.writerows(row[:width] for row in rows)
    return path
