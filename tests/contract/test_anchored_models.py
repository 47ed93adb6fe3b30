"""What torch does to whole models works on anchored ones: tracing, scripts, compiling, export, quantising, sharding."""

import copy
import os
import subprocess
import sys
import textwrap
import warnings

import pytest
import torch
from safetensors.torch import load_model, save_model
from torch import nn
from torch.optim.swa_utils import AveragedModel

from anchored.heads import AnchoredConv, AnchoredHead, CosineHead, anchor_

K = 5


class Photos(nn.Module):
    """A convolution and a classifier, with a forward method written by hand; torchao wants a ReLU in one place only."""

    def __init__(self):
        super().__init__()
        self.stem, self.first = nn.Conv2d(3, 12, 3), nn.ReLU()
        self.hidden, self.second, self.fc = nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, K)

    def forward(self, x):
        pooled = self.first(self.stem(x)).mean(dim=(2, 3))
        return self.fc(self.second(self.hidden(pooled)))


def photos(**options):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return anchor_(Photos(), K, **{"scale": 5.0, **options})


MODELS = {
    "sign assumed": photos,
    "sign measured": lambda: photos(example=BATCH),
    "PAL": lambda: photos(normalize=False),
    "maps": lambda: anchor_(nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, K, 1)), K, scale=5.0),
    "cosine": lambda: nn.Sequential(nn.Flatten(), nn.Linear(192, 8), CosineHead(8, K, scale=30.0)),
}
BATCH = torch.randn(16, 3, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    return MODELS[request.param]().eval()


def expected(model):
    """Logits with the values that the model has now: nothing is measured on the way."""
    twin = copy.deepcopy(model)
    for module in twin.modules():
        if isinstance(module, AnchoredHead):
            module.watch = None
    with torch.no_grad():
        return twin(BATCH)


def test_fx_traces_it(model):
    wanted = expected(model)
    torch.testing.assert_close(torch.fx.symbolic_trace(model)(BATCH), wanted)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_jit_scripts_it_and_the_file_gives_the_same_logits(model, tmp_path):
    wanted = expected(model)
    torch.jit.script(model).save(tmp_path / "model.pt")
    torch.testing.assert_close(torch.jit.load(tmp_path / "model.pt")(BATCH), wanted)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_scripted_heads_keep_the_precision_of_the_eager_ones(dtype):
    head, z = AnchoredHead(12, K, scale=30.0).to(dtype), torch.randn(7, 12, generator=torch.Generator().manual_seed(1))
    z[0] = 0
    found = torch.jit.script(head)(z.to(dtype))
    assert found.dtype == dtype
    torch.testing.assert_close(found, head(z.to(dtype)), rtol=0, atol=0)


def test_compiles_into_one_graph_with_its_gradient(model):
    torch.compiler.reset()
    wanted = expected(model)
    found = torch.compile(model, fullgraph=True, backend="aot_eager")(BATCH)
    torch.testing.assert_close(found, wanted)
    found.square().sum().backward()


def test_exports_with_a_free_batch_size(model):
    wanted = expected(model)
    program = torch.export.export(model, (BATCH[:4],), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.testing.assert_close(program.module()(BATCH), wanted)


@pytest.mark.slow
def test_onnx_gives_the_same_logits(model):
    onnxruntime = pytest.importorskip("onnxruntime")
    wanted = expected(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own deprecations are not ours
        shapes = ({0: torch.export.Dim("n")},)
        program = torch.onnx.export(model, (BATCH[:4],), dynamo=True, dynamic_shapes=shapes, verbose=False)
        session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    (answer,) = session.run(None, {session.get_inputs()[0].name: BATCH.numpy()})
    torch.testing.assert_close(torch.from_numpy(answer), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch moves quantising into another package
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantised_layers_stand_before_an_exact_head():
    wanted = expected(model := photos(example=BATCH).eval())
    small = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    assert "DynamicQuantizedLinear" in repr(small.hidden)
    assert torch.equal(small.fc.prototypes, model.fc.prototypes)
    assert (small(BATCH) - wanted).abs().max() < 0.1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning:torch.ao")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_the_graph_mode_quantises_what_comes_before_the_head():
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

    wanted = expected(model := photos(example=BATCH).eval())
    observed = prepare_fx(copy.deepcopy(model), get_default_qconfig_mapping("x86"), (BATCH,))
    observed(BATCH)
    small = convert_fx(observed)
    assert "Quantized" in repr(small.hidden)
    assert (small(BATCH) - wanted).abs().max() < 0.5


@pytest.mark.filterwarnings("ignore")  # those of the package when it is imported
def test_exported_graphs_quantise_where_the_package_is_installed():
    quantize = pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e", reason="torch 2.13 has it in torchao")
    quantizer = pytest.importorskip("torchao.quantization.pt2e.quantizer.x86_inductor_quantizer")
    wanted = expected(model := photos(example=BATCH).eval())
    chosen = quantizer.X86InductorQuantizer().set_global(quantizer.get_default_x86_inductor_quantization_config())
    prepared = quantize.prepare_pt2e(torch.export.export(model, (BATCH,)).module(), chosen)
    prepared(BATCH)
    assert (quantize.convert_pt2e(prepared)(BATCH) - wanted).abs().max() < 0.5


def test_averages_and_safetensors_keep_the_head(tmp_path):
    model = photos(example=BATCH)
    average = AveragedModel(model, use_buffers=True)
    average.update_parameters(model)
    torch.testing.assert_close(average.module(BATCH), model(BATCH))
    save_model(model, str(tmp_path / "model.safetensors"))
    other = photos(scale=1.0, features="signed")
    load_model(other, tmp_path / "model.safetensors")
    assert torch.equal(other(BATCH), model(BATCH))


SHARDED = """
    import os, sys, torch
    from torch import nn
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from anchored import anchor_

    rank, world, where = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{where}", rank=rank, world_size=world)
    mesh = init_device_mesh("cpu", (world,))
    torch.manual_seed(0)
    model = anchor_(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)), 4, scale=5.0)
    plain = {name: value.clone() for name, value in model.state_dict().items()}
    x, y = torch.randn(8, 6), torch.arange(8) % 4
    wanted = model(x).detach()
    fully_shard(model[0], mesh=mesh)
    fully_shard(model, mesh=mesh)
    assert torch.allclose(model(x), wanted, atol=1e-6), "sharding changed the logits"
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    nn.functional.cross_entropy(model(x), y).backward()
    optimiser.step()
    assert torch.equal(model[2].prototypes, plain["2.prototypes"]), "the anchors moved"
    whole = StateDictOptions(full_state_dict=True)
    state = get_model_state_dict(model, options=whole)
    assert set(state) == set(plain), set(state) ^ set(plain)
    model[2].scale = 1.0
    set_model_state_dict(model, plain, options=whole)
    assert model[2].scale == 5.0
    assert torch.allclose(model(x), wanted, atol=1e-6), "loading did not bring the logits back"
    print("done", flush=True)
    os._exit(0)
"""


def run_ranks(tmp_path, world):
    command = [sys.executable, "-c", textwrap.dedent(SHARDED)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(world), str(tmp_path / "store")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(world)
    ]
    try:
        outputs = [rank.communicate(timeout=120)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0] * world, outputs
    assert all("done" in output for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("world", [1, 2])
def test_fully_sharded_models_train_and_load(tmp_path, world):
    run_ranks(tmp_path, world)


def test_maps_have_their_own_head():
    assert isinstance(MODELS["maps"]()[2], AnchoredConv)
