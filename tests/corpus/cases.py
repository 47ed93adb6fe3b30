"""Bad inputs, made by code, each with the class of answer that it must get.

========== =====================================================================================
answer     means
========== =====================================================================================
refused    exit code 2, one line on stderr that begins ``anchored:``, and nothing new on the disk
tolerated  exit code 0: odd, but legitimate
rows       exit code 0, and every bad row has its error in the output, beside good rows
answered   either of the first two: the input is damaged at random, and only the manner counts
========== =====================================================================================

A family is a function that yields :class:`Case`; ``cases()`` gives all of them. ``make`` prepares a folder that has a
good table ``good.csv``, good arrays ``good.npz``, class folders ``photos``, a list and a finished ``run`` in it.
"""

import io
import json
import os
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

FIT = ("--method", "ridge", "--out", "out", "--no-report")


@dataclass(frozen=True)
class Case:
    """One bad input.

    Attributes:
        name: Family and name.
        answer: What it must get.
        arguments: The command line.
        make: Makes the input in a folder.
        says: A word that the line must hold.
    """

    name: str
    answer: str
    arguments: tuple
    make: Callable = lambda folder: None
    says: str = ""


def write_base(folder):
    """Good data of every kind; the finished run is made by the test."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    x = rng.normal(size=(60, 3)) + 4 * np.eye(3)[y]
    lines = ["a,b,c,label"] + [",".join([*(f"{v:.4f}" for v in row), "xyz"[k]]) for row, k in zip(x, y, strict=True)]
    (folder / "good.csv").write_text("\n".join(lines) + "\n")
    np.savez(folder / "good.npz", X=x.astype(np.float32), y=y)
    for i in range(12):
        path = folder / "photos" / "ab"[i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, size=(8, 8), dtype=np.uint8)).save(path)
    (folder / "list.txt").write_text("".join(f"photos/{'ab'[i % 2]}/{i}.png {i % 2}\n" for i in range(12)))


def table(rows, heading="a,b,label"):
    return (heading + "\n" + "\n".join(rows) + "\n").encode()


def good_rows(n=30):
    return [f"{i % 7}.5,{(i * i) % 11}.25,{'xyz'[i % 3]}" for i in range(n)]


def csv_cases():
    """Tables as text."""
    rows = good_rows()

    def changed(i, row):
        return table([*rows[:i], row, *rows[i + 1 :]])

    refused = {
        "empty": b"",
        "blank lines": b"\n\n\n",
        "heading only": b"a,b,label\n",
        "one row": table(rows[:1]),
        "one class": table([row[:-1] + "x" for row in rows]),
        "nul bytes": b"\0" * 500,
        "utf-16": table(rows).decode().encode("utf-16"),
        "latin-1": changed(3, "1,2,caf\u00e9").decode().encode("latin-1"),
        "png": b"\x89PNG\r\n\x1a\n" + b"\0" * 300,
        "zip": b"PK\x03\x04" + b"\0" * 300,
        "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07PWNED!!\x94.",
        "short row": changed(5, "1.0"),
        "long row": changed(5, "1,2,x,4,5"),
        "unclosed quote in the middle": changed(12, '1.0,2.0,"x'),
        "unclosed quote at the end": changed(29, '1.0,2.0,"x'),
        "same name twice": table(rows, "a,a,label"),
        "no label column": table(rows, "a,b,c"),
        "two label columns": table(rows, "y,target,label"),
        "label missing": changed(4, "1,2,"),
        "every label missing": table([row[:-1] for row in rows]),
        "label nan": changed(4, "1,2,nan"),
        "label continuous": table([f"1,{i},{i / 7:.5f}" for i in range(40)]),
        "label an id": table([f"1,{i},id{i}" for i in range(40)]),
        "label with nul": changed(4, "1,2,x\0y"),
        "only the label": table([row[-1] for row in rows], "label"),
        "control characters": bytes(range(32)) * 20,
        "html": b"<html><body>" * 50,
        "json": b'{"a": [1, 2, 3]}\n' * 20,
        "a heading that is a number": table(rows, "1,2,3"),
    }
    tolerated = {
        "byte order mark": b"\xef\xbb\xbf" + table(rows),
        "carriage returns": table(rows).replace(b"\n", b"\r\n"),
        "no newline at the end": table(rows).rstrip(),
        "semicolons": table(rows).replace(b",", b";"),
        "quoted": table([f'"{i}","{i % 5}","{"xyz"[i % 3]}"' for i in range(30)]),
        "a class with commas": table([f'{i},{i % 4},"x, {i % 3}"' for i in range(30)]),
        "emoji": table([f"{i},{i % 4},{'😀猫ü'[i % 3]}" for i in range(30)]),
        "a formula as a class": table([f"{i},{i % 4},{'=1+1' if i % 2 else '@SUM(1)'}" for i in range(30)]),
        "html as a class": table([f"{i},{i % 4},{'<script>alert(1)</script>' if i % 2 else 'b'}" for i in range(30)]),
        "case of letters": table([f"{i},{i % 4},{'cC'[i % 2]}" for i in range(30)]),
        "tiny and huge numbers": changed(4, "1e-300,1e300,x"),
        "constant column": table([f"1,{i % 4},{'xyz'[i % 3]}" for i in range(30)]),
        "blank lines between": table(rows).replace(b"\n", b"\n\n"),
    }
    answered = {
        "infinity": changed(4, "inf,1,x"),
        "number beyond double": changed(4, "1e999,1,x"),
        "missing cells": changed(4, ",2,x"),
        "text among numbers": changed(4, "one,2,x"),
        "thousands": changed(4, '"1,000",2,x'),
        "underscore": changed(4, "1_000,2,x"),
        "hexadecimal": changed(4, "0x10,2,x"),
        "full-width digits": changed(4, "\uff11,2,x"),
        "a very long cell": changed(4, f"{'9' * 100_000},2,x"),
        "a very long name": table(rows, f"{'a' * 100_000},b,label"),
        "many columns": table(
            [",".join(["1"] * 3000) + "," + "xyz"[i % 3] for i in range(20)],
            ",".join(f"c{i}" for i in range(3000)) + ",label",
        ),
        "no name for a column": table(rows, "a,,label"),
        "quotes within": changed(4, '1"2,2,x'),
        "tabs": table(rows).replace(b",", b"\t"),
        "old mac lines": table(rows).replace(b"\n", b"\r"),
        "spaces around": table([f" {i} , {i % 4} , {'xyz'[i % 3]} " for i in range(30)]),
        "booleans": table([f"{'true' if i % 2 else 'false'},{i},{'xy'[i % 2]}" for i in range(30)]),
        "dates": table([f"2024-01-{i % 28 + 1:02},{i},{'xy'[i % 2]}" for i in range(30)]),
    }
    for answer, contents in (("refused", refused), ("tolerated", tolerated), ("answered", answered)):
        for name, content in contents.items():
            yield Case(
                f"csv/{name}",
                answer,
                ("fit", "t.csv", *FIT),
                lambda folder, c=content: (folder / "t.csv").write_bytes(c),
            )


def odd_file_cases():
    """Names that lead to something else than a file of data."""
    for suffix in (".csv", ".npz", ".npy", ".txt", ".parquet", ".jsonl"):
        yield Case(f"odd/pipe{suffix}", "refused", ("fit", f"p{suffix}", *FIT), _fifo(f"p{suffix}"), "regular file")
        yield Case(f"odd/missing{suffix}", "refused", ("fit", f"gone{suffix}", *FIT))
        yield Case(
            f"odd/folder{suffix}", "refused", ("fit", f"d{suffix}", *FIT), lambda f, s=suffix: (f / f"d{s}").mkdir()
        )
        yield Case(
            f"odd/link to a device{suffix}",
            "refused",
            ("fit", f"z{suffix}", *FIT),
            lambda f, s=suffix: (f / f"z{s}").symlink_to("/dev/zero"),
        )
        yield Case(
            f"odd/link to itself{suffix}",
            "refused",
            ("fit", f"l{suffix}", *FIT),
            lambda f, s=suffix: (f / f"l{s}").symlink_to(f"l{s}"),
        )
    for name, source in {
        "empty name": "",
        "nul": "a\0b",
        "long": "x" * 300 + ".csv",
        "deep": "a/" * 2600 + "x.csv",
        "ending": "t.docx",
        "typo": "digts",
        "dots": "..",
        "slash": "/proc/self/mem",
    }.items():
        if name != "nul":  # no shell can pass it
            yield Case(f"odd/{name}", "refused", ("fit", source, *FIT))


def _fifo(name):
    def make(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / name)

    return make


def npy(shape, dtype="<f4", content=b""):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": dtype, "fortran_order": False, "shape": shape})
    return head.getvalue() + content


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)


def array_cases():
    """Archives and arrays of numpy."""
    x, y = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32), np.arange(30) % 3

    class Evil:
        def __reduce__(self):
            return os.system, ("touch PWNED",)

    holes = x.copy()
    holes[3, 1] = np.nan
    endless = x.copy()
    endless[3, 1] = np.inf
    refused = {
        "no X": {"Z": x, "y": y},
        "no y": {"X": x},
        "lengths": {"X": x, "y": y[:5]},
        "test lengths": {"X": x, "y": y, "X_test": x, "y_test": y[:5]},
        "test width": {"X": x, "y": y, "X_test": x[:, :2], "y_test": y},
        "objects": {"X": np.array([Evil()] * 30, dtype=object), "y": y},
        "object labels": {"X": x, "y": np.array([Evil()] * 30, dtype=object)},
        "nan": {"X": holes, "y": y},
        "inf": {"X": endless, "y": y},
        "beyond single precision": {"X": x.astype(np.float64) * 1e300, "y": y},
        "text features": {"X": x.astype(str), "y": y},
        "complex": {"X": x.astype(complex), "y": y},
        "dates": {"X": np.arange(90).reshape(30, 3).astype("datetime64[s]"), "y": y},
        "one axis": {"X": x[:, 0], "y": y},
        "five axes": {"X": x.reshape(30, 1, 1, 3, 1), "y": y},
        "no rows": {"X": x[:0], "y": y[:0]},
        "no columns": {"X": x[:, :0], "y": y},
        "scalar": {"X": np.array(1.0), "y": np.array(1)},
        "fractions as labels": {"X": x, "y": y + 0.5},
        "nan labels": {"X": x, "y": np.where(y == 0, np.nan, y)},
        "ids as labels": {"X": x, "y": np.arange(30)},
        "matrix of labels": {"X": x, "y": np.eye(3)[y]},
        "one class": {"X": x, "y": y * 0},
        "two X": {"X": x, "x": x, "y": y},
        "channels": {"X": np.zeros((30, 5, 4, 4)), "y": y},
        "pixels beyond bytes": {"X": np.full((30, 4, 4), 300), "y": y},
    }
    for name, arrays in refused.items():
        yield Case(
            f"npz/{name}",
            "refused",
            ("fit", "d.npz", *FIT),
            lambda folder, a=arrays: np.savez(folder / "d.npz", **a),
        )
    tolerated = {
        "half precision": {"X": x.astype(np.float16), "y": y},
        "whole numbers": {"X": (x * 100).astype(np.int64), "y": y},
        "big endian": {"X": x.astype(">f4"), "y": y},
        "fortran": {"X": np.asfortranarray(x), "y": y},
        "labels as text": {"X": x, "y": np.array(list("abc"))[y]},
        "labels as bytes": {"X": x, "y": np.array([b"a", b"b", b"c"])[y]},
        "labels as floats": {"X": x, "y": y.astype(float)},
        "labels as a column": {"X": x, "y": y[:, None]},
        "negative labels": {"X": x, "y": y - 1},
        "truth values": {"X": x, "y": y > 0},
        "other arrays": {"X": x, "y": y, "extra": np.zeros(5)},
    }
    for name, arrays in tolerated.items():
        yield Case(
            f"npz/{name}",
            "tolerated",
            ("fit", "d.npz", *FIT),
            lambda folder, a=arrays: np.savez(folder / "d.npz", **a),
        )
    zeros = zlib.compressobj()
    raw = {
        "empty": b"",
        "garbage": b"garbage",
        "half a zip": b"PK\x03\x04garbage",
        "a csv": table(good_rows()),
        "a pickle": b"\x80\x04\x8c\x05PWNED\x94.",
        "a head alone": b"\x93NUMPY\x01\x00",
        "a single array": npy((2, 2), content=bytes(16)),
    }
    del zeros
    for name, content in raw.items():
        yield Case(
            f"npz/{name}",
            "refused",
            ("fit", "d.npz", *FIT),
            lambda folder, c=content: (folder / "d.npz").write_bytes(c),
        )
    lies = {
        "a head of petabytes": {"X.npy": npy((10**9, 10**6)), "y.npy": npy((10**9,), "<i8")},
        "a head of more": {"X.npy": npy((30, 4), content=x.tobytes()), "y.npy": npy((30,), "<i8", y.tobytes())},
        "a head of less": {"X.npy": npy((30, 2), content=x.tobytes()), "y.npy": npy((30,), "<i8", y.tobytes())},
        "a negative length": {"X.npy": npy((-1, 3), content=x.tobytes()), "y.npy": npy((30,), "<i8", y.tobytes())},
        "a head that is code": {"X.npy": b"\x93NUMPY\x01\x00\x20\x00__import__('os').system('id')   \n"},
        "a member that is no array": {"X.npy": b"hello", "y.npy": b"you"},
        "a path that leaves": {"../X.npy": npy((30, 3), content=x.tobytes())},
        "a bomb": {"X.npy": npy((300_000, 1000), "|i1", bytes(300_000_000)), "y.npy": npy((5,), "<i8", bytes(40))},
    }
    for name, members in lies.items():
        yield Case(
            f"npz/{name}", "refused", ("fit", "d.npz", *FIT), lambda folder, m=members: archive(folder / "d.npz", m)
        )

    def bomb(folder):
        archive(
            folder / "d.npz",
            {
                "X.npy": npy((500_000, 1000), "|i1", bytes(500_000_000)),
                "y.npy": npy((500_000,), "|i1", bytes(250_000) + b"\1" * 250_000),
            },
        )

    yield Case("npz/a bomb that fits together", "refused", ("fit", "d.npz", *FIT), bomb, "times as many")
    for cut in (10, 100, 300, 500):
        yield Case(
            f"npz/cut after {cut}",
            "refused",
            ("fit", "d.npz", *FIT),
            lambda folder, n=cut: (folder / "d.npz").write_bytes((folder / "good.npz").read_bytes()[:n]),
        )
    for name, pair in {
        "npy lengths": (x, y[:5]),
        "npy objects": (x.astype(object), y),
        "npy text": (x.astype(str), y),
    }.items():
        yield Case(
            f"npz/{name}",
            "refused",
            ("fit", "X.npy", *FIT),
            lambda folder, p=pair: (np.save(folder / "X.npy", p[0]), np.save(folder / "y.npy", p[1])),
        )
    yield Case("npz/npy alone", "refused", ("fit", "X.npy", *FIT), lambda folder: np.save(folder / "X.npy", x))


def png(width, height, kind=2):
    """A PNG whose head says its size, with next to no pixels."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 10)) + chunk(b"IEND", b"")


