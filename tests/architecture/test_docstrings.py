"""Public docstrings say what a caller needs: arguments, returned values, examples, formulas, in plain English."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "anchored"
MATHEMATICS = ("losses", "metrics", "prototypes", "heads")
_SAID_BY_TYPE = {"None", "bool", "str", "int", "float", "Self", "Path"}


def public_functions(folder=SRC):
    """Yield ``(place, node, class docstring)`` of every public function and public method."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{path.relative_to(SRC)}:{node.lineno} {node.name}", node, ""
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                about = ast.get_docstring(node) or ""
                for item in node.body:
                    if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
                        yield f"{path.relative_to(SRC)}:{item.lineno} {node.name}.{item.name}", item, about


def arguments(node):
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def is_property_like(node):
    return any("property" in ast.unparse(d) or "setter" in ast.unparse(d) for d in node.decorator_list)


def is_overload(node):
    return any("overload" in ast.unparse(d) for d in node.decorator_list)


def with_several_arguments(folder=SRC):
    return [
        (place, node, ast.get_docstring(node) or "", about)
        for place, node, about in public_functions(folder)
        if len(arguments(node)) >= 2 and not is_overload(node)
    ]


def needs_returns(node):
    """Whether the return type leaves something to say: anything but nothing, a flag, a name, the object itself."""
    return node.returns is not None and ast.unparse(node.returns).strip("'\"") not in _SAID_BY_TYPE


def shares(folder=SRC):
    """Of public functions with two or more arguments: shares with Args, Returns (if the type is silent), a doctest."""
    found = Counter()
    for _, node, text, _ in with_several_arguments(folder):
        found["functions"] += 1
        found["args"] += "Args:" in text
        found["examples"] += ">>>" in text
        if needs_returns(node):
            found["returning"] += 1
            found["returns"] += "Returns:" in text or "Yields:" in text
    n = max(found["functions"], 1)
    return {
        "functions": found["functions"],
        "args": found["args"] / n,
        "returns": found["returns"] / max(found["returning"], 1),
        "examples": found["examples"] / n,
    }


def test_public_functions_with_several_arguments_explain_them():
    found = shares()
    assert found["functions"] > 200
    assert found["args"] >= 0.75
    assert found["returns"] >= 0.55
    assert found["examples"] >= 0.45


def test_no_entry_is_a_fragment_that_begins_with_of():
    wrong = [
        f"{path.relative_to(SRC)}:{number}: {line.strip()}"
        for path in sorted(SRC.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.match(r"\s+[a-z_]+: Of ", line)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", MATHEMATICS)
def test_a_formula_stands_where_it_is_computed(package):
    """In the packages of mathematics, most public classes and functions carry their own formula."""
    carriers = 0
    total = 0
    for path in sorted((SRC / package).glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                text = ast.get_docstring(node) or ""
                for item in getattr(node, "body", []):
                    if isinstance(node, ast.ClassDef) and isinstance(item, ast.FunctionDef):
                        text += ast.get_docstring(item) or ""
                total += 1
                carriers += bool(re.search(r":math:|\.\. math::|``[^`]*[=<≤·‖Σ√][^`]*``", text))
    assert total
    assert carriers / total >= 0.5, f"{package}: {carriers} of {total}"


if __name__ == "__main__":
    for name in ["", *sorted(p.name for p in SRC.iterdir() if p.is_dir())]:
        print(f"{name or 'all':12s}", {k: round(v, 2) for k, v in shares(SRC / name).items()})
