"""Mirror of src/anchored/backbones/fork.py: trunk and branch together are the network; where each network is cut."""

import pytest
import torch
from torch import nn

from anchored import InputError, backbones
from anchored.backbones import MLP, BasicBlock, ConvNet, Fork, wrap

SHAPES = {
    "cnn4": (1, 8, 8), "cnn8": (3, 16, 16), "mlp": (7,), "resnet10": (3, 32, 32), "resnet32": (3, 8, 8),
    "tiny": (2, 5, 3),
}  # fmt: skip


def networks(name, count=2, shape=None, **options):
    shape = SHAPES[name] if shape is None else shape
    return [
        backbones.get(name, shape, generator=torch.Generator().manual_seed(i), **options).eval() for i in range(count)
    ]


def parameters(module):
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("last_relu", [True, False])
@pytest.mark.parametrize("cut", ["early", "last"])
@pytest.mark.parametrize("name", SHAPES)
def test_the_trunk_and_its_own_branch_are_the_network_bit_for_bit(name, cut, last_relu):
    first, second = networks(name, last_relu=last_relu)
    inputs = torch.randn(3, *SHAPES[name], generator=torch.Generator().manual_seed(5))
    expected = first(inputs)
    fork = Fork([first, second], cut)
    own, other = fork(inputs)
    assert torch.equal(own, expected)
    assert not torch.equal(other, expected)
    assert (fork.feature_dim, fork.signed_features) == (first.feature_dim, not last_relu)


@pytest.mark.parametrize("cut", ["early", "last"])
@pytest.mark.parametrize("name", SHAPES)
def test_branches_do_not_disturb_each_other_on_the_way_back(name, cut):
    """The gradient of the trunk is the sum of what each branch, alone with it, sends back."""
    fork = Fork([network.train().double() for network in networks(name, 3)], cut)
    inputs = torch.randn(4, *SHAPES[name], generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    shared = list(fork.trunk.parameters())
    whole = torch.autograd.grad(sum(features.square().sum() for features in fork(inputs)), shared)
    alone = [torch.autograd.grad(branch(fork.trunk(inputs)).square().sum(), shared) for branch in fork.branches]
    for together, *parts in zip(whole, *alone, strict=True):
        torch.testing.assert_close(together, sum(parts), rtol=1e-8, atol=1e-9)


def test_experts_of_a_convolutional_network_share_its_first_block():
    widths = [
        [part.out_channels for part in half.modules() if isinstance(part, nn.Conv2d)]
        for half in (lambda fork: (fork.trunk, *fork.branches))(Fork(networks("cnn8"), "early"))
    ]
    assert widths == [[64, 64, 128, 128], [196, 196], [196, 196]]
    fork = Fork(networks("cnn4"), "early")
    assert [part.out_channels for part in fork.trunk.modules() if isinstance(part, nn.Conv2d)] == [32]
    assert type(list(fork.trunk.modules())[-1]) is nn.ReLU


@pytest.mark.parametrize("name", SHAPES)
def test_every_network_of_ours_has_something_to_share(name):
    for cut in ("early", "last"):
        fork = Fork(networks(name), cut)
        assert parameters(fork.trunk) > 0
        assert all(parameters(branch) > 0 for branch in fork.branches)


def test_bilateral_resnet32_has_fourteen_shared_blocks_and_two_last_ones():
    fork = Fork(networks("resnet32"), "last")
    blocks = [
        [part for part in half.modules() if isinstance(part, BasicBlock)] for half in (fork.trunk, *fork.branches)
    ]
    assert [len(half) for half in blocks] == [14, 1, 1]
    assert parameters(fork) == 463_504 + 2 * (
        64 * 64 * 9 + 2 * 64
    )  # the second last block: two convolutions, two norms


def test_experts_of_resnet32_share_the_stem_and_the_first_stage():
    fork = Fork(networks("resnet32", 3, widths=(16, 24, 48)), "early")
    widths = [part.conv2.out_channels for part in fork.trunk.modules() if isinstance(part, BasicBlock)]
    assert widths == [16] * 5
    for branch in fork.branches:
        own = [part.conv2.out_channels for part in branch.modules() if isinstance(part, BasicBlock)]
        assert own == [24] * 5 + [48] * 5
    assert fork.feature_dim == 48


def test_experts_of_four_stages_have_the_last_two_to_themselves():
    fork = Fork(networks("resnet10"), "early")
    assert [part.conv2.out_channels for part in fork.trunk.modules() if isinstance(part, BasicBlock)] == [64, 128]


def test_a_wrapped_module_shares_nothing():
    module = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
    twins = [wrap(module, (4,)), wrap(nn.Sequential(nn.Linear(4, 6), nn.ReLU()), (4,))]
    for cut in ("early", "last"):
        fork = Fork(twins, cut)
        assert parameters(fork.trunk) == 0
        inputs = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))
        assert torch.equal(fork(inputs)[0], module(inputs))


def test_a_network_of_one_layer_shares_nothing():
    for cut in ("early", "last"):
        assert parameters(Fork([MLP((4,), hidden=(3,)), MLP((4,), hidden=(3,))], cut).trunk) == 0


def test_a_subclass_is_not_taken_apart():
    class Doubled(ConvNet):
        def forward(self, inputs):
            return 2 * super().forward(inputs)

    nets = [Doubled((1, 8, 8), blocks=((4,),), hidden=5).eval() for _ in range(2)]
    inputs = torch.randn(2, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(Fork(nets, "last")(inputs)[1], nets[1](inputs))


def test_the_trunk_learns_from_every_branch():
    fork = Fork(networks("mlp", 3), "last")
    inputs = torch.randn(4, 7, generator=torch.Generator().manual_seed(0))
    weight = fork.trunk[0][1][0].weight
    each = [torch.autograd.grad(features.sum(), weight, retain_graph=True)[0] for features in fork(inputs)]
    together = torch.autograd.grad(sum(features.sum() for features in fork(inputs)), weight)[0]
    torch.testing.assert_close(together, each[0] + each[1] + each[2])


def test_networks_of_different_kinds_are_refused():
    with pytest.raises(InputError, match="of the same kind, got MLP, Tiny"):
        Fork([MLP((7,)), backbones.get("tiny", (7,))], "last")
    with pytest.raises(InputError, match="got none"):
        Fork([], "last")


def test_an_unknown_cut_is_refused():
    with pytest.raises(InputError, match="cut must be 'early' or 'last', got 'middle'"):
        Fork(networks("tiny"), "middle")
