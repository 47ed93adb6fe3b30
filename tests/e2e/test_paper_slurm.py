"""Jobs through submitit, on its executor that uses this machine, as no cluster is here."""

import pytest
from tests.unit.paper.tiny import TINY

from anchored.paper import Placement, Results, Store, record_of, run, run_job
from anchored.paper.engines import SlurmEngine

pytest.importorskip("submitit", reason="submitit is not installed; pip install 'anchored[slurm]'")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # submitit leaves pipes to the garbage collector
def test_the_same_records_as_in_this_process(tmp_path):
    jobs = TINY.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.4"], seeds=[0])
    store, results = Store(tmp_path / "store"), Results(tmp_path / "results")
    engine = SlurmEngine(
        Placement(str(store.path), device="cpu"), jobs=2, parameters={"timeout_min": 5}, cluster="local"
    )
    assert len(run(jobs, store, results, engine).finished) == 2
    here = Store(tmp_path / "here")
    here.make()
    for job, record in zip(jobs, results.read("tiny"), strict=True):
        run_job(job, Placement(str(here.path), device="cpu"))
        assert {**record, "seconds": 0} == {**record_of(job, here), "seconds": 0}
