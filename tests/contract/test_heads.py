"""What every head promises: shapes, finite values, honest rows, saved state, every dtype, every compiler."""

import copy
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
import warnings

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load, save
from torch import nn

from anchored.heads import AnchoredConv, AnchoredHead, CosineHead, LinearHead, ScaledHead, ShiftedHead, TauNormHead
from anchored.heads._logits import unit

D, K = 12, 5


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def scaled(head, **options):
    """Factors other than one, so that a check can see them."""
    wrapped = ScaledHead(head, **options)
    with torch.no_grad():
        wrapped.factors.copy_(torch.linspace(0.5, 2.0, K))
    return wrapped


HEADS = {
    "pal": lambda seed=0: AnchoredHead(D, K, normalize=False, generator=seeded(seed)),
    "fnpal": lambda seed=0: AnchoredHead(D, K, scale=5.0, generator=seeded(seed)),
    "fnpal, nonnegative": lambda seed=0: AnchoredHead(D, K, features="nonnegative", generator=seeded(seed)),
    "fnpal, k > d + 1": lambda seed=0: AnchoredHead(3, K, generator=seeded(seed)),
    "cosine": lambda seed=0: CosineHead(D, K, scale=30.0, generator=seeded(seed)),
    "linear": lambda seed=0: LinearHead(D, K, generator=seeded(seed)),
    "linear, no bias": lambda seed=0: LinearHead(D, K, bias=False, generator=seeded(seed)),
    "lws": lambda seed=0: scaled(LinearHead(D, K, generator=seeded(seed))),
    "mislas": lambda seed=0: scaled(LinearHead(D, K, generator=seeded(seed)), train_head=True),
    "lws on fnpal": lambda seed=0: scaled(AnchoredHead(D, K, scale=5.0, generator=seeded(seed))),
    "shifted": lambda seed=0: ShiftedHead(LinearHead(D, K, generator=seeded(seed)), torch.linspace(-1, 2, K)),
    "shifted fnpal": lambda seed=0: ShiftedHead(AnchoredHead(D, K, generator=seeded(seed)), torch.linspace(-1, 2, K)),
    "tau norm": lambda seed=0: TauNormHead(LinearHead(D, K, generator=seeded(seed)), tau=0.7),
    "tau norm of cosine": lambda seed=0: TauNormHead(CosineHead(D, K, generator=seeded(seed)), tau=0.7),
}
FIXED = {
    *("pal", "fnpal", "fnpal, nonnegative", "fnpal, k > d + 1"),
    *("shifted", "shifted fnpal", "tau norm", "tau norm of cosine"),
}
PRECISE = set(HEADS) - {
    "linear",
    "linear, no bias",
    "lws",
    "mislas",
    "shifted",
}  # the others do what torch's Linear does


@pytest.fixture(params=HEADS, ids=str)
def name(request):
    return request.param


@pytest.fixture
def head(name):
    return HEADS[name]()


@pytest.fixture
def z(head):
    return 2 * torch.randn(7, head.in_features, generator=seeded(1))


def test_sizes_are_those_of_a_linear_layer(head):
    assert head.in_features in (D, 3)
    assert head.out_features == head.num_classes == K
    assert f"num_classes={K}" in repr(head)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (7,), (2, 3), (2, 3, 4)])
def test_any_leading_shape_is_kept(head, shape):
    assert head(torch.ones(*shape, head.in_features)).shape == (*shape, K)


def test_leading_axes_do_not_mix(head, z):
    torch.testing.assert_close(head(z.reshape(1, 7, -1))[0, 3], head(z[3]))


def test_rows_and_offset_say_what_the_logits_are(head, z):
    x = F.normalize(z, dim=-1) if head.normalize else z
    expected = torch.einsum("nd,kd->nk", x, head.rows())
    if head.offset() is not None:
        expected = expected + head.offset()
    assert head.rows().shape == (K, head.in_features)
    torch.testing.assert_close(head(z), expected)


def test_normalize_is_declared_truly(head, z):
    unchanged = torch.allclose(head(z), head(100 * z), atol=1e-4)
    assert unchanged == head.normalize


