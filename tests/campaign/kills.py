"""Kill commands again and again, let them go on, and compare every byte with what they give if nobody disturbs them.

    python -m tests.campaign.kills --kills 1000 [--seed 0] [--only fit-auto …] [--out counts.json]

Half of the kills come at a random moment, half at a certain change of the file system (the n-th time that the command
opens a file for writing, renames, removes or makes something), where a half-written state is most likely. Each is a
SIGKILL to the whole session. After some kills the command runs to its end: its exit code must be 0, every file that it
leaves must have the bytes of the undisturbed run, and no temporary file may be left.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from tests.forked import Child, run

NOT_COMPARED = ("speed.jsonl", "report.html", ".lock", "checkpoint/", "cache/", "look/half-")
"""Times, the state to go on from, and what is kept for speed only."""
KILLS_PER_CHAIN = 12


class Failed(AssertionError):
    """Something was lost."""


@dataclass
class Scenario:
    """A command that can be started again after any kill.

    Args:
        name: What the counts call it.
        arguments: Function of the folder: the command line to start or to go on.
        files: Patterns of the files, below the folder, that must be equal in the end.
        weight: Share of the kills that it gets.
        prepare: Called with a fresh folder before the first start.
    """

    name: str
    arguments: object
    files: tuple = ("out/**/*",)
    weight: float = 1.0
    prepare: object = lambda folder: None
    seconds: float = 120.0
    environment: dict = field(default_factory=dict)


def started(folder):
    return any((folder / "out" / name).is_file() for name in ("config.yaml", "settings.yaml"))


def fitting(name, source, *options, weight=1.0):
    """A scenario of ``anchored fit`` that is taken up by ``anchored resume``."""

    def arguments(folder):
        if started(folder):
            return ["resume", "out"]
        return ["fit", source, "--out", "out", "--set", "train.checkpoint_seconds=0", *options]

    return Scenario(name, arguments, weight=weight, environment={"XDG_CACHE_HOME": "cache"})


def write_data(place):
    """Small data of every kind: a table, vectors, images, MNIST's files."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    x = (rng.normal(size=(240, 6)) + 3 * np.eye(6)[y]).astype(np.float32)
    given = np.where(rng.random(240) < 0.2, rng.integers(0, 3, 240), y)
    lines = [",".join([*(f"f{i}" for i in range(6)), "label"])]
    lines += [",".join([*(f"{v:.4f}" for v in row), f"class {c}"]) for row, c in zip(x, given, strict=True)]
    (place / "t.csv").write_text("\n".join(lines) + "\n")
    np.savez(place / "t.npz", X=x, y=given)
    words = (["good", "fine", "joy"], ["bad", "dull", "sad"])
    for i in range(80):
        path = place / "texts" / "np"[i % 2] / f"{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(" ".join([*rng.choice(words[i % 2], 5), f"number {i}"]))
    for i in range(90):
        folder = place / "photos" / "abc"[i % 3]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 60, size=(8, 8), dtype=np.uint8)
        pixels[:, 2 * (i % 3) : 2 * (i % 3) + 3] += 150
        Image.fromarray(pixels).save(folder / f"{i}.png")
    for i in range(36):  # large and coloured enough for the pretrained network
        folder = place / "pictures" / "abc"[i % 3]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 90, size=(40, 40, 3), dtype=np.uint8)
        pixels[8:32, 8:32, i % 3] += 6
        Image.fromarray(pixels).save(folder / f"{i}.png")
    raw = place / "mnist" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for prefix, n in (("train", 200), ("t10k", 60)):
        labels = (np.arange(n) % 10).astype(np.uint8)
        images = rng.integers(0, 50, size=(n, 28, 28), dtype=np.uint8)
        for i, c in enumerate(labels):
            images[i, 2 * c : 2 * c + 6, 4:24] += 180
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            head = bytes([0, 0, 8, array.ndim]) + b"".join(int(m).to_bytes(4, "big") for m in array.shape)
            (raw / f"{prefix}-{kind}-ubyte").write_bytes(head + array.tobytes())


def finished_run(place, name, *options):
    """A run to audit, review or export; made once."""
    folder = place / name
    if not (folder / "result.json").exists():
        ended = run(["fit", place / "t.csv", "--out", folder, "--no-report", *options], place, seconds=300)
        if ended.code != 0:
            raise Failed(f"{name}: {ended.err}")
    return folder