def folder_cases():
    """Folders of images and texts."""

    def add(name, content):
        def make(folder):
            path = folder / "photos" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

        return make

    whole = io.BytesIO()
    Image.effect_noise((32, 32), 50).save(whole, "PNG")
    refused = {
        "an empty image": add("a/x.png", b""),
        "garbage": add("a/x.jpg", b"garbage" * 30),
        "half an image": add("a/x.png", whole.getvalue()[:200]),
        "a text as an image": add("a/x.png", b"hello"),
        "postscript": add("a/x.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n"),
        "huge": add("a/x.png", png(60_000, 60_000)),
        "wide": add("a/x.png", png(2**31 - 1, 1)),
        "no pixels": add("a/x.png", png(0, 0)),
        "images and texts": add("a/x.txt", b"hello"),
        "link out": lambda folder: (folder / "photos" / "a" / "x.png").symlink_to("/etc/passwd"),
        "link to a folder out": lambda folder: (folder / "photos" / "c").symlink_to("/usr/share"),
        "link to nowhere": lambda folder: (folder / "photos" / "a" / "x.png").symlink_to("nowhere.png"),
        "link that loops": lambda folder: (folder / "photos" / "a" / "loop").symlink_to(".."),
        "link to itself": lambda folder: (folder / "photos" / "a" / "x.png").symlink_to("x.png"),
        "a class folder only": lambda folder: shutil.rmtree(folder / "photos" / "b"),
        "nothing": lambda folder: (shutil.rmtree(folder / "photos"), (folder / "photos").mkdir()),
        "empty class folders": lambda folder: [
            (folder / "photos" / n / f).unlink() for n in "ab" for f in os.listdir(folder / "photos" / n)
        ],
        "flat": lambda folder: [
            shutil.move(folder / "photos" / n, folder / n)
            or [shutil.copy(p, folder / "photos" / p.name) for p in (folder / n).iterdir()]
            for n in "ab"
        ],
        "floating point": lambda folder: Image.new("F", (8, 8)).save(folder / "photos" / "a" / "x.tiff"),
        "a folder called like an image alone": lambda folder: (
            shutil.rmtree(folder / "photos"),
            (folder / "photos/a/x.png").mkdir(parents=True),
        ),
    }
    for name, make in refused.items():
        yield Case(f"folder/{name}", "refused", ("fit", "photos", *FIT), make)
    tolerated = {
        "a pipe": _fifo("photos/a/x.png"),
        "hidden files": add("a/.x.png", b"garbage"),
        "other files": add("a/notes.md", b"hello"),
        "an empty class": lambda folder: (folder / "photos" / "c").mkdir(),
        "a link within": lambda folder: (folder / "photos" / "b" / "x.png").symlink_to("../a/0.png"),
        "16 bit": lambda folder: Image.fromarray(np.full((8, 8), 40_000, np.uint16)).save(folder / "photos/a/x.png"),
        "alpha": lambda folder: Image.new("RGBA", (8, 8)).save(folder / "photos/a/x.png"),
        "cmyk": lambda folder: Image.new("CMYK", (8, 8)).save(folder / "photos/a/x.jpg"),
        "palette": lambda folder: Image.new("P", (8, 8)).save(folder / "photos/a/x.gif"),
        "another size": lambda folder: Image.new("RGB", (31, 7)).save(folder / "photos/a/x.png"),
        "deeper": add("a/deep/deeper/x.png", whole.getvalue()),
        "odd names": lambda folder: (folder / "photos" / "a").rename(folder / "photos" / "=1+1|<b> ü\n😀"),
        "a name that is no text": lambda folder: os.rename(
            os.fsencode(folder / "photos/a"), os.fsencode(folder / "photos") + b"/\xff\xfe"
        ),
    }
    for name, make in tolerated.items():
        yield Case(f"folder/{name}", "tolerated", ("fit", "photos", *FIT), make)


