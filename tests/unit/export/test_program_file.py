"""Mirror of src/anchored/export/program_file.py: torch alone reads the file back and gives the same answers."""

import json
import warnings

import torch

from anchored.export import write_program
from anchored.export.deployed import probe
from anchored.export.program_file import FACTS


def test_torch_alone_reads_it_back(make_model, tmp_path, capfd):
    model = make_model("tiny", (1, 8, 8), "cosine")
    write_program(model, tmp_path / "m.pt2")
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["m.pt2"]
    facts = {FACTS: ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's reader warns about torch's own types
        program = torch.export.load(tmp_path / "m.pt2", extra_files=facts).module()
    for n in (1, 2, 5):
        x = probe(model, n, dtype=torch.uint8, seed=n)
        logits, probabilities = program(x)
        torch.testing.assert_close(logits, model(x))
        torch.testing.assert_close(probabilities, model.predict_proba(x))
    assert tuple(json.loads(json.loads(facts[FACTS])["class_names"])) == model.class_names
