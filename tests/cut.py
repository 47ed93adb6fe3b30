"""The end of a process as an exception: a run that is cut after so many steps, to be taken up again."""

from anchored.training import Progress


class Cut(Exception):
    """What stands for the end of the process."""


class CutAfter(Progress):
    """Lets so many steps pass, and ends the next one."""

    def __init__(self, steps):
        self.left = steps

    def step(self, *, batch, samples, loss):
        self.left -= 1
        if self.left < 0:
            raise Cut