def list_cases():
    """Lists of images."""
    refused = {
        "empty": "",
        "no labels": "photos/a/0.png\n",
        "a missing file": "photos/a/none.png 0\nphotos/b/1.png 1\n",
        "leaves by dots": "../../../etc/passwd 0\nphotos/b/1.png 1\n",
        "absolute": "/etc/passwd 0\nphotos/b/1.png 1\n",
        "a huge label": "photos/a/0.png 999999999999\nphotos/b/1.png 1\n",
        "digits without end": f"photos/a/0.png {'9' * 5000}\n",
        "a negative label": "photos/a/0.png -1\nphotos/b/1.png 1\n",
        "one class": "photos/a/0.png 0\nphotos/a/2.png 0\n",
        "a folder": "photos/a 0\nphotos/b/1.png 1\n",
        "words": "hello world\n",
    }
    for name, text in refused.items():
        yield Case(
            f"list/{name}", "refused", ("fit", "l.txt", *FIT), lambda folder, t=text: (folder / "l.txt").write_text(t)
        )
    yield Case(
        "list/latin-1",
        "refused",
        ("fit", "l.txt", *FIT),
        lambda folder: (folder / "l.txt").write_bytes(b"caf\xe9.png 0\n"),
    )
    yield Case("list/good", "tolerated", ("fit", "list.txt", *FIT))


