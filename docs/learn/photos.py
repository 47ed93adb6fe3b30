"""The tutorial about photos; ``docs/learn/build.py`` makes its page and notebook."""

# %% [markdown]
# # Photos in folders, some in the wrong one
#
# You have photos sorted into one folder per class, and not all are where they belong. This page finds them, corrects
# them, and trains a model, in a few minutes without a GPU and without the internet: `pip install 'anchored[app]'` brings
# a small pretrained network. Photos of your own go in place of the drawn ones.

# %% [markdown]
# ## Some photos
#
# Discs, rings and crosses in many sizes and colours, drawn here so that nothing has to be downloaded. Every tenth is put
# into the wrong folder; the name of the file keeps the truth.

# %%
import random
from pathlib import Path

from PIL import Image, ImageDraw

draw = random.Random(0)
kinds = ["cross", "disc", "ring"]
for i in range(240):
    kind = kinds[i % 3]
    back, ink = (tuple(draw.randint(*span) for _ in range(3)) for span in ((150, 255), (0, 110)))
    photo = Image.new("RGB", (96, 96), back)
    pen = ImageDraw.Draw(photo)
    x, y, r = draw.randint(34, 62), draw.randint(34, 62), draw.randint(16, 30)
    if kind == "cross":
        pen.line((x - r, y - r, x + r, y + r), fill=ink, width=8)
        pen.line((x - r, y + r, x + r, y - r), fill=ink, width=8)
    else:
        pen.ellipse((x - r, y - r, x + r, y + r), fill=ink if kind == "disc" else None, outline=ink, width=7)
    folder = draw.choice([other for other in kinds if other != kind]) if i % 10 == 0 else kind
    Path("photos", folder).mkdir(parents=True, exist_ok=True)
    photo.save(f"photos/{folder}/{kind}-{i:03d}.png")

# %% [markdown]
# ## Fit the photos
#
# One command encodes the photos once with the pretrained network, judges every label by models that did not see it,
# chooses a method, trains, and writes `run/report.html`. Vectors are kept in a cache, so a second run starts at once.

# %% [shell]
# anchored fit photos --out run

# %% [markdown]
# ## Which photos are in the wrong folder?

# %% [shell]
# anchored audit run --out findings

# %%
import csv

with open("findings/suspects.csv", newline="") as file:
    suspects = list(csv.DictReader(file))
for row in suspects[:5]:
    print(row["id"], "should be in", row["suggested"])

# %% [check]
wrong = [Path(row["id"]).name.split("-")[0] != row["given"] for row in suspects]
assert sum(wrong) == 24
assert sum(wrong[:24]) >= 19, sum(wrong[:24])

# %% [markdown]
# ## Look at them
#
# `anchored review run` opens a page in the browser: the photo, its label, the suggestion, and neighbours of either class;
# one key decides, and each decision is on the disk at once. Here a few lines of Python that know the truth stand in for
# you, and look at the first thirty. (Without a server, `anchored review run --static review.html` writes a page that can
# be mailed.)

# %%
with open("run/corrections.csv", "w", newline="") as file:
    lines = csv.writer(file)
    lines.writerow(["index", "id", "given", "decision", "label", "time"])
    for row in suspects[:30]:
        kind = Path(row["id"]).name.split("-")[0]
        decision = "keep" if kind == row["given"] else "relabel"
        lines.writerow([row["index"], row["id"], row["given"], decision, kind, "2026-01-01T00:00:00+00:00"])

# %% [shell]
# anchored fit photos --corrections run/corrections.csv --out better

# %% [check]
import json

corrected = json.load(open("better/result.json"))["corrections"]
assert corrected["changed"] >= 19, corrected

# %% [markdown]
# ## Use the model on photos
#
# The encoder is part of the model, so it takes photos as they are.

# %% [shell]
# anchored predict better photos --out answers.csv

# %%
with open("answers.csv", newline="") as file:
    answers = list(csv.DictReader(file))
print(answers[0])

# %% [check]
right = [Path(answer["id"]).name.split("-")[0] == answer["label"] for answer in answers]
assert len(answers) == 240
assert sum(right) >= 225, sum(right)