def scenarios(place):
    """All scenarios, on the data in ``place``."""
    csv, npz, photos = place / "t.csv", place / "t.npz", place / "photos"
    plain = finished_run(place, "plain", "--method", "ce", "--epochs", "2")

    def copied(folder):
        shutil.copytree(plain, folder / "out")

    return [
        fitting("fit auto, digits", "digits", "--epochs", "2", "--corrupt", "symmetric=0.3", "--no-report", weight=0.7),
        fitting("fit auto, table", csv, "--epochs", "3", "--no-report"),
        fitting("fit auto, images", photos, "--epochs", "2", "--no-report"),
        fitting("fit two stages, crt", csv, "--method", "crt", "--epochs", "2", "--set", "second.epochs=2"),
        fitting("fit two stages, mislas+pal", photos, "--method", "mislas+pal", "--epochs", "2", "--no-report"),
        fitting("fit texts, encoded", place / "texts", "--no-report"),
        fitting("fit features", npz, "--epochs", "2", "--no-report"),
        fitting("fit features, ridge", npz, "--method", "ridge", "--no-report"),
        Scenario("audit", lambda folder: ["audit", "out", "--out", "found"], ("out/**/*", "found/**/*"), 1.0, copied),
        Scenario(
            "embed",
            lambda folder: ["embed", place / "texts", "--out", "out.npz", "--encoder", "tfidf"],
            ("out.npz",),
            environment={"XDG_CACHE_HOME": "cache"},
        ),
        Scenario("predict", lambda folder: ["predict", plain, csv, "--out", "p.csv"], ("p.csv",), 0.5),
        Scenario("export", lambda folder: ["export", plain, "m.onnx"], ("m.onnx",), 0.3, seconds=300),
        Scenario(
            "paper run",
            lambda folder: [
                "paper", "run", "noise_symmetric", "--method", "ce", "--cell", "mnist/0.4", "--seeds", "0",
                "--epochs", "2", "--data-root", place / "mnist", "--store", "store",
                "--results", "results", "--jobs", "1",
            ],
            ("store/**/model.safetensors", "store/**/history.jsonl", "store/**/config.yaml"),
            0.15,
            seconds=300,
        ),
        fitting(
            "fine-tuning", place / "pictures", "--tune", "all", "--no-report", "--set", "tune.epochs=2",
            "--set", "tune.samples=32", "--set", "tune.lr=1e-4", "--set", "features.encoder=efficientnet-lite0",
            "--set", "features.options={resolution: 32, precision: float32}",
        ),
    ]  # fmt: skip


def contents(scenario, folder):
    """The bytes of every file that must not depend on kills."""
    found = {}
    for pattern in scenario.files:
        for path in sorted(folder.glob(pattern)):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not any(part in name for part in NOT_COMPARED):
                found[name] = _without_times(name, path.read_bytes())
    if not found:
        raise Failed(f"{scenario.name}: the end leaves no file")
    return found


def _without_times(name, content):
    """An archive of numpy holds the time at which it was written; its members are compared."""
    if not name.endswith(".npz"):
        return content
    import io

    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return b"".join(member.encode() + archive[member].tobytes() for member in sorted(archive.files))


def litter(folder):
    """Temporary files that a killed writer has left: whatever is hidden, but for the lock."""
    return [path.relative_to(folder).as_posix() for path in folder.rglob(".*") if path.name != ".lock"]


def state(folder):
    """What a kill has left, in a word."""
    out = folder / "out"
    for name in (
        "result.json",
        "model.safetensors",
        "checkpoint/last.safetensors",
        "config.yaml",
        "look",
        "settings.yaml",
    ):
        if (out / name).exists():
            return name
    return "folder" if out.exists() or any(folder.iterdir()) else "nothing"


@dataclass
class Reference:
    """The undisturbed end of a scenario."""

    files: dict
    seconds: float
    writes: int


def refer(scenario, place):
    """Run a scenario to its end, undisturbed."""
    folder = Path(tempfile.mkdtemp(prefix="straight-", dir=place))
    scenario.prepare(folder)
    ended = run(scenario.arguments(folder), folder, seconds=scenario.seconds, environment=scenario.environment)
    if ended.code != 0:
        raise Failed(f"{scenario.name}: undisturbed, it ends with {ended.code}: {ended.err[-2000:]}")
    reference = Reference(contents(scenario, folder), ended.seconds, ended.writes)
    shutil.rmtree(folder)
    return reference