def yaml_cases():
    """Files of settings."""
    laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{n}: &{n} [{', '.join([f'*{p}'] * 10)}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
    )
    refused = {
        "a list": b"- a\n- b\n",
        "a scalar": b"3\n",
        "open bracket": b"train: [1\n",
        "tabs": b"train:\n\tepochs: 3\n",
        "unknown": b"train: {epoch: 3}\n",
        "unknown part": b"trains: {epochs: 3}\n",
        "not UTF-8": b"\xff\xfe\x00",
        "deep": b"[" * 5000,
        "deep mappings": b"{a: " * 2000,
        "laughs": laughs.encode(),
        "a loop": b"&a [*a]\n",
        "python object": b"!!python/object/apply:os.system ['touch PWNED']\n",
        "python name": b"train: !!python/name:os.system\n",
        "python module": b"train: !!python/module:os\n",
        "key twice": b"train: {epochs: 3}\ntrain: {epochs: 4}\n",
        "key twice within": b"train: {epochs: 3, epochs: 4}\n",
        "text for a number": b"train: {epochs: many}\n",
        "a list for a number": b"train: {epochs: [3]}\n",
        "negative": b"train: {epochs: -3}\n",
        "nan": b"optimizer: {lr: .nan}\n",
        "infinity": b"optimizer: {lr: .inf}\n",
        "null part": b"train: null\n",
        "a number for a part": b"train: 3\n",
        "two documents": b"a: 1\n---\nb: 2\n",
        "binary": bytes(range(256)),
        "a date": b"train: {epochs: 2001-99-99}\n",
    }
    for name, content in refused.items():
        yield Case(
            f"yaml/{name}",
            "refused",
            ("fit", "good.csv", "--config", "s.yaml", *FIT),
            lambda folder, c=content: (folder / "s.yaml").write_bytes(c),
        )
    for name, content in {"empty": b"", "comments": b"# nothing\n", "good": b"train: {epochs: 2}\n"}.items():
        yield Case(
            f"yaml/{name}",
            "tolerated",
            ("fit", "good.csv", "--config", "s.yaml", *FIT),
            lambda folder, c=content: (folder / "s.yaml").write_bytes(c),
        )
    yield Case("yaml/pipe", "refused", ("fit", "good.csv", "--config", "s.yaml", *FIT), _fifo("s.yaml"))
    yield Case("yaml/missing", "refused", ("fit", "good.csv", "--config", "none.yaml", *FIT))


