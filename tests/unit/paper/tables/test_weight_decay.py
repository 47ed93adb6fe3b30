"""Mirror of src/anchored/paper/tables/weight_decay.py: one setting, ten values."""

from anchored.paper.tables.weight_decay import TABLE


def test_its_rows_and_cells_are_the_published_ones():
    assert {key[0] for key in TABLE.published} == {row.name for row in TABLE.rows}
    assert {key[1] for key in TABLE.published} == {cell.name for cell in TABLE.cells}


def test_only_the_weight_decay_changes():
    jobs = TABLE.jobs(methods=["ce"], seeds=[0])
    assert [job.settings["optimizer"].pop("weight_decay") for job in jobs] == [
        0.0, 5e-5, 1e-4, 2e-4, 3e-4, 5e-4, 7e-4, 1e-3, 5e-3, 1e-2,
    ]  # fmt: skip
    assert all(job.settings == jobs[0].settings for job in jobs)
