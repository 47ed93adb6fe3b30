"""Check an installation without ``anchored[app]``: the library works, and the command says what is missing."""

import subprocess
import sys
from importlib.util import find_spec

from sklearn.datasets import load_iris

from anchored import AnchoredRidge

installed = [name for name in ("typer", "rich", "matplotlib") if find_spec(name)]
if installed:
    sys.exit(f"this is no light installation: {', '.join(installed)} came with it")
X, y = load_iris(return_X_y=True)
if AnchoredRidge().fit(X, y).score(X, y) < 0.8:
    sys.exit("the estimator does not work")
done = subprocess.run([sys.executable, "-m", "anchored", "--help"], capture_output=True, text=True, check=False)
if done.returncode != 2 or "anchored[app]" not in done.stderr:
    sys.exit(f"the command says {done.stderr!r}")
print("light, and it works")