def option_cases():
    """Options of ``fit`` that cannot be."""
    ce = ("--method", "ce", "--out", "out", "--no-report", "--epochs", "1")
    settings = (
        "train.epochs=0",
        "train.epochs=x",
        "train.batch_size=0",
        "train.batch_size=-5",
        "train.seed=-1",
        "train.ema=1",
        "train.ema=0",
        "train.early_stop=0",
        "train.drw_start=2",
        "train.class_weight_beta=1",
        "train.workers=-1",
        "train.precision=16",
        "train.device=tpu9",
        "train.labels=maybe",
        "train.checkpoint_seconds=-1",
        "optimizer.lr=0",
        "optimizer.lr=-1",
        "optimizer.lr=nan",
        "optimizer.lr=inf",
        "optimizer.momentum=1",
        "optimizer.name=adam",
        "optimizer.weight_decay=-1",
        "optimizer.clip=0",
        "schedule.name=cosin",
        "schedule.options.x=1",
        "method.name=cee",
        "method.scale=0",
        "method.scale=-1",
        "method.scale=1e30",
        "method.noise_rate=1",
        "method.noise_rate=-0.1",
        "method.anchors=none",
        "method.mixup_alpha=0",
        "method.loss.q=7",
        "method.options.x=1",
        "backbone.name=mpl",
        "backbone.options.depth=-3",
        "backbone.options.x=1",
        "data.hold_out=1.5",
        "data.hold_out=0.9999",
        "data.hold_out=-0.1",
        "data.augment=[flap]",
        "data.augment=7",
        "data.normalize=cifra",
        "data.side=0",
        "data.below_label=1",
        "data.corrupt=[symmetric]",
        "data.corrupt=[symmetric=2]",
        "data.corrections_digest=x",
        "data.corrections=none.csv",
        "second.epochs=3",
        "second.epochs=-1",
        "look.epochs=0",
        "data",
        "=3",
        "a..b=3",
        ".".join("a" * 5000) + "=1",
        "train.epochs=[",
        "train.epochs={a: 1, a: 2}",
        "nothing.at=all",
    )
    for setting in settings:
        yield Case(f"set/{setting[:60]}", "refused", ("fit", "good.csv", *ce, "--set", setting))
    flags = (
        ("--epochs", "0"),
        ("--epochs", "many"),
        ("--batch-size", "0"),
        ("--lr", "0"),
        ("--lr", "nan"),
        ("--seed", "-1"),
        ("--noise-rate", "2"),
        ("--noise-rate", "some"),
        ("--method", "zzz"),
        ("--method", ""),
        ("--method", "ce+ce"),
        ("--method", "x" * 3000),
        ("--backbone", "zzz"),
        ("--backbone", "timm:"),
        ("--corrupt", "symmetric"),
        ("--corrupt", "symmetric=2"),
        ("--corrupt", "symmetric=nan"),
        ("--corrupt", "upside=0.1"),
        ("--corrupt", "longtail=0"),
        ("--corrections", "none.csv"),
        ("--corrections", "photos"),
        ("--data-root", "/nowhere"),
        ("--label", "none"),
        ("--image", "none"),
        ("--test", "none.csv"),
        ("--test", "photos"),
        ("--precision", "16"),
        ("--device", "tpu"),
        ("--config", "none.yaml"),
        ("--config", "photos"),
        ("--nothing",),
        ("extra",),
    )
    for flag in flags:
        yield Case(f"flag/{' '.join(flag)[:60]}", "refused", ("fit", "good.csv", "--out", "out", "--no-report", *flag))
    for name, out in {
        "a file": "good.csv",
        "in a file": "good.csv/out",
        "in proc": "/proc/out",
        "full": "photos",
        "long": "x" * 300,
        "finished": "run",
    }.items():
        yield Case(f"out/{name}", "refused", ("fit", "good.csv", "--method", "ridge", "--out", out))
    yield Case("flag/data root for digits", "refused", ("fit", "digits", *FIT, "--data-root", "photos"))
    yield Case("flag/side for digits", "refused", ("fit", "digits", *FIT, "--set", "data.side=100000"))
    yield Case(
        "flag/second stage",
        "refused",
        ("fit", "digits", "--method", "crt", "--out", "out", "--set", "second.epochs=-1"),
    )
    yield Case(
        "flag/second schedule",
        "refused",
        ("fit", "digits", "--method", "crt", "--out", "out", "--set", "second.schedule=x"),
    )
    yield Case("flag/label of a folder", "refused", ("fit", "photos", *FIT, "--label", "x"))


