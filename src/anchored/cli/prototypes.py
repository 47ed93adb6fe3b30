"""``anchored prototypes K D``: make class prototypes, write them as .npy, print their quality."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from anchored._errors import InputError
from anchored._files import write_atomically
from anchored.cli.output import print_json, print_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def prototypes(
    k: int,
    d: int,
    nonnegative: bool = False,
    paper: bool = False,
    use_relu: bool = False,
    out: Path | None = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    json: bool = False,
) -> None:
    """Make class prototypes, fixed directions of the classes, and measure them.

    Args:
        k: Number of classes.
        d: Number of features.
        nonnegative: Make them for features that are never negative, as after a ReLU.
        paper: Make them by the paper's gradient descent of 100,000 steps, for comparison.
        use_relu: With --paper, fit them to features that have passed a ReLU.
        out: File to write them to, ending in .npy, as float32 of shape (K, D).
        seed: Seed of their orientation, or of the search.
        json: Print the result as one JSON object on stdout.
    """
    if use_relu and not paper:
        raise InputError("--use-relu is an option of the paper's generator; add --paper, or say --nonnegative")
    if nonnegative and paper:
        raise InputError("--nonnegative chooses among our constructions; with --paper say --use-relu")
    if out is not None:
        _check_target(out)

    from dataclasses import asdict

    from anchored._random import stream
    from anchored.prototypes import make, quality, reachable_margin
    from anchored.prototypes import paper as by_the_paper

    nonnegative = nonnegative or use_relu
    features: Literal["signed", "nonnegative"] = "nonnegative" if nonnegative else "signed"
    if paper:
        w = by_the_paper(k, d, use_relu=use_relu, seed=seed)
    else:
        w = make(k, d, features=features, generator=stream(seed, "prototypes"))
    measured: dict[str, float] = asdict(quality(w))
    measured["min_margin"] = float(reachable_margin(w, nonnegative=nonnegative).min())
    if out is not None:
        _write(w.numpy(), out)
    if json:
        file = None if out is None else str(out)
        print_json({"k": k, "d": d, "features": features, "paper": paper, "seed": seed, **measured, "out": file})
        return
    rows = [
        ["largest cosine", f"{measured['max_cosine']:.6f}"],
        ["smallest angle (degrees)", f"{measured['min_angle_degrees']:.4f}"],
        ["Gram error", f"{measured['gram_error']:.2e}"],
        ["norm of the sum", f"{measured['sum_norm']:.2e}"],
        [f"worst margin of a unit feature, {features}", f"{measured['min_margin']:.4f}"],
    ]
    note = "" if out is None else f"written to {out}"
    print_table(f"{k} prototypes in {d} dimensions", ["quality", "value"], rows, note)


def _check_target(out: Path) -> None:
    """Refuse a file that could not be written, before the work."""
    if out.suffix != ".npy":
        raise InputError(f"--out must end in .npy, got {str(out)!r}; use {str(out.with_suffix('.npy'))!r}")
    if not out.parent.is_dir():
        raise InputError(f"--out must lie in an existing folder, got {str(out)!r}; create {str(out.parent)!r} first")
    if out.is_dir():
        raise InputError(f"--out must be a file, got the folder {str(out)!r}; name a file in it")


def _write(array: NDArray[np.float32], out: Path) -> None:
    """Write the array, whole or not at all."""
    import numpy as np

    # In memory first: numpy's own writing adds .npy to names without it, and loses the system's word on a full disk.
    content = io.BytesIO()
    np.save(content, array, allow_pickle=False)
    write_atomically(out, lambda path: path.write_bytes(content.getvalue()))