@pytest.mark.parametrize("which", ["fnpal", "pal", "cosine"])
def test_the_scale_multiplies_the_logits(which):
    head, z = HEADS[which](), torch.randn(7, D, generator=seeded(1))
    before = head(z)
    head.scale = 2 * head.scale
    torch.testing.assert_close(head(z), 2 * before)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_zero_features_give_finite_logits_and_gradients(head, dtype):
    head.to(dtype)
    zero = torch.zeros(3, head.in_features, dtype=dtype, requires_grad=True)
    logits = head(zero)
    F.cross_entropy(logits.float(), torch.tensor([0, 1, 2])).backward()
    assert torch.isfinite(logits).all()
    assert torch.isfinite(zero.grad).all()
    assert all(torch.isfinite(p.grad).all() for p in head.parameters() if p.grad is not None)


def test_gradients_reach_the_features(head, z):
    z.requires_grad_()
    F.cross_entropy(head(z), torch.arange(7) % K).backward()
    assert (z.grad.abs().amax(dim=1) > 0).all()


def test_gradients_are_those_of_finite_differences(head, z):
    head.double()
    assert torch.autograd.gradcheck(head, (z[:2].double().requires_grad_(),))
    free = {key: p for key, p in head.named_parameters() if p.requires_grad}

    def of_parameters(*values):
        return torch.func.functional_call(head, dict(zip(free, values, strict=True)), (z[:2].double(),))

    if free:
        assert torch.autograd.gradcheck(of_parameters, tuple(free.values()))


def test_nan_features_are_not_hidden(head, z):
    z[2, 0] = torch.nan
    logits = head(z)
    assert logits[2].isnan().all()
    assert torch.isfinite(logits[[0, 1, 3]]).all()


def test_only_declared_heads_have_something_to_train(name, head):
    trainable = [p for p in head.parameters() if p.requires_grad]
    assert (trainable == []) == (name in FIXED)


def test_the_same_generator_gives_the_same_head(name):
    one, same, other = HEADS[name](1), HEADS[name](1), HEADS[name](2)
    assert torch.equal(one.rows(), same.rows())
    assert not torch.equal(one.rows(), other.rows())


def test_state_moves_to_another_head(name, z):
    source, target = HEADS[name](1), HEADS[name](2)
    assert not torch.equal(source(z), target(z))
    target.load_state_dict(source.state_dict(), strict=True)
    assert torch.equal(source(z), target(z))


def test_state_survives_safetensors(name, z):
    source, target = HEADS[name](1), HEADS[name](2)
    target.load_state_dict(load(save(source.state_dict())))
    assert torch.equal(source(z), target(z))


def test_a_deep_copy_shares_nothing(head, z):
    twin = copy.deepcopy(head)
    assert torch.equal(twin(z), head(z))
    before = head(z).clone()
    for tensor in twin.state_dict().values():
        tensor.zero_()
    assert torch.equal(head(z), before)


def test_can_be_sent_to_a_worker_process(head):
    assert type(head).__name__.encode() in pickle.dumps(head)


def test_every_floating_tensor_follows_to(head):
    head.to(torch.float64)
    floats = [tensor for tensor in head.state_dict().values() if tensor.is_floating_point()]
    assert {tensor.dtype for tensor in floats} == {torch.float64}
    assert head(torch.ones(2, head.in_features, dtype=torch.float64)).dtype == torch.float64
    head.to("meta")
    assert head(torch.ones(2, head.in_features, dtype=torch.float64, device="meta")).shape == (2, K)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_close(head, z, dtype):
    exact = head(z)
    found = head.to(dtype)(z.to(dtype))
    assert found.dtype == dtype
    assert (found - exact).abs().max() <= 8 * torch.finfo(dtype).eps * exact.abs().max()


def test_autocast_loses_nothing_where_the_head_is_precise(name, head, z):
    exact = head(z)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = head(z)
    if name in PRECISE:
        assert torch.equal(found, exact)
    else:
        assert (found - exact).abs().max() <= 8 * torch.finfo(torch.bfloat16).eps * exact.abs().max()