def other_command_cases():
    """Other commands."""
    refused = {
        "prototypes of one class": ("prototypes", "1", "4"),
        "prototypes in no space": ("prototypes", "4", "0"),
        "prototypes beyond memory": ("prototypes", "100000", "100000"),
        "prototypes beyond everything": ("prototypes", "1000000000", "1000000000"),
        "prototypes of text": ("prototypes", "a", "b"),
        "prototypes to text": ("prototypes", "3", "4", "--out", "w.txt"),
        "prototypes nowhere": ("prototypes", "3", "4", "--out", "none/w.npy"),
        "prototypes relu": ("prototypes", "3", "4", "--use-relu"),
        "prototypes seed": ("prototypes", "3", "4", "--seed", "-1"),
        "corrupt nothing": ("corrupt", "good.csv", "--out", "out"),
        "corrupt all": ("corrupt", "good.csv", "--symmetric", "2", "--out", "out"),
        "corrupt full": ("corrupt", "good.csv", "--symmetric", "0.2", "--out", "photos"),
        "corrupt seed": ("corrupt", "good.csv", "--symmetric", "0.2", "--seed", "-1", "--out", "out"),
        "corrupt root": ("corrupt", "digits", "--symmetric", "0.2", "--data-root", "/nowhere", "--out", "out"),
        "data digits": ("data", "digits", "--root", "d"),
        "data unknown": ("data", "mnits", "--root", "d"),
        "data mirror": ("data", "mnist", "--root", "d", "--mirror", "file:///etc/"),
        "data mirror without host": ("data", "mnist", "--root", "d", "--mirror", "mnist"),
        "predict without a run": ("predict", "photos", "good.csv", "--out", "p.csv"),
        "predict nothing": ("predict", "run", "none.csv", "--out", "p.csv"),
        "predict to text": ("predict", "run", "good.csv", "--out", "p.txt"),
        "predict nowhere": ("predict", "run", "good.csv", "--out", "none/p.csv"),
        "predict onto itself": ("predict", "run", "good.csv", "--out", "good.csv"),
        "predict certain": ("predict", "run", "good.csv", "--out", "p.csv", "--min-confidence", "2"),
        "predict part": ("predict", "run", "good.csv", "--out", "p.csv", "--part", "middle"),
        "predict images": ("predict", "run", "photos", "--out", "p.csv"),
        "predict prior": ("predict", "run", "good.csv", "--out", "p.csv", "--prior", "1,2"),
        "predict prior zero": ("predict", "run", "good.csv", "--out", "p.csv", "--prior", "0,1,1"),
        "predict prior nan": ("predict", "run", "good.csv", "--out", "p.csv", "--prior", "nan,1,1"),
        "predict safe json": ("predict", "run", "good.csv", "--out", "p.jsonl", "--spreadsheet-safe"),
        "predict device": ("predict", "run", "good.csv", "--out", "p.csv", "--device", "tpu"),
        "evaluate nothing": ("evaluate", "run", "none.csv"),
        "evaluate without a run": ("evaluate", "photos", "good.csv"),
        "evaluate root": ("evaluate", "run", "digits", "--data-root", "/nowhere"),
        "evaluate classes": ("evaluate", "run", "digits"),
        "audit part": ("audit", "run", "--part", "foo"),
        "audit label": ("audit", "run", "--label", "x"),
        "audit image": ("audit", "run", "--image", "x"),
        "audit format": ("audit", "run", "--format", "xlsx"),
        "audit file": ("audit", "run", "--out", "good.csv"),
        "audit other": ("audit", "run", "--data", "good.csv"),
        "audit safe": ("audit", "run", "--spreadsheet-safe"),
        "audit without a run": ("audit", "photos"),
        "export ending": ("export", "run", "m.bin"),
        "export nowhere": ("export", "run", "none/m.onnx"),
        "export without a run": ("export", "photos", "m.onnx"),
        "report without a run": ("report", "photos"),
        "report nowhere": ("report", "run", "--out", "none/r.html"),
        "report compare": ("report", "run", "--compare", "photos"),
        "review without a run": ("review", "photos", "--no-open"),
        "review port": ("review", "run", "--no-open", "--port", "99999"),
        "review top": ("review", "run", "--no-open", "--top", "0"),
        "review static": ("review", "run", "--static", "none/r.html"),
        "review root": ("review", "run", "--no-open", "--data-root", "/nowhere"),
        "resume nothing": ("resume", "photos"),
        "resume root": ("resume", "run", "--data-root", "photos"),
        "embed ending": ("embed", "good.csv", "--out", "e.csv"),
        "embed encoder": ("embed", "good.csv", "--out", "e.npz", "--encoder", "zzz"),
        "bench unknown": ("bench", "zzz"),
        "paper unknown": ("paper", "run", "zzz"),
        "paper seeds": ("paper", "run", "noise_symmetric", "--seeds", "a"),
        "no command": ("zzz",),
        "no data": ("fit",),
    }
    for name, arguments in refused.items():
        yield Case(f"command/{name}", "refused", arguments)


DAMAGE = {
    "empty": b"",
    "garbage": b"garbage",
    "not UTF-8": b"\xff\xfe\xff",
    "an empty object": b"{}",
    "a list": b"[]",
    "a number": b"3",
    "null": b"null",
    "nan": b'{"temperature": NaN}',
    "deep": b"[" * 100_000,
    "nul": b"\0" * 100,
}


