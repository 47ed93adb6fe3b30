"""Labels that people got wrong: CIFAR-10N and NoisyAG-News on frozen features. Ours.

Claim
    On mistakes that people made, ``auto`` and the closed form on the features of a pretrained network hold better than
    a network trained on the same features with cross entropy, in seconds after the encoding and told nothing.

Command
    ``anchored paper run human_noise --data-root DATA``; one column: ``--cell agnews``. cleanlab and logistic
    regression are no methods of a run: ``anchored bench photos --data-root DATA`` puts them beside ``anchored fit`` on
    the same vectors. Networks from scratch, as the literature trains them (ResNet-34, 100 epochs, no pretrained
    features), are commands of their own, for each of ``aggre``, ``random1`` and ``worse``:
    ``anchored fit cifar10n-worse --data-root DATA --encoder none --backbone resnet34 --method ce --epochs 100``, and
    likewise with ``--method ce+fnpal`` or ``--method nce+rce``.

Setting
    The built-in sources: 50,000 images under the labels of one annotator or the vote of three, 10,000 news items under
    a vote of three; test labels are true. Images are shown to EfficientNet-Lite0 at 128 pixels; texts become word
    vectors, term weights or both, whichever makes labels that were left out likeliest. ``auto`` is what
    ``anchored fit`` does; ``ridge`` is the closed form on the labels as they are given; ``ridge (balanced)`` gives all
    classes the same weight, for people who use one class too often; ``ce`` is a network on the features, 20 epochs.

Cost
    Encoding 60,000 images, once for all rows and columns: 200 seconds of one core (3.3 ms an image, measured on
    40,000). After that, of one core: AG News half a minute (measured); CIFAR-10N some five minutes a run, an estimate
    from 14 seconds for a fifth of the images. All 48 runs, an estimate: 2 hours on two cores. On one GPU, an estimate,
    half an hour. The rows from scratch: ResNet-34 takes 5 days of one core for 100 epochs, from 11 images a second
    (measured on CIFAR-100), 24 days of two cores for three columns and methods at one seed; on one GPU, an estimate, 5
    hours a run.

Expected
    AG News, one seed: ``auto`` 82.2, which is ``ridge`` on the labels as given; ``ridge (balanced)`` 84.7; ``ce`` 80.1.
    ``auto`` says that 2.1 % are wrong, where 19.8 % are. On 10,000 of the images of CIFAR-10N the numbers are those of
    ``anchored bench photos`` in ``docs/benchmarks.md``. The columns of 50,000 images have not been run.
"""

from __future__ import annotations

from anchored.paper.table import Cell, Row, Table

__all__ = ["TABLE"]

_CELLS = {
    "cifar10n-aggre": "aggre, 9 % wrong",
    "cifar10n-random1": "random1, 17 % wrong",
    "cifar10n-worse": "worse, 40 % wrong",
    "agnews": "AG News, 20 % wrong",
}

TABLE = Table(
    name="human_noise",
    title="Test accuracy (%) and estimated noise rate (%), labels given by people, frozen features",
    claim="On labels that people got wrong, the closed form on frozen features holds better than cross entropy.",
    rows=(
        Row(name="auto", method="auto", ours=True),
        Row(name="ridge", method="ridge", ours=True),
        Row(name="ridge (balanced)", method="ridge", settings={"method": {"options": {"balanced": True}}}, ours=True),
        Row(name="ce", method="ce", settings={"train": {"epochs": 20}}, ours=True),
    ),
    cells=tuple(
        Cell(name=source, title=title, settings={"data": {"source": source}, "features": {"encoder": "auto"}})
        for source, title in _CELLS.items()
    ),
    measures=("accuracy", "noise_estimated"),
)
