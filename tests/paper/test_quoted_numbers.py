"""The tables that README and docs quote from the records by hand: each number is that of the records, as rounded."""

from pathlib import Path
from statistics import fmean

import pytest

from anchored.paper import TABLES, Results
from anchored.paper.comparison import FULL, variant

ROOT = Path(__file__).parents[2]
RESULTS = Results(ROOT / "results")
PUBLISHED = TABLES["noise_symmetric"].published


def quoted(page, first):
    """The rows of the table whose heading begins with ``first``: label and cells, without emphasis."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(first))
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    rows = [[cell.strip().replace("*", "").replace("`", "") for cell in line.strip("|").split("|")] for line in lines]
    return rows[start], rows[start + 2 : end]


def measured(table, row, cell):
    """Mean accuracy in percent after the last epoch and at the best; nothing where nothing was run."""
    found = [r for r in RESULTS.read(table) if (r["row"], r["cell"], variant(r)) == (row, cell, FULL)]
    return [100 * fmean(r[which]["accuracy"] for r in found) for which in ("last", "best") if found]


def says(cell, *numbers):
    """Whether ``cell`` holds these numbers, to the decimal printed; either neighbour of a half is right."""
    written = [float(word) for word in cell.replace("(", " ").replace(")", " ").split()]
    return len(written) == len(numbers) and all(abs(a - b) < 0.0501 for a, b in zip(written, numbers, strict=True))


def printed_number(row):
    number = PUBLISHED.get((row, "mnist/0.8", "accuracy"))
    return [] if number is None else [number.mean]


QUOTED_ROWS = {
    "published": ("{}", True),
    "here": ("{}", False),
    "anchored, published": ("{}+fnpal", True),
    "anchored, here": ("{}+fnpal", False),
    "anchored and aligned (ours)": ("{}+fnpal (aligned)", False),
}


def test_the_catalogue_quotes_the_records_of_mnist():
    (_, *losses), rows = quoted("docs/paper/catalogue.md", "| MNIST, 80 % wrong |")
    assert losses == ["CE", "GCE", "SCE", "NCE+RCE", "NSL"]
    assert [label for label, *_ in rows] == list(QUOTED_ROWS)
    for label, *cells in rows:
        pattern, printed = QUOTED_ROWS[label]
        for loss, cell in zip(losses, cells, strict=True):
            row = pattern.format(loss.lower())
            if printed:
                expected = printed_number(row)
            else:
                expected = measured("noise_symmetric", row, "mnist/0.8")[:1]
            assert says(cell, *expected), (label, loss)


@pytest.mark.parametrize("rate", ["0.6", "0.8"])
def test_the_page_of_choices_quotes_the_orientations(rate):
    _, rows = quoted("docs/paper/deviations.md", "| | 0.6: random |")
    columns = {"0.6": slice(0, 3), "0.8": slice(3, 6)}[rate]
    assert len(rows) == 6
    for loss, *cells in rows:
        method = loss.lower() if loss == "NSL" else f"{loss.lower()}+fnpal"
        for kind, cell in zip(("random", "aligned", "signed"), cells[columns], strict=True):
            assert says(cell, *measured("orientation", f"{method} ({kind})", f"mnist-small/{rate}")), (loss, kind)


def test_the_page_of_choices_quotes_the_scales():
    _, rows = quoted("docs/paper/deviations.md", "| aligned | η = 0.2 |")
    own = {"s from η (1, 0.56, 0.38, 0.29)": "", "s from η": "", "a third of the learning rate": ", lr/3"}
    assert len(rows) == 16
    for label, *cells in rows:
        loss, setting = label.split(", ", maxsplit=1)
        said = own.get(setting, "" if (loss, setting) == ("NCE+RCE", "s = 10") else f", {setting.replace(' ', '')}")
        for rate, cell in zip(("0.2", "0.4", "0.6", "0.8"), cells, strict=True):
            row = f"{loss.lower()}+fnpal (aligned{said})"
            assert says(cell, *measured("orientation", row, f"mnist-small/{rate}")), (label, rate)


def test_the_page_of_choices_quotes_the_runs_on_mnist():
    _, rows = quoted("docs/paper/deviations.md", "| | noise | last epoch |")
    draws = {"same number in every class": "", "label by label": " (iid)"}
    own = {"signed features": " (signed)", "random simplex, pixels between 0 and 1": " (pixels)"}
    assert rows
    for label, noise, last, best, five, published in rows:
        method, _, anchors = label.partition(", ")
        aligned = anchors.startswith("aligned")
        row = method.lower() + (f" ({anchors.replace(' = ', '=')})" if aligned else own.get(anchors, draws[noise]))
        if aligned and draws[noise]:
            row = f"{row[:-1]}, iid)"
        table = "noise_symmetric"
        if row.endswith(("iid)", " (pixels)")):
            table = "unstated"
        elif "s=" in row or row.endswith(" (signed)"):
            table = "orientation"
        (record,) = [r for r in RESULTS.read(table) if (r["row"], r["cell"], r["seed"]) == (row, "mnist/0.8", 0)]
        assert says(last, 100 * record["last"]["accuracy"]), label
        assert says(best, 100 * record["best"]["accuracy"], record["best"]["epoch"]), label
        # The first records do not keep the accuracy class by class.
        assert not record.get("per_class") or says(five, 100 * record["per_class"][5]), label
        ours = aligned or anchors == "signed features"
        assert says(published, *([] if ours else printed_number(method.lower()))), label


def test_the_page_of_choices_quotes_the_hours_on_cifar():
    """What an hour of CIFAR-10 reached, 14 of 120 epochs, in a sentence of the page."""
    page = " ".join((ROOT / "docs/paper/deviations.md").read_text(encoding="utf-8").split())
    found = {
        record["row"]: 100 * record["last"]["accuracy"]
        for record in RESULTS.read("noise_symmetric")
        if record["cell"] == "cifar10/0.6" and record["epochs"] == 14
    }
    numbers = [f"{found[row]:.1f}" for row in ("nce+rce+fnpal", "ce", "ce+fnpal")]
    assert "NCE+RCE+FNPAL has {}, CE {} and CE+FNPAL {}".format(*numbers) in page


def auto(cell):
    """The name of a cell of symmetric noise in the table of ``auto``."""
    return cell.replace("/", "/symmetric-")


def test_the_readme_quotes_the_records_and_the_lab_book():
    """MNIST by the records, what people mislabelled by the page of the judges."""
    _, rows = quoted("README.md", "| | labels wrong |")
    by_name = {(name, share): cells for name, share, *cells in rows}
    mnist = {share: cells for (name, share), cells in by_name.items() if name.startswith("MNIST")}
    assert set(mnist) == {"60 %", "80 %"}
    for share, (plain, published, ours) in mnist.items():
        cell = f"mnist/0.{share[0]}"
        assert says(plain, *measured("noise_symmetric", "ce", cell)[:1])
        best = max(n.mean for (_, place, what), n in PUBLISHED.items() if (place, what) == (cell, "accuracy"))
        assert float(published) == best
        last = [
            r["last"]["accuracy"] for r in RESULTS.read("auto_mnist") if (r["row"], r["cell"]) == ("auto", auto(cell))
        ]
        assert len(last) == 3
        assert abs(float(ours) - 100 * fmean(last)) < 0.0051
    _, judged = quoted("docs/judges.md", "| data | labels | wrong | average precision |")
    precision = {(data, labels): (ours, theirs) for data, labels, _, ours, theirs, *_ in judged}
    for words, key in (
        ("CIFAR-10N worse", ("cifar10n", "worse")),
        ("CIFAR-10N random1", ("cifar10n", "random1")),
        ("AG News", ("agnews", "people")),
    ):
        (cells,) = [cells for (name, _), cells in by_name.items() if words in name]
        assert (cells[2], cells[1]) == precision[key], words