def run_cases():
    """A run's folder with a damaged file."""
    readers = {
        "result.json": (("resume", "run"), ("report", "run", "--out", "r.html")),
        "history.jsonl": (("report", "run", "--out", "r.html"),),
        "speed.jsonl": (("resume", "run"),),
        "config.yaml": (("resume", "run"), ("predict", "run", "good.csv", "--out", "p.csv")),
        "model.json": (("predict", "run", "good.csv", "--out", "p.csv"),),
        "model.safetensors": (("predict", "run", "good.csv", "--out", "p.csv"),),
        "audit/audit.json": (("review", "run", "--static", "r.html"),),
        "audit/suspects.csv": (("review", "run", "--static", "r.html"),),
    }
    accepted = {("history.jsonl", "empty"), ("speed.jsonl", "empty")}
    for file, commands in readers.items():
        for arguments in commands:
            for name, content in DAMAGE.items():
                answer = "tolerated" if (file, name) in accepted else "refused"
                if file == "history.jsonl":
                    answer = "answered"
                yield Case(
                    f"run/{arguments[0]}, {file}: {name}",
                    answer,
                    arguments,
                    lambda folder, f=file, c=content: (folder / "run" / f).write_bytes(c),
                )
            yield Case(
                f"run/{arguments[0]}, {file}: half",
                "answered",
                arguments,
                lambda folder, f=file: _halve(folder / "run" / f),
            )
            yield Case(
                f"run/{arguments[0]}, {file}: a pipe",
                "answered",
                arguments,
                lambda folder, f=file: ((folder / "run" / f).unlink(), os.mkfifo(folder / "run" / f)),
            )
    for name, changes in {
        "no temperature": {"temperature": None},
        "text for a number": {"temperature": "hot"},
        "epochs": {"epochs": "x"},
        "method": {"method": 3},
        "scores": {"held_out": 3},
        "accuracy": {"held_out": {"accuracy": "high"}},
        "per class": {"held_out": {"per_class": ["a"]}},
        "counts": {"class_counts": ["many"]},
        "reasons": {"auto": 3},
        "corruption": {"corruption": []},
        "versions": {"versions": 3},
    }.items():
        for command in (("resume", "run"), ("report", "run", "--out", "r.html")):
            yield Case(
                f"run/{command[0]}, a field of the result: {name}",
                "refused",
                command,
                lambda folder, c=changes: _change(folder / "run" / "result.json", c),
            )


