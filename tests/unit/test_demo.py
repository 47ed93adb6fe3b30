"""Mirror of src/anchored/demo.py: both methods on the same data, a new folder each time, one small table."""

import pytest
import torch

from anchored import demo as module
from anchored.runs import RunFolder


@pytest.fixture
def short(monkeypatch):
    whole, threads = module.demo, torch.get_num_threads()
    monkeypatch.setattr(module, "demo", lambda folder: whole(folder, epochs=1))
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("short")
def test_prints_the_table_and_leaves_the_runs_and_can_be_run_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    module.main()
    printed = capsys.readouterr().out
    for piece in ("right", "ECE", "gamma_min", "ce+fnpal", "anchoring gained", "demo-run/1/ce+fnpal/report.html"):
        assert piece in printed
    assert (tmp_path / "demo-run" / "1" / "ce+fnpal" / "report.html").is_file()
    configs = [RunFolder.open(tmp_path / "demo-run" / "1" / method).read_config() for method in module.METHODS]
    assert configs[0].data == configs[1].data
    assert configs[0].data.corrupt == ("symmetric=0.4",)
    assert configs[0].train == configs[1].train


def test_the_next_folder_is_the_first_free_number(tmp_path):
    root = tmp_path / "demo-run"
    assert module.next_folder(root) == root / "1"
    for name in ("1", "7", "notes"):
        (root / name).mkdir(parents=True)
    assert module.next_folder(root) == root / "8"
