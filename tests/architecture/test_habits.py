"""Habits that hold for every file: no global randomness, no unpickling, a mirror among the unit tests."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "anchored"
UNIT = ROOT / "tests" / "unit"
FILES = sorted(SRC.rglob("*.py"))

GLOBAL_RANDOMNESS = {
    "torch.manual_seed", "torch.seed", "torch.random.manual_seed", "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all", "random.seed", "random.random", "random.shuffle", "random.choice",
    "random.randint", "random.sample", "random.uniform",
}  # fmt: skip
SAMPLING_FUNCTIONS = {"rand", "randn", "randint", "randperm", "multinomial", "bernoulli", "normal", "poisson"}
IN_PLACE_SAMPLING = {"normal_", "uniform_", "random_", "bernoulli_", "exponential_", "kaiming_normal_",
                     "kaiming_uniform_", "xavier_normal_", "xavier_uniform_", "trunc_normal_"}  # fmt: skip
UNPICKLING = {"pickle.load", "pickle.loads", "torch.load", "joblib.load", "dill.load", "numpy.load", "np.load"}
RESTRICTED_READER = SRC / "data" / "cifar.py"


def dotted(node):
    """``a.b.c`` of a call's function, or an empty string."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ".".join(reversed(parts))


def calls(path_or_text):
    text = path_or_text.read_text() if isinstance(path_or_text, Path) else path_or_text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield dotted(node.func), node


def global_randomness(source):
    for name, call in calls(source):
        keywords = {keyword.arg for keyword in call.keywords}
        last = name.split(".")[-1]
        draws = (name.startswith("torch.") and last in SAMPLING_FUNCTIONS) or last in IN_PLACE_SAMPLING
        if (
            name in GLOBAL_RANDOMNESS
            or name.startswith(("np.random.", "numpy.random."))
            or (draws and "generator" not in keywords)
        ):
            yield name, call.lineno


def unpickling(source):
    for name, call in calls(source):
        safe = ("weights_only", True) if name == "torch.load" else ("allow_pickle", False)
        refused = any(
            keyword.arg == safe[0] and isinstance(keyword.value, ast.Constant) and keyword.value.value is safe[1]
            for keyword in call.keywords
        )
        if (name in UNPICKLING and not (name.endswith("load") and refused)) or name.endswith("Unpickler"):
            yield name, call.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_no_global_randomness(path):
    assert list(global_randomness(path)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_nothing_unpickles_except_the_restricted_reader(path):
    if path != RESTRICTED_READER:
        assert list(unpickling(path)) == []


def test_the_checkers_see_what_they_look_for():
    bad = "torch.rand(3)\nx.normal_()\nnp.random.rand()\ntorch.load('f')\nnp.load('f')\n"
    bad += "torch.load('f', weights_only=False)\ntorch.load('f', allow_pickle=False)\n"
    assert [name for name, _ in global_randomness(bad)] == ["torch.rand", "x.normal_", "np.random.rand"]
    assert [name for name, _ in unpickling(bad)] == ["torch.load", "np.load", "torch.load", "torch.load"]
    good = "torch.rand(3, generator=g)\nnp.load('f', allow_pickle=False)\ntorch.load('f', weights_only=True)\n"
    assert not list(global_randomness(good))
    assert not list(unpickling(good))


MODULES = [path for path in FILES if path.name not in ("__init__.py", "__main__.py")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_every_file_has_its_mirror_among_the_unit_tests(path):
    relative = path.relative_to(SRC)
    mirror = UNIT / relative.parent / f"test_{relative.stem.lstrip('_')}.py"
    assert mirror.exists(), f"{relative} has no {mirror.relative_to(ROOT)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_every_file_opens_with_its_fact(path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring, f"{path.name} has no module docstring"
    assert docstring != "Placeholder."
