"""Mirror of src/anchored/features/huggingface.py: small random models in local folders, if the library is there."""

import json
import sys
from types import SimpleNamespace

import pytest
import torch
from tests.unit.features.standins import Texts, shim_torchvision, some_images

from anchored import InputError
from anchored.features import get, huggingface, restore


def test_without_transformers_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match="encoder 'hf:a/b' needs transformers, which is not installed; pip install tr"):
        get("hf:a/b")
    for kind in ("text", "image"):
        config = {"model_type": "bert"}
        with pytest.raises(InputError, match="needs transformers"):
            restore({"encoder": "hf:a/b", "kind": kind, "config": config, "view": {}}, {})
        with pytest.raises(InputError, match="configuration is missing"):
            restore({"encoder": "hf:a/b", "kind": kind, "config": {}}, {})


@pytest.fixture
def transformers():
    shim_torchvision()
    return pytest.importorskip("transformers", reason="transformers is not installed")


VOCABULARY = ["[PAD]", "[UNK]", "good", "bad", "film", "book", "a"]
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 37}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture
def bert(transformers, tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")
    config = transformers.BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=64, **SMALL)
    with torch.random.fork_rng(devices=[]):
        model = transformers.BertForSequenceClassification(config).eval()
    model.save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    return tmp_path / "bert", model


TEXTS = Texts(["good film", "", "bad " * 100, "a good book 😀", "film"] * 5)


def test_texts_are_the_mean_of_hidden_states(bert):
    folder, model = bert
    encoder = get(f"hf:{folder}", precision="float32")
    out = encoder.transform(TEXTS)
    assert (encoder.kind, encoder.dim, tuple(out.shape)) == ("text", 32, (25, 32))
    with torch.no_grad():
        alone = model.bert(input_ids=torch.tensor([[2, 4]])).last_hidden_state.mean(dim=1)
    torch.testing.assert_close(out[:1], alone, rtol=1e-5, atol=1e-5)
    order = torch.tensor([8, 3, 22])
    assert torch.equal(encoder.transform(TEXTS.subset(order)), out[order])


def test_a_text_encoder_comes_back_and_takes_a_file_of_weights(bert, tmp_path):
    folder, _ = bert
    encoder = get(f"hf:{folder}", precision="float32")
    about, tensors = encoder.state()
    again = restore(json.loads(json.dumps(about)), tensors)
    assert again.digest == encoder.digest
    assert torch.equal(again.transform(TEXTS), encoder.transform(TEXTS))
    given = get(f"hf:{folder}", weights=folder / "model.safetensors", precision="float32")
    assert torch.equal(given.transform(TEXTS), encoder.transform(TEXTS))
    torch.save({"conv1.weight": torch.ones(2)}, tmp_path / "other.pth")
    with pytest.raises(InputError, match="these are not weights of hf:"):
        get(f"hf:{folder}", weights=tmp_path / "other.pth")
    with pytest.raises(InputError, match="its tokenizer is missing"):
        restore(about, {name: tensor for name, tensor in tensors.items() if name != "tokenizer"})


def _folder(transformers, kind, folder):
    with torch.random.fork_rng(devices=[]):
        if kind == "vit":
            model = transformers.ViTModel(transformers.ViTConfig(image_size=32, patch_size=8, **SMALL))
        elif kind == "convnext":
            sizes = {"hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1], "image_size": 32}
            model = transformers.ConvNextModel(transformers.ConvNextConfig(**sizes))
        else:
            text = {**SMALL, "vocab_size": 20, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
            vision = {**SMALL, "image_size": 32, "patch_size": 8}
            config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=12)
            model = transformers.CLIPModel(config)
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.5] * 3, "image_std": [0.25] * 3}))
    return model.eval()


@pytest.mark.parametrize(("kind", "dim"), [("vit", 32), ("convnext", 8), ("clip", 12)])
def test_photos(transformers, tmp_path, kind, dim):
    model = _folder(transformers, kind, tmp_path / kind)
    images = some_images(5, side=32)
    encoder = get(f"hf:{tmp_path / kind}", precision="float32").fit(images)
    out = encoder.transform(images)
    assert (encoder.kind, encoder.dim, tuple(out.shape)) == ("image", dim, (5, dim))
    shown = (images.tensor.float() / 255 - 0.5) / 0.25
    with torch.no_grad():
        if kind == "clip":
            found = model.get_image_features(pixel_values=shown)
            expected = found if isinstance(found, torch.Tensor) else found.pooler_output
        else:
            hidden = model(pixel_values=shown).last_hidden_state
            expected = hidden.flatten(2).mean(dim=2) if hidden.ndim == 4 else hidden.mean(dim=1)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)
    about, tensors = encoder.state()
    again = restore(json.loads(json.dumps(about)), tensors)
    assert again.digest == encoder.digest
    assert torch.equal(again.transform(images), out)


def test_the_normalisation_is_fetched_if_it_is_not_cached(monkeypatch, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"image_mean": [0.1, 0.2, 0.3]}))

    def cached_file(name, file, *, local_files_only):
        if local_files_only:
            raise OSError("not cached")
        return tmp_path / "p.json"

    library = SimpleNamespace(utils=SimpleNamespace(cached_file=cached_file))
    monkeypatch.setattr(huggingface, "reachable", lambda: True)
    assert huggingface._preprocessing(library, "owner/name") == {"image_mean": [0.1, 0.2, 0.3]}
    view = huggingface._view(library, "owner/name", SimpleNamespace(image_size=64), "hf:owner/name")
    assert (view.height, view.mean) == (64, pytest.approx((25.5, 51, 76.5)))
    monkeypatch.setattr(huggingface, "reachable", lambda: False)
    assert huggingface._preprocessing(library, "owner/name") == {}


def test_a_model_that_is_nowhere(transformers, monkeypatch):
    monkeypatch.setattr("anchored.features.hub.reachable", lambda: False)
    with pytest.raises(InputError, match="not in the cache, and the hub cannot be reached") as refused:
        get("hf:no-such-owner/no-such-model")
    assert "\n" not in str(refused.value)
