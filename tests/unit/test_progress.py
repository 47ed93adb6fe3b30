"""Mirror of src/anchored/training/progress.py: it hears everything, in order, and says nothing."""

from anchored._progress import Work, telling
from anchored.data import load_digits
from anchored.runs import fit
from anchored.training import Progress


class Listener(Progress):
    def __init__(self):
        self.heard = []

    def start(self, *, epochs, epoch, batches, samples):
        self.heard.append(("start", epochs, epoch, batches, samples))

    def step(self, *, batch, samples, loss):
        self.heard.append(("step", batch, samples, loss))

    def epoch(self, record, *, seconds, samples):
        self.heard.append(("epoch", record["epoch"], seconds, samples))

    def stop(self):
        self.heard.append(("stop",))


def test_everything_is_told_in_order():
    listener = Listener()
    settings = {"data": {"source": "digits"}, "method": {"name": "ce"}, "backbone": {"name": "tiny"}}
    fitted = fit(load_digits(), settings | {"train": {"epochs": 2, "batch_size": 256}}, progress=listener)
    kinds = [what[0] for what in listener.heard]
    assert kinds == ["start", *["step"] * 6, "epoch", *["step"] * 6, "epoch", "stop"]
    assert listener.heard[0] == ("start", 2, 0, 6, 1293)
    steps = [what for what in listener.heard if what[0] == "step"]
    assert [step[1] for step in steps] == [1, 2, 3, 4, 5, 6] * 2
    assert sum(step[2] for step in steps[:6]) == 1293
    mean = sum(step[2] * step[3] for step in steps[:6]) / 1293
    assert abs(mean - fitted.history[0]["train_loss"]) < 1e-6


def test_the_silent_one_says_nothing(capsys):
    silent = Progress()
    silent.start(epochs=1, epoch=0, batches=1, samples=1)
    silent.step(batch=1, samples=1, loss=0.0)
    silent.epoch({"epoch": 1}, seconds=1.0, samples=1)
    silent.say("a line")
    silent.stop()
    assert capsys.readouterr() == ("", "")


def test_long_work_tells_every_ten_seconds_how_much_time_is_left(monkeypatch):
    now, lines = [100.0], []
    monkeypatch.setattr("anchored._progress.time.monotonic", lambda: now[0])
    with telling(lines.append):
        work = Work("reading images", 2_000)
        for _ in range(2_000):
            now[0] += 0.015625
            work.step()
    assert lines == [
        "reading images: 640 of 2,000, 0:21 left",
        "reading images: 1,280 of 2,000, 0:11 left",
        "reading images: 1,920 of 2,000, 0:01 left",
    ]
    now[0] += 100
    Work("unheard", 2).step()
    assert len(lines) == 3
