"""List files, as ImageNet-LT, Places-LT and WebVision come: ``path label`` per line, the label a whole number.

The numbers are the class ids of the whole benchmark, so they are kept as they are: k is the largest one plus one.
WebVision-mini is the list cut to labels below 50.
"""

from __future__ import annotations

from pathlib import Path

import torch

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.data.dataset import Dataset, Split
from anchored.data.file_inputs import MEMORY_LIMIT, FileInputs, image_inputs
from anchored.data.labels import LabelPolicy, encode_labels, review_classes
from anchored.data.paths import below

__all__ = ["load_list"]

_LARGE = 20_000


def load_list(
    path: str | Path,
    *,
    root: str | Path | None = None,
    below_label: int | None = None,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Split:
    """The images that a list file names.

    Args:
        path: The list; blank lines do not count.
        root: Where its paths start; by default its own folder.
        below_label: Keep labels below this number only, e.g. 50 for WebVision-mini.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether labels are needed; otherwise a line may be a path alone.
        shape: ``(c, h, w)`` to bring the images to. Lists of more than 20,000 files are not looked through for it, but
            taken as ``(3, 224, 224)``.
        side: Ask for squares of this side.
        memory_limit: Bytes of pixels up to which they are kept in memory.
    """
    path = Path(path)
    base = Path(root) if root is not None else path.parent
    if below_label is not None:
        check_integer("below_label", below_label, low=2)
    files: list[Path] = []
    ids: list[str] = []
    codes: list[int] = []
    rows: list[int] = []
    for row, line in _lines(path):
        where = f"{path}, row {row}"
        written, code = _parse(line, where, labels)
        if below_label is not None and code >= below_label:
            continue
        files.append(below(base, written, where=where))
        ids.append(written)
        codes.append(code)
        rows.append(row)
    if not files:
        kept = "" if below_label is None else f" with a label below {below_label}"
        raise InputError(f"{path}: the list names no file{kept}; write one `path label` per line")
    if class_names is None:
        encoded, names = torch.tensor(codes), tuple(str(i) for i in range(max(codes) + 1))
    elif -1 in codes:
        encoded, names = torch.full((len(codes),), -1), class_names
    else:
        encoded, names = encode_labels([str(c) for c in codes], class_names, where=lambda i: f"{path}, row {rows[i]}")
    for i, file in enumerate(files):
        if not file.is_file():
            raise InputError(
                f"{path}, row {rows[i]}: there is no file {file}; give the folder its paths start in as --data-root"
            )
    if len(files) > _LARGE and shape is None:
        shape = (3, side or 224, side or 224)
    if len(files) > _LARGE and shape is not None and len(shape) == 3:
        inputs = FileInputs(files, (shape[0], shape[1], shape[2]))
        dataset = Dataset(name=path.stem, inputs=inputs, labels=encoded, class_names=names, ids=ids)
    else:
        loaded = image_inputs(files, shape=shape, side=side, memory_limit=memory_limit)
        dataset = Dataset(name=path.stem, inputs=loaded, labels=encoded, class_names=names, ids=ids)
    return Split(review_classes(dataset, where=path) if class_names is None and labels == "required" else dataset)


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    return [(row, line.strip()) for row, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _parse(line: str, where: str, labels: LabelPolicy) -> tuple[str, int]:
    # The label is the last word, as a path may hold spaces; where there is a tab, it is what follows the last one.
    written, _, last = line.rpartition("\t" if "\t" in line else " ")
    if last.isascii() and last.isdigit() and written:
        return written.strip(), -1 if labels == "ignored" else int(last)
    if labels == "required":
        raise InputError(f"{where}: a line must be `path label` with a whole number, got {line!r}; add the label")
    return line, -1