def _halve(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _change(path, changes):
    about = json.loads(path.read_text())
    path.write_text(json.dumps(about | changes))


def model_cases():
    """A model's folder from somebody who means harm."""
    fields = {
        "format": 99,
        "class_names": 3,
        "temperature": 0,
        "normalization": [],
        "input_shape": [10**9],
        "columns": 3,
        "training_counts": ["x"],
        "backbone": "mlp",
        "method": 7,
        "options": 3,
        "noise_rate": "x",
        "scale": [1],
    }
    more = {
        "one class": {"class_names": ["a"]},
        "classes twice": {"class_names": ["a", "a", "b"]},
        "classes of numbers": {"class_names": [1, 2, 3]},
        "a class more": {"class_names": ["a", "b", "c", "d"]},
        "hot": {"temperature": 1e400},
        "cold": {"temperature": -1},
        "no spread": {"normalization": {"mean": [0], "std": [0], "divisor": 1}},
        "a huge layer": {"backbone": {"name": "mlp", "last_relu": True, "options": {"widths": [10**9]}}},
        "another network": {"backbone": {"name": "resnet18", "last_relu": True, "options": {}}},
        "a network of a file": {
            "backbone": {"name": "timm:resnet18", "last_relu": True, "options": {"checkpoint_path": "/etc/passwd"}}
        },
        "a network of the net": {"backbone": {"name": "timm:hf_hub:evil/model", "last_relu": True, "options": {}}},
        "no shape": {"input_shape": []},
        "a negative shape": {"input_shape": [-3]},
        "a shape of text": {"input_shape": ["x"]},
        "columns of numbers": {"columns": [1, 2, 3]},
        "another method": {"method": "zzz"},
    }
    predict = ("predict", "run", "good.csv", "--out", "p.csv")
    for name, value in fields.items():
        yield Case(
            f"model/{name}", "answered", predict, lambda f, n=name, v=value: _change(f / "run/model.json", {n: v})
        )
    for name, changes in more.items():
        yield Case(f"model/{name}", "answered", predict, lambda f, c=changes: _change(f / "run/model.json", c))
    for name in ("class_names", "temperature", "normalization", "input_shape", "method", "backbone"):

        def without(folder, name=name):
            path = folder / "run/model.json"
            about = json.loads(path.read_text())
            about.pop(name, None)
            path.write_text(json.dumps(about))

        yield Case(f"model/without {name}", "answered", predict, without)
    for command in (predict, ("export", "run", "m.onnx"), ("evaluate", "run", "good.csv")):
        yield Case(f"model/nan, {command[0]}", "refused", command, _spoil_weights, "not finite")
    yield Case("model/a description of a gigabyte", "refused", predict, _sparse("run/model.json"))
    yield Case("model/weights of a gigabyte", "refused", predict, _sparse("run/model.safetensors"))
    yield Case(
        "model/removed", "refused", predict, lambda folder: (folder / "run/model.safetensors").unlink(), "train again"
    )


def _spoil_weights(folder):
    from safetensors.torch import load_file, save_file

    path = folder / "run" / "model.safetensors"
    state = {
        name: value * float("nan") if value.is_floating_point() else value for name, value in load_file(path).items()
    }
    save_file(state, path, metadata={"format": "pt"})


def _sparse(name):
    def make(folder):
        with (folder / name).open("wb") as file:
            file.truncate(2**30)

    return make


def checkpoint_cases():
    """A checkpoint that was edited."""
    changes = {
        "no facts": {},
        "not JSON": "{{{",
        "an empty list": [],
        "history a string": {"history": "x"},
        "epoch far": {"epoch": 10**6},
        "epoch negative": {"epoch": -1},
        "epoch text": {"epoch": "one"},
        "stage far": {"stage": 9},
        "stage text": {"stage": "x"},
        "groups": {"groups": 3},
        "groups empty": {"groups": []},
        "began far": {"began": 99},
        "batch text": {"batch": []},
        "history of lists": {"history": [[]]},
    }
    for name, change in changes.items():
        yield Case(f"checkpoint/{name}", "refused", ("resume", "stopped"), lambda folder, c=change: _edit(folder, c))
    for name, content in DAMAGE.items():
        yield Case(
            f"checkpoint/{name}",
            "refused",
            ("resume", "stopped"),
            lambda folder, c=content: (folder / "stopped/checkpoint/last.safetensors").write_bytes(c),
        )


def _edit(folder, change):
    from safetensors import safe_open
    from safetensors.torch import save_file

    path = folder / "stopped/checkpoint/last.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors, header = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    facts = json.loads(header["facts"]) | change if isinstance(change, dict) and change else change
    header["facts"] = facts if isinstance(facts, str) else json.dumps(facts)
    save_file(tensors, path, metadata=header)


def correction_cases():
    """Files of decisions."""
    head = "index,id,given,decision,label,time\n"
    refused = {
        "empty": b"",
        "another heading": b"a,b\n1,2\n",
        "not UTF-8": b"\xff\xfe",
        "a short line": (head + "1,row 3\n").encode(),
        "index text": (head + "x,row 3,y,keep,,\n").encode(),
        "index negative": (head + "-1,row 3,y,keep,,\n").encode(),
        "another id": (head + "0,row 99,x,keep,,\n").encode(),
        "another label": (head + "0,row 2,zzz,keep,,\n").encode(),
        "a decision unknown": (head + "0,row 2,x,maybe,,\n").encode(),
        "a class unknown": (head + "0,row 2,x,accept,zzz,\n").encode(),
        "a quote open": (head + '0,"row 2,x,keep,,\n').encode(),
        "nul": (head + "0,row 2\0,x,keep,,\n").encode(),
        "a huge index": (head + "9" * 5000 + ",row 2,x,keep,,\n").encode(),
    }
    for name, content in refused.items():
        yield Case(
            f"corrections/{name}",
            "refused",
            ("fit", "good.csv", *FIT, "--corrections", "k.csv"),
            lambda folder, c=content: (folder / "k.csv").write_bytes(c),
        )
    yield Case(
        "corrections/none yet",
        "tolerated",
        ("fit", "good.csv", *FIT, "--corrections", "k.csv"),
        lambda folder: (folder / "k.csv").write_text(head),
    )


def row_cases():
    """Bad rows to predict: each has its error, and the others their label."""
    bad = {
        "a word": "one,2,3",
        "a short row": "1",
        "a long row": "1,2,3,4,5",
        "infinity": "inf,2,3",
        "beyond": "1e999,2,3",
    }
    for name, row in bad.items():
        yield Case(
            f"rows/{name}",
            "rows",
            ("predict", "run", "p.csv", "--out", "out.csv"),
            lambda folder, r=row: (folder / "p.csv").write_text(f"a,b,c\n1,2,3\n{r}\n4,5,6\n"),
        )
    for name, heading in {"a column missing": "a,b", "no heading": "1,2,3", "nothing": ""}.items():
        yield Case(
            f"rows/{name}",
            "refused",
            ("predict", "run", "p.csv", "--out", "out.csv"),
            lambda folder, h=heading: (folder / "p.csv").write_text(f"{h}\n" if h else ""),
        )
    yield Case(
        "rows/an unclosed quote",
        "answered",
        ("predict", "run", "p.csv", "--out", "out.csv"),
        lambda folder: (folder / "p.csv").write_text('a,b,c\n1,2,3\n"4,5,6\n7,8,9\n10,11,12\n'),
    )


def idx_cases():
    """Files of MNIST."""
    head = b"\0\0\x08\x03" + struct.pack(">3I", 4, 8, 8)
    for name, content in {
        "empty": b"",
        "garbage": b"garbage",
        "another type": b"\0\0\x0d\x01" + bytes(50),
        "many axes": b"\0\0\x08\xff" + bytes(50),
        "cut": head + bytes(10),
        "longer": head + bytes(300),
        "a promise": b"\0\0\x08\x03" + b"\xff" * 12,
    }.items():
        for end in ("", ".gz"):

            def make(folder, content=content, end=end):
                import gzip

                raw = folder / "m" / "MNIST" / "raw"
                raw.mkdir(parents=True)
                packed = gzip.compress(content) if end else content
                (raw / f"train-images-idx3-ubyte{end}").write_bytes(packed)
                (raw / f"train-labels-idx1-ubyte{end}").write_bytes(packed)

            yield Case(f"idx/{name}{end}", "refused", ("fit", "mnist", *FIT, "--data-root", "m"), make)

    def bomb(folder):
        import gzip

        raw = folder / "m" / "MNIST" / "raw"
        raw.mkdir(parents=True)
        (raw / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(200_000_000)))

    yield Case("idx/a bomb.gz", "refused", ("fit", "mnist", *FIT, "--data-root", "m"), bomb)


def cases():
    """Every case."""
    families = (
        csv_cases,
        odd_file_cases,
        array_cases,
        folder_cases,
        list_cases,
        yaml_cases,
        option_cases,
        other_command_cases,
        run_cases,
        model_cases,
        checkpoint_cases,
        correction_cases,
        row_cases,
        idx_cases,
    )
    return [case for family in families for case in family()]


def copy_base(base: Path, folder: Path) -> None:
    """A fresh copy of the good data and runs."""
    shutil.copytree(base, folder, symlinks=True)
