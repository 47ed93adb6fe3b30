"""Mirror of src/anchored/features/sentence_transformers.py: with a stand-in, and with the library if it is there."""

import json
import sys
import types
from pathlib import Path

import pytest
import torch
from tests.unit.features.standins import Texts, shim_torchvision, some_texts

from anchored import InputError
from anchored.features import get, restore

NAME = "sentence-transformers:owner/model"
MODULES = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]


class Letters:
    """Counts three letters; its factor is what the folder says."""

    def __init__(self, name, *, device, local_files_only, trust_remote_code):
        assert not trust_remote_code
        folder = Path(name)
        if not folder.is_dir() and local_files_only:
            raise OSError("not cached")
        self.factor = json.loads((folder / "config.json").read_text())["factor"] if folder.is_dir() else 2

    def eval(self):
        return self

    def encode(self, texts, *, batch_size, convert_to_tensor, show_progress_bar):
        assert convert_to_tensor
        return torch.tensor([[self.factor * text.count(letter) for letter in "aeo"] for text in texts])

    def save(self, folder, *, create_model_card):
        Path(folder, "modules.json").write_text(json.dumps(MODULES))
        Path(folder, "config.json").write_text(json.dumps({"factor": self.factor}))


@pytest.fixture
def stand_in(monkeypatch):
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = Letters
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr("anchored.features.hub.reachable", lambda: True)


@pytest.mark.usefixtures("stand_in")
def test_encodes_and_comes_back():
    encoder = get(NAME)
    out = encoder.transform(Texts(["good", "", "banana \ud800"]))
    assert out.tolist() == [[0, 0, 4], [0, 0, 0], [6, 0, 0]]
    assert (encoder.dim, out.dtype, encoder.kind) == (3, torch.float32, "text")
    again = restore(*encoder.state())
    assert (again.name, again.digest) == (NAME, encoder.digest)
    assert torch.equal(again.transform(some_texts(20)), encoder.transform(some_texts(20)))


@pytest.mark.usefixtures("stand_in")
def test_code_of_others_is_not_loaded():
    about, tensors = get(NAME).state()
    foreign = [{**MODULES[0], "type": "os.system"}]
    changed = torch.frombuffer(bytearray(json.dumps(foreign).encode()), dtype=torch.uint8)
    with pytest.raises(InputError, match=r"asks for 'os.system', which is not loaded"):
        restore(about, {**tensors, "file:modules.json": changed})
    with pytest.raises(InputError, match=r"modules.json is missing or damaged"):
        restore(about, {"file:config.json": tensors["file:config.json"]})


@pytest.mark.usefixtures("stand_in")
def test_without_a_connection_there_is_one_line(monkeypatch):
    monkeypatch.setattr("anchored.features.hub.reachable", lambda: False)
    with pytest.raises(InputError, match="not in the cache, and the hub cannot be reached"):
        get(NAME)


def test_without_the_library_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(
        InputError, match="needs sentence_transformers, which is not installed; pip install sentence-tr"
    ):
        get(NAME)


@pytest.mark.filterwarnings("ignore")
def test_the_library_itself(tmp_path):
    shim_torchvision()
    library = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    transformers = pytest.importorskip("transformers")
    from sentence_transformers.models import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, "good": 2, "film": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", model_max_length=64
    ).save_pretrained(tmp_path / "bert")
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    with torch.random.fork_rng(devices=[]):
        transformers.BertModel(
            transformers.BertConfig(vocab_size=4, max_position_embeddings=64, **small)
        ).save_pretrained(tmp_path / "bert")
    model = library.SentenceTransformer(modules=[Transformer(str(tmp_path / "bert")), Pooling(16)], device="cpu")
    model.save(str(tmp_path / "st"))
    texts = some_texts(10)
    encoder = get(f"sentence-transformers:{tmp_path / 'st'}")
    out = encoder.transform(texts)
    torch.testing.assert_close(out, model.encode(list(texts.texts), convert_to_tensor=True), rtol=1e-4, atol=1e-5)
    again = restore(*encoder.state())
    assert again.digest == encoder.digest
    assert torch.equal(again.transform(texts), out)
