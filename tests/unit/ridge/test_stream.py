"""Mirror of src/anchored/ridge/stream.py: the same as in memory, the same bytes on Ray, damaged files refused."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch

from anchored._errors import InputError
from anchored.ridge import ArrayRows, NpyRows, ParquetRows, as_targets, fit_rows, gather, gather_stream, open_rows
from anchored.ridge import rows as reading


@pytest.fixture
def small_chunks(monkeypatch):
    """Make chunks of 256 rows, so that a few thousand rows are many chunks."""
    monkeypatch.setattr(reading, "_CHUNK_NUMBERS", 1)


@pytest.fixture
def many(builder):
    X, y, c = builder(1500, 6, 4)
    return X.astype(np.float32), as_targets(y, 4), c


def everything(gathered):
    """All numbers of what was gathered, as bytes."""
    sums, sample = gathered.sums, gathered.sample
    arrays = [sums.mean, sums.scatter, sums.class_weights, sums.class_sums, sample.keys, sample.rows, sample.weights]
    return [array.tobytes() for array in [*arrays, sample.targets.toarray(), gathered.keys]]


def test_a_file_is_fitted_like_the_array_in_it(many, tmp_path, small_chunks):
    X, P, c = many
    np.save(tmp_path / "X.npy", X)
    rows = NpyRows(tmp_path / "X.npy")
    assert (rows.n, rows.d) == X.shape
    in_memory = fit_rows(ArrayRows(X), P, c)
    streamed = fit_rows(rows, P, c, gathered=gather_stream(rows, P, c))
    torch.testing.assert_close(streamed.logits(torch.from_numpy(X)), in_memory.logits(torch.from_numpy(X)))
    np.testing.assert_allclose(streamed.left_out.logits, in_memory.left_out.logits, rtol=1e-7, atol=1e-9)


def test_without_logits_the_answers_are_the_same(many):
    X, P, c = many
    whole, short = (fit_rows(ArrayRows(X), P, c, keep=keep) for keep in (True, False))
    assert short.left_out.logits is None
    np.testing.assert_array_equal(short.left_out.given, whole.left_out.given)
    np.testing.assert_array_equal(short.left_out.predicted, whole.left_out.logits.argmax(axis=1))


def test_any_number_of_workers_gives_the_same_bytes(many, tmp_path, small_chunks):
    X, P, c = many
    np.save(tmp_path / "X.npy", X)
    one, three = (gather_stream(NpyRows(tmp_path / "X.npy"), P, c, workers=workers) for workers in (1, 3))
    assert everything(one) == everything(three)


@pytest.mark.slow
def test_ray_gives_the_same_bytes(many, tmp_path, small_chunks):
    pytest.importorskip("ray")
    X, P, c = many
    np.save(tmp_path / "X.npy", X)
    rows = NpyRows(tmp_path / "X.npy")
    assert everything(gather_stream(rows, P, c, on="ray", workers=2)) == everything(gather_stream(rows, P, c))


def test_a_bad_number_in_the_middle_of_a_file_is_named(many, tmp_path, small_chunks):
    X, P, c = many
    X[700, 2] = np.nan
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match=r"X.npy must be finite, got nan in row 700, column 2"):
        gather_stream(NpyRows(tmp_path / "X.npy"), P, c)


def parquet(tmp_path, columns, **options):
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def test_parquet_columns_are_read_across_row_groups(many, tmp_path):
    X, P, _ = many
    columns = {f"x{j}": X[:, j] for j in range(6)} | {"kind": P.argmax(axis=1).A1}
    rows = ParquetRows(parquet(tmp_path, columns, row_group_size=400), label="kind")
    assert (rows.n, rows.d, rows.columns) == (1500, 6, [f"x{j}" for j in range(6)])
    for start, stop in ((0, 1500), (399, 401), (400, 800), (1499, 1500)):
        np.testing.assert_array_equal(rows.read(start, stop), X[start:stop].astype(np.float64))
    np.testing.assert_array_equal(rows.labels("kind"), columns["kind"])
    assert everything(gather_stream(rows, P)) == everything(gather_stream(ArrayRows(X), P))


def test_a_parquet_column_of_lists_is_a_matrix(many, tmp_path):
    X, _, _ = many
    flat = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(X.ravel()), 6)
    for column in (flat, pyarrow.array(X.tolist())):
        rows = ParquetRows(parquet(tmp_path, {"vector": column}, row_group_size=400))
        np.testing.assert_allclose(rows.read(300, 500), X[300:500], rtol=1e-7)


def test_the_ending_decides(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((2, 2)))
    assert isinstance(open_rows(tmp_path / "X.npy"), NpyRows)
    assert isinstance(open_rows(parquet(tmp_path, {"a": [1.0]})), ParquetRows)
    with pytest.raises(InputError, match=r"X.csv must end in .npy or .parquet"):
        open_rows(tmp_path / "X.csv")


def test_unusable_npy_files_are_refused(tmp_path):
    def refused(message):
        with pytest.raises(InputError, match=message):
            NpyRows(tmp_path / "X.npy")

    refused(r"cannot read .*X.npy: No such file")
    (tmp_path / "X.npy").write_bytes(b"hello")
    refused(r"is no .npy file")
    np.save(tmp_path / "X.npy", np.array(["a", "b"]))
    refused(r"must hold a matrix \(n, d\) of real numbers, got <U1 \(2,\)")
    np.save(tmp_path / "X.npy", np.asfortranarray(np.zeros((3, 2))))
    refused("is stored by columns")
    np.save(tmp_path / "X.npy", np.zeros((3, 2)))
    whole = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "X.npy").write_bytes(whole[:-8])
    refused("ends before its 3 rows do")


def test_unusable_parquet_files_are_refused(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match=r"cannot read .* as Parquet"):
        ParquetRows(path)
    with pytest.raises(InputError, match=r"has no column 'kind'; its columns are a"):
        ParquetRows(parquet(tmp_path, {"a": [1.0]}), label="kind")
    with pytest.raises(InputError, match="has no column of features besides 'a'"):
        ParquetRows(parquet(tmp_path, {"a": [1.0]}), label="a")
    with pytest.raises(InputError, match="column 'b' holds string, not numbers"):
        ParquetRows(parquet(tmp_path, {"a": [1.0], "b": ["x"]}))
    with pytest.raises(InputError, match="equally long"):
        ParquetRows(parquet(tmp_path, {"a": [[1.0, 2.0], [1.0], [1.0]]})).read(0, 3)
    with pytest.raises(InputError, match="has no rows"):
        ParquetRows(parquet(tmp_path, {"a": pyarrow.array([], pyarrow.float64())}))


def test_an_unknown_place_is_refused(many):
    with pytest.raises(InputError, match="unknown place 'rey'; did you mean 'ray'"):
        gather_stream(ArrayRows(many[0]), many[1], on="rey")


def test_threads_and_one_loop_agree(many, small_chunks):
    X, P, c = many
    loop, threads = gather(ArrayRows(X), P, c), gather_stream(ArrayRows(X), P, c)
    np.testing.assert_allclose(loop.sums.scatter, threads.sums.scatter, rtol=1e-12)
