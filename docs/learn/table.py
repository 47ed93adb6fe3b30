"""The tutorial about a table; ``docs/learn/build.py`` makes its page and notebook."""

# %% [markdown]
# # A table with wrong labels
#
# You have a table of customers, and a column that says who left. Some of it is wrong: people were marked by mistake. This
# page finds out how many, which ones, and trains a model that does not mind. It takes a minute and
# `pip install 'anchored[app]'`.

# %% [markdown]
# ## A table as it comes
#
# Numbers, categories, dates, empty cells, a column of names that means nothing. One in five labels is wrong; we keep the
# truth apart, to see at the end how well it went.

# %%
import csv
import random

draw = random.Random(0)
truth = {}
with open("customers.csv", "w", newline="") as file:
    lines = csv.writer(file)
    lines.writerow(["customer", "plan", "since", "age", "calls", "spent", "left"])
    for i in range(800):
        plan = draw.choice(["basic", "family", "business"])
        calls, age = draw.randint(0, 12), draw.randint(18, 80)
        spent = round(draw.gauss(60 if plan == "business" else 30, 8), 2)
        leaves = 0.9 * calls - 0.12 * spent + (2.5 if plan == "basic" else 0) > 1.5
        truth[f"C{1000 + i}"] = "yes" if leaves else "no"
        wrong = draw.random() < 0.2
        since = f"20{draw.randint(10, 24)}-{draw.randint(1, 12):02d}-15"
        given = "yes" if leaves != wrong else "no"
        lines.writerow([f"C{1000 + i}", plan, since, "" if draw.random() < 0.1 else age, calls, spent, given])

# %% [markdown]
# ## Fit the table
#
# One command reads the table, decides what each column is, judges every label by models that did not see it, chooses a
# method and trains. `run/report.html` says all of it in plain words.

# %% [shell]
# anchored fit customers.csv --label left --out run

# %% [markdown]
# ## Which labels are wrong?
#
# `suspects.csv` has every row, the most probably wrong label first.

# %% [shell]
# anchored audit run --out findings

# %%
import json

found = json.load(open("findings/audit.json"))
print(f"about {found['noise_rate']:.0%} of the labels look wrong")
with open("findings/suspects.csv", newline="") as file:
    suspects = list(csv.DictReader(file))
for row in suspects[:5]:
    print(row["id"], row["given"], "->", row["suggested"], row["probability_wrong"])

# %% [check]
names = [line["customer"] for line in csv.DictReader(open("customers.csv", newline=""))]
given = [line["left"] for line in csv.DictReader(open("customers.csv", newline=""))]
assert abs(found["noise_rate"] - 0.2) < 0.1
first = [truth[names[int(row["index"])]] != row["given"] for row in suspects[:50]]
assert sum(first) >= 40, sum(first)

# %% [markdown]
# Of the first fifty, most are truly wrong. `anchored review run` shows them in a browser, one key per decision; then
# `anchored fit customers.csv --label left --corrections run/corrections.csv --out better` trains with what you decided.
#
# ## Use the model on rows
#
# The model takes the raw file: what it learnt about the columns is part of it.

# %% [shell]
# anchored predict run customers.csv --out answers.csv

# %%
with open("answers.csv", newline="") as file:
    answers = list(csv.DictReader(file))
print(answers[0])

# %% [check]
assert len(answers) == 800
right = [answer["label"] == truth[name] for answer, name in zip(answers, names, strict=True)]
assert sum(right) > 0.88 * 800, sum(right)
assert sum(right) > sum(a == truth[name] for a, name in zip(given, names, strict=True)), "better than the labels it learnt from"

# %% [markdown]
# It is right more often than the labels that it was trained on.
#
# ## The same from Python

# %%
import pandas as pd

from anchored import AnchoredClassifier

table = pd.read_csv("customers.csv")
model = AnchoredClassifier(random_state=0).fit(table.drop(columns=["customer", "left"]), table["left"])
print(model.noise_rate_, model.label_issues_[0])

# %% [check]
assert 0.1 < model.noise_rate_ < 0.3
