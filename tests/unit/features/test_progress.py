"""Mirror of src/anchored/features/progress.py: a library call stays silent."""

from anchored.features import Progress


def test_says_nothing(capfd):
    progress = Progress()
    progress.start(samples=3)
    progress.step(samples=3)
    progress.say("a line")
    progress.stop()
    assert capfd.readouterr() == ("", "")
