"""Mirror of src/anchored/heads/_settings.py: a state dict says all that decides logits, whatever happens to it."""

import copy
import io
import pickle
import warnings

import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from anchored._errors import InputError
from anchored.heads import AnchoredHead, CosineHead, LinearHead, ShiftedHead, TauNormHead, complete_settings

Z = torch.randn(6, 12, generator=torch.Generator().manual_seed(0))


def anchored(**options):
    return AnchoredHead(12, 5, **{"scale": 10.0, "normalize": False, "features": "nonnegative", **options})


def test_loading_restores_scale_normalize_and_features():
    source, target = anchored(), AnchoredHead(12, 5)
    assert target.load_state_dict(source.state_dict()).missing_keys == []
    assert (target.scale, target.normalize, target.features) == (10.0, False, "nonnegative")
    assert torch.equal(target(Z), source(Z))
    assert torch.equal(target.rows(), source.rows())


def test_loading_restores_the_scale_of_a_cosine_head_and_the_lengths_of_tau_norm():
    cosine = CosineHead(12, 5)
    cosine.load_state_dict(CosineHead(12, 5, scale=30.0).state_dict())
    assert cosine.scale == 30.0
    tau = TauNormHead(LinearHead(12, 5))
    tau.load_state_dict(TauNormHead(CosineHead(12, 5)).state_dict())
    assert tau.normalize is True
    shifted = ShiftedHead(AnchoredHead(12, 5), torch.zeros(5))
    shifted.load_state_dict(ShiftedHead(anchored(), torch.zeros(5)).state_dict())
    assert shifted.normalize is False


def through_torch(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pytest.mark.parametrize("way", [lambda state: load(save(state)), through_torch], ids=["safetensors", "torch.save"])
def test_they_survive_files(way):
    target = AnchoredHead(12, 5)
    target.load_state_dict(way(anchored().state_dict()))
    assert torch.equal(target(Z), anchored()(Z))


def test_a_loader_that_only_writes_tensors_is_enough():
    """As Hugging Face and accelerate do: no load_state_dict, buffers are put in place one by one."""
    source, target = anchored(scale=0.3), AnchoredHead(12, 5)
    for name, value in source.named_buffers():
        target._buffers[name] = value.clone()
    assert (target.scale, target.normalize, target.features) == (0.3, False, "nonnegative")
    assert torch.equal(target(Z), source(Z))
    assert target.double().scale == 0.3


def test_a_functional_call_takes_them_from_the_given_state():
    source, target = anchored(), AnchoredHead(12, 5)
    assert torch.equal(torch.func.functional_call(target, source.state_dict(), (Z,)), source(Z))


@pytest.mark.parametrize("scale", [1 / 3, 0.3, 30.0, 0.25 / 0.57, 1e-3, 12345.678])
def test_the_scale_is_read_as_it_was_given_through_every_dtype(scale):
    head = AnchoredHead(12, 5, scale=scale)
    assert head.scale == scale
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.float32, torch.float64):
        head.to(dtype)
        assert head.scale == scale
        assert head.saved_scale.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert head.saved_scale.item() == scale


def test_a_scale_of_a_file_is_the_shortest_decimal_that_it_can_be():
    target = AnchoredHead(12, 5).double()
    target.load_state_dict(AnchoredHead(12, 5, scale=0.3).state_dict())
    assert target.scale == pytest.approx(0.3, rel=1e-7)
    single = AnchoredHead(12, 5)
    single.load_state_dict(AnchoredHead(12, 5, scale=0.3).state_dict())
    assert single.scale == 0.3


def test_logits_are_those_of_the_formula_to_the_last_bit():
    """The scale as a tensor gives the bits that it gave as a number, so results of 0.1.0 repeat."""
    for dtype in (torch.float32, torch.float64):
        for normalize in (True, False):
            head = AnchoredHead(12, 5, scale=1 / 3, normalize=normalize).to(dtype)
            z = Z.to(dtype).requires_grad_()
            lengths = torch.linalg.vector_norm(z, dim=-1, keepdim=True).clamp_min(1e-6)
            expected = (1 / 3) * nn.functional.linear(z / lengths if normalize else z, head.prototypes)
            ours, theirs = (torch.autograd.grad(logits.square().sum(), z)[0] for logits in (head(z), expected))
            assert torch.equal(head(z), expected)
            assert torch.equal(ours, theirs)


def test_the_meta_device_keeps_what_was_set():
    head = anchored(scale=0.7).to("meta")
    assert head.scale == 0.7
    empty = head.to_empty(device="cpu")
    assert (empty.scale, empty.normalize, empty.saved_scale.item()) == (0.7, False, pytest.approx(0.7))


def test_an_assignment_stays_in_the_same_tensor():
    head = anchored()
    kept = head.saved_scale
    head.scale = 2.5
    assert head.saved_scale is kept
    assert kept.item() == 2.5
    with pytest.raises(InputError, match="scale must lie in"):
        head.scale = -1.0
    assert head.scale == 2.5


def test_shared_memory_stays_shared():
    assert anchored().share_memory().saved_scale.is_shared()


def test_copies_have_their_own_scale():
    head = anchored()
    twin, sent = copy.deepcopy(head), pickle.loads(pickle.dumps(head))
    head.scale = 3.0
    assert (twin.scale, sent.scale) == (10.0, 10.0)


# Files of version 0.1.0


def old(head):
    return {name: value for name, value in head.state_dict().items() if "saved_" not in name}


def test_an_old_file_loads_with_a_warning_that_says_what_is_assumed():
    model = nn.Sequential(nn.Linear(4, 12), AnchoredHead(12, 5, scale=5.0))
    with pytest.warns(UserWarning, match=r"AnchoredHead '1': .* nothing about scale=5\.0 and normalize=True") as caught:
        model.load_state_dict(old(model), strict=True)
    assert len(caught) == 1
    assert model[1].scale == 5.0


def test_a_state_without_the_head_is_missing_all_of_it():
    model = nn.Sequential(nn.Linear(4, 12), anchored())
    body = {name: value for name, value in model.state_dict().items() if name.startswith("0.")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        missing = model.load_state_dict(body, strict=False).missing_keys
    assert missing == ["1.prototypes", "1.saved_scale", "1.saved_normalize", "1.saved_features"]


def test_who_knows_the_settings_completes_the_file_and_nothing_is_assumed():
    model = nn.Sequential(nn.Linear(4, 12), anchored())
    completed = complete_settings(old(model), model)
    assert completed.keys() == model.state_dict().keys()
    model.load_state_dict(completed)
    assert "1.saved_scale" not in complete_settings({"0.weight": model[0].weight}, model)
    other = AnchoredHead(12, 5, scale=2.0)
    assert complete_settings(other.state_dict(), anchored())["saved_scale"].item() == 2.0


def test_an_old_pickle_is_read():
    head = anchored()
    state = {**head.__dict__, "scale": 4.0, "normalize": True}
    state["_buffers"] = {"prototypes": head.prototypes}
    for name in ("_exact_scale", "_exact_normalize", "_exact_features", "watch", "sign_known_by"):
        state.pop(name)
    revived = AnchoredHead.__new__(AnchoredHead)
    revived.__setstate__(state)
    assert (revived.scale, revived.normalize, revived.features, revived.watch) == (4.0, True, "given", None)
    torch.testing.assert_close(revived(Z), AnchoredHead(12, 5, scale=4.0, prototypes=head.prototypes)(Z))
