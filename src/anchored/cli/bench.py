"""``anchored bench [NAME]``: run one benchmark, or all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.output import print_json, print_table
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.bench import Result


def bench(
    name: Annotated[str | None, typer.Argument()] = None,
    data_root: str | None = None,
    seeds: str | None = None,
    epochs: int | None = None,
    store: str | None = None,
    sets: str | None = None,
    models: str | None = None,
    json: bool = False,
) -> None:
    """Measure speed, memory and accuracy, side by side within one run.

    Args:
        name: Name of a benchmark; by default all but the long ones: photos, audit, noisy-accuracy, auto, ridge,
            tables and raw-tables.
        data_root: Folder of MNIST and of encoded features, for audit and noisy-accuracy; of CIFAR-10, CIFAR-10N and
            AG News, for photos, which measures its speed on generated photos without it.
        seeds: Seeds of photos, audit, noisy-accuracy, auto, tables and raw-tables, separated by commas.
        epochs: Passes over the data of one training in auto.
        store: File of finished scores of photos, audit, noisy-accuracy and tables; a stopped run goes on from it.
        sets: Data of photos, audit, noisy-accuracy, tables or raw-tables, names separated by commas.
        models: Classifiers of photos, noisy-accuracy, tables or raw-tables, names separated by semicolons.
        json: Print the result as one JSON object on stdout.
    """
    from importlib import import_module

    from anchored._names import choose
    from anchored.bench import BENCHMARKS, LONG

    names = [each for each in BENCHMARKS if each not in LONG] if name is None else [name]
    modules = [choose(each, BENCHMARKS, what="benchmark") for each in names]
    given: dict[str, object] = {
        "data_root": data_root,
        "seeds": _numbers(seeds),
        "epochs": epochs,
        "store": store,
        "sets": _names(sets, ","),
        "models": _names(models, ";"),
    }
    options = {key: value for key, value in given.items() if value is not None}
    if options and name not in LONG:
        raise InputError(f"--{next(iter(options)).replace('_', '-')} is for bench {' and bench '.join(LONG)} only")
    if data_root is not None and name == "auto":
        raise InputError("--data-root is for bench audit; auto on MNIST is: anchored paper run auto_mnist")
    results = {}
    for each, module in zip(names, modules, strict=True):
        run = import_module(module).run
        _check_options(each, run, options)
        tell(f"measuring {each}")
        results[each] = run(**options, **({"tell": tell} if each in LONG else {}))
    if json:
        print_json({each: _plain(result) for each, result in results.items()})
        return
    for result in results.values():
        for table in (result, *result.more):
            rows = [[_shown(cell) for cell in row] for row in table.rows]
            print_table(table.title, table.columns, rows, table.note)


def _plain(result: Result) -> dict[str, object]:
    plain = {"columns": result.columns, "rows": result.rows, "note": result.note, **result.facts}
    return plain | ({"more": {each.title: _plain(each) for each in result.more}} if result.more else {})


def _check_options(name: str, run: Callable[..., object], options: dict[str, object]) -> None:
    from inspect import Parameter, signature

    taken = signature(run).parameters
    if any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
        return
    for key in options:
        if key not in taken:
            raise InputError(f"--{key.replace('_', '-')} means nothing to bench {name}; leave it out")


def _numbers(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--seeds takes whole numbers with commas between, e.g. 0,1,2, got {text!r}") from None


def _names(text: str | None, between: str) -> tuple[str, ...] | None:
    return None if text is None else tuple(part.strip() for part in text.split(between))


def _shown(cell: str | float | None) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