def test_autocast_trains(head, z):
    body = nn.Linear(head.in_features, head.in_features)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        features = body(z)
        loss = F.cross_entropy(head(features), torch.arange(7) % K)
    assert features.dtype == torch.bfloat16
    loss.backward()
    assert body.weight.grad.abs().max() > 0


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiles_into_one_graph(head, z, backend):
    torch.compiler.reset()
    compiled = torch.compile(head, fullgraph=True, backend=backend)
    torch.testing.assert_close(compiled(z), head(z))
    ours, theirs = (each.clone().requires_grad_() for each in (z, z))
    compiled(ours).logsumexp(dim=1).sum().backward()
    head(theirs).logsumexp(dim=1).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_compiles_under_autocast(name, head, z):
    torch.compiler.reset()
    compiled = torch.compile(head, fullgraph=True, backend="aot_eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(compiled(z), head(z))


def test_runs_under_vmap(head, z):
    torch.testing.assert_close(torch.vmap(head)(z), head(z))


def test_exports_to_a_graph_without_contexts(head, z):
    program = torch.export.export(head, (z,), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.testing.assert_close(program.module()(z[:3]), head(z[:3]))
    assert all(node.op != "get_attr" or "submod" not in str(node.target) for node in program.graph.nodes)


ONE_RANK = """
    import os, torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from anchored.heads import AnchoredHead, CosineHead, LinearHead
    from anchored.heads import NearestMeanHead, ScaledHead, ShiftedHead, TauNormHead

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    linear = LinearHead(6, 4)
    z, y = torch.randn(7, 6, generator=torch.Generator().manual_seed(0)), torch.arange(7) % 4
    for head in (AnchoredHead(6, 4), AnchoredHead(6, 4, normalize=False), CosineHead(6, 4), linear, ScaledHead(linear),
                 TauNormHead(linear), ShiftedHead(linear, torch.ones(4)), NearestMeanHead.from_features(z, y, 4)):
        model = nn.Sequential(nn.Linear(6, 6), head)
        before = {key: value.clone() for key, value in head.named_buffers()}
        nn.functional.cross_entropy(DistributedDataParallel(model)(z), y).backward()
        assert model[0].weight.grad.abs().max() > 0, head
        assert all(torch.equal(value, before[key]) for key, value in head.named_buffers()), head
    os._exit(0)  # the group's threads may wait for the interpreter, and the interpreter for them
"""


def test_every_head_takes_a_data_parallel_step_with_its_buffers_untouched():
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, "-c", textwrap.dedent(ONE_RANK)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


TWO_RANKS = """
    import sys, torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from anchored.heads import AnchoredHead

    rank, where = int(sys.argv[1]), sys.argv[2]
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{where}", rank=rank, world_size=2)
    draw = torch.Generator().manual_seed(rank)                  # each rank starts from prototypes of its own
    head = AnchoredHead(6, 4, scale=5.0, generator=draw)
    own = head.prototypes.clone()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 6), head))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        x, y = torch.randn(8, 6, generator=draw), torch.randint(4, (8,), generator=draw)
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimiser.step()
    everything = torch.cat([t.flatten() for t in model.state_dict().values()])
    gathered = [torch.empty_like(everything) for _ in range(2)]
    torch.distributed.all_gather(gathered, everything)
    assert torch.equal(*gathered), "ranks differ"
    assert torch.equal(head.prototypes, own) == (rank == 0), "prototypes must be those of rank 0"
    torch.distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_two_ranks_agree_on_the_prototypes_of_the_first(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(TWO_RANKS)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "store")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        outputs = [rank.communicate(timeout=120)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0, 0], outputs


def through_onnx(head, example, inputs):
    """Logits of onnxruntime for ``inputs``, exported with another batch size."""
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own deprecations are not ours
        program = torch.onnx.export(
            head.eval(), (example,), dynamo=True, dynamic_shapes=({0: torch.export.Dim("n")},), verbose=False
        )
        session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    (answer,) = session.run(None, {session.get_inputs()[0].name: inputs.numpy()})
    return torch.from_numpy(answer)


@pytest.mark.slow
def test_onnx_gives_the_same_logits(head, z):
    z[0] = 0
    with torch.no_grad():
        torch.testing.assert_close(through_onnx(head, z[:3], z), head(z), atol=1e-5, rtol=1e-5)


@pytest.mark.slow
def test_onnx_gives_the_same_maps():
    head, maps = AnchoredConv(D, K, scale=5.0), torch.randn(4, D, 3, 3, generator=seeded(1))
    with torch.no_grad():
        torch.testing.assert_close(through_onnx(head, maps[:2], maps), head(maps), atol=1e-5, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's compiler uses parts of torch that it deprecates
@pytest.mark.skipif(shutil.which("c++") is None, reason="the default backend needs a C++ compiler")
def test_compiles_with_the_default_backend():
    torch.compiler.reset()
    head, z = AnchoredHead(D, K, scale=5.0), torch.randn(7, D, generator=seeded(1))
    torch.testing.assert_close(torch.compile(head, fullgraph=True)(z), head(z))


def test_unit_rows_are_the_reference_for_cosine_heads():
    head = CosineHead(D, K, scale=30.0)
    torch.testing.assert_close(head.rows() / 30.0, unit(head.weight))
