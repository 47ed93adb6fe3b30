"""Mirror of src/anchored/features/stream.py: order, memory and batches of one shape."""

import threading

import pytest
import torch
from tests.unit.features.standins import some_images

from anchored import InputError
from anchored.data import TensorInputs
from anchored.features.stream import BatchedEncoder, stream


class Doubling(BatchedEncoder):
    """Doubles its rows; remembers the shapes of batches and how many were prepared ahead."""

    name, dim, digest, batch_size = "doubling", 2, "d", 4

    def __init__(self):
        self.shapes, self.ahead, self.most, self.lock = [], 0, 0, threading.Lock()

    def prepare(self, inputs, index):
        with self.lock:
            self.ahead += 1
            self.most = max(self.most, self.ahead)
        return inputs.take(index)

    def embed(self, prepared):
        with self.lock:
            self.ahead -= 1
        self.shapes.append(tuple(prepared.shape))
        return prepared * 2

    def state(self):
        return {}, {}

    @classmethod
    def from_state(cls, about, tensors):
        return cls()


@pytest.mark.parametrize("n", [0, 1, 4, 41])
def test_every_row_comes_once_and_every_batch_has_one_shape(n):
    encoder, rows = Doubling(), torch.arange(2.0 * n).reshape(n, 2)
    assert torch.equal(encoder.transform(TensorInputs(rows)), 2 * rows)
    assert set(encoder.shapes) <= {(4, 2)}
    assert len(encoder.shapes) == -(-n // 4)


def test_few_batches_are_held_at_a_time():
    encoder = Doubling()
    inputs = TensorInputs(torch.zeros(400, 2))
    found = [rows for rows, _ in stream(encoder, inputs, torch.arange(400).flip(0), workers=2)]
    assert torch.equal(torch.cat(found), torch.arange(400).flip(0))
    assert encoder.most <= 2 * 2 + 1


def test_what_a_reader_refuses_is_heard_and_the_threads_end():
    class Refusing(Doubling):
        def prepare(self, inputs, index):
            if 9 in index.tolist():
                raise InputError("photo 9 is damaged")
            return super().prepare(inputs, index)

    with pytest.raises(InputError, match="photo 9 is damaged"):
        list(stream(Refusing(), TensorInputs(torch.zeros(60, 2)), torch.arange(60)))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("anchored-read")]


def test_images_pass_too():
    class Mean(Doubling):
        dim = 3

        def embed(self, prepared):
            return prepared.float().mean(dim=(2, 3))

    images = some_images(5)
    torch.testing.assert_close(Mean().transform(images), images.tensor.float().mean(dim=(2, 3)))