def chain(scenario, reference, place, chance, counts, most):
    """Kill one command several times, then let it end; returns how many kills it got."""
    folder = Path(tempfile.mkdtemp(prefix="killed-", dir=place))
    scenario.prepare(folder)
    wanted, kills = chance.randint(1, KILLS_PER_CHAIN), 0
    options = {"environment": scenario.environment}
    for _ in range(3 * wanted):
        if kills >= min(wanted, most):
            break
        if chance.random() < 0.5 and reference.writes:
            ended = Child(
                scenario.arguments(folder), folder, die_at=chance.randint(1, max(1, reference.writes // 2)), **options
            ).wait(scenario.seconds)
        else:
            child = Child(scenario.arguments(folder), folder, **options)
            ended = child.wait(chance.uniform(0, 0.5 * reference.seconds), end=False) or child.kill()
        if ended.code == -signal.SIGKILL:
            kills += 1
            counts["states"][state(folder)] += 1
        elif ended.code == 0:
            break
        else:
            raise Failed(f"{scenario.name}: after {kills} kills it ends with {ended.code}: {ended.err[-2000:]}")
    ended = run(scenario.arguments(folder), folder, seconds=scenario.seconds, **options)
    if ended.code != 0:
        raise Failed(f"{scenario.name}: after {kills} kills it ends with {ended.code}: {ended.err[-2000:]}")
    found = contents(scenario, folder)
    differ = sorted(
        name for name in found.keys() | reference.files.keys() if found.get(name) != reference.files.get(name)
    )
    left = litter(folder)
    if differ or left:
        kept = folder.rename(place / f"FAILED {scenario.name} {len(counts['failures'])}")
        counts["failures"].append(
            {"scenario": scenario.name, "kills": kills, "differ": differ, "litter": left, "folder": str(kept)}
        )
    else:
        shutil.rmtree(folder)
    counts["kills"][scenario.name] += kills
    counts["chains"][scenario.name] += 1
    return kills


def review_chain(place, chance, counts, wanted):
    """Kill a review while decisions are posted: every decision that was confirmed is in the file afterwards."""
    name = "review"
    model = finished_run(place, "noisy", "--epochs", "2")
    folder = Path(tempfile.mkdtemp(prefix="review-", dir=place))
    shutil.copytree(model, folder / "out")
    confirmed, kills = {}, 0
    while kills < wanted:
        child = Child(["review", "out", "--no-open", "--json"], folder)
        until = time.monotonic() + 60
        while "\n" not in child.out():
            if time.monotonic() > until:
                raise Failed(f"review: no address: {child.kill().err}")
            time.sleep(0.01)
        address = json.loads(child.out().splitlines()[0])["address"]
        with urllib.request.urlopen(f"{address}suspects", timeout=10) as answer:
            indices = _indices(json.load(answer))
        last = time.monotonic() + chance.uniform(0.0, 0.3)
        pid = os.fork()
        if pid == 0:  # the kill comes from elsewhere, at any moment of a request
            time.sleep(max(0.0, last - time.monotonic()))
            os.killpg(child.pid, signal.SIGKILL)
            os._exit(0)
        while True:
            index = chance.choice(indices)
            body = json.dumps({"index": index, "decision": "keep", "label": None}).encode()
            request = urllib.request.Request(f"{address}decisions", body, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    answer.read()
                confirmed[index] = confirmed.get(index, 0) + 1
            except OSError:
                break
        os.waitpid(pid, 0)
        child.kill()
        kills += 1
        written = Counter(
            int(line.split(",")[0]) for line in (folder / "out" / "corrections.csv").read_text().splitlines()[1:]
        )
        lost = {index: n for index, n in confirmed.items() if written[index] < n}
        if lost:
            counts["failures"].append({"scenario": name, "lost": lost, "folder": str(folder)})
    counts["kills"][name] += kills
    counts["chains"][name] += 1
    counts["confirmed decisions"] += sum(confirmed.values())
    shutil.rmtree(folder)
    return kills


def _indices(payload):
    """The places of the suspects, as the page gets them."""
    if isinstance(payload.get("index"), list) and payload["index"]:
        return payload["index"]
    raise Failed(f"review: no suspects in {str(payload)[:300]}")


def torchrun(place, folder, *, kill_after=None, rank=1, resume=False):
    """Two processes on loopback; one of them is killed after some seconds."""
    fit = ["resume", "out"] if resume else [
        "fit", str(place / "t.csv"), "--method", "ce", "--epochs", "40", "--out", "out", "--device", "cpu",
        "--set", "train.checkpoint_seconds=0", "--no-report",
    ]  # fmt: skip
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "-m", "anchored"]
    job = subprocess.Popen(
        [*command, *fit],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    killed = False
    try:
        if kill_after is not None:
            until = time.monotonic() + 60
            while not started(folder) and job.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(kill_after)
            for child in _children(job.pid):
                if f"\0RANK={rank}\0" in Path(f"/proc/{child}/environ").read_text(errors="replace"):
                    os.kill(child, signal.SIGKILL)
                    killed = True
        _, err = job.communicate(timeout=180)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
    return job.returncode, killed, err


def _children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def torchrun_chain(place, chance, counts, wanted):
    """Kill one of two processes; the run goes on with two, and ends with the same weights."""
    name = "two processes, one killed"
    files = Scenario(name, None, ("out/model.safetensors", "out/history.jsonl", "out/model.json"))
    straight = place / "straight torchrun"
    if not straight.exists():
        straight.mkdir()
        code, _, err = torchrun(place, straight)
        if code != 0:
            raise Failed(f"{name}: undisturbed, it ends with {code}: {err[-2000:]}")
    folder = Path(tempfile.mkdtemp(prefix="torchrun-", dir=place))
    kills = 0
    for _ in range(wanted):
        code, killed, err = torchrun(
            place, folder, kill_after=chance.uniform(0.0, 1.5), rank=chance.choice((0, 1)), resume=started(folder)
        )
        kills += killed
        if killed and code == 0 and not (folder / "out" / "result.json").exists():
            raise Failed(f"{name}: one was killed, but the job says that it succeeded: {err[-2000:]}")
    code, _, err = torchrun(place, folder, resume=started(folder))
    if code != 0:
        raise Failed(f"{name}: after {kills} kills it ends with {code}: {err[-2000:]}")
    found, reference = contents(files, folder), contents(files, straight)
    differ = sorted(each for each in reference if found.get(each) != reference[each])
    if differ:
        counts["failures"].append({"scenario": name, "kills": kills, "differ": differ, "folder": str(folder)})
    counts["kills"][name] += kills
    counts["chains"][name] += 1
    return kills


def campaign(kills, *, seed=0, only=(), place=None, say=print):
    """Spread ``kills`` over all scenarios; returns the counts."""
    place = Path(tempfile.mkdtemp(prefix="campaign-")) if place is None else Path(place)
    place.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    counts = {name: Counter() for name in ("kills", "chains", "states")}
    counts |= {"failures": [], "confirmed decisions": 0}
    begun = time.monotonic()
    if not (place / "t.csv").exists():
        write_data(place)
    wanted = [each for each in scenarios(place) if not only or each.name in only]
    shares = {each.name: each.weight for each in wanted}
    others = {"review": 0.6, "two processes, one killed": 0.15}
    shares |= {name: weight for name, weight in others.items() if not only or name in only}
    total = sum(shares.values())
    for name, weight in shares.items():
        share = max(1, round(kills * weight / total))
        scenario = next((each for each in wanted if each.name == name), None)
        try:
            if scenario is None:
                work, most = (review_chain, 10) if name == "review" else (torchrun_chain, 3)
                while counts["kills"][name] < share:
                    before = counts["kills"][name]
                    if work(place, chance, counts, min(most, share - before)) == 0:
                        break
            else:
                reference = refer(scenario, place)
                while counts["kills"][name] < share:
                    chain(scenario, reference, place, chance, counts, share - counts["kills"][name])
        except Failed as failure:
            counts["failures"].append({"scenario": name, "error": str(failure)})
        say(f"{name}: {counts['kills'][name]} kills in {counts['chains'][name]} chains, "
            f"{sum(each['scenario'] == name for each in counts['failures'])} failures")  # fmt: skip
    counts["seconds"] = round(time.monotonic() - begun, 1)
    return counts


def main():
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--place", default=None)
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    counts = campaign(given.kills, seed=given.seed, only=given.only, place=given.place)
    text = json.dumps(counts, indent=2)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n")
    sys.exit(1 if counts["failures"] else 0)


if __name__ == "__main__":
    main()
