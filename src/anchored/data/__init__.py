"""Data: from what a user has to batches that a network can be trained on.

A source (:func:`open_source`) gives a :class:`Dataset`: inputs with labels, and what both are called. :func:`corrupt`
and :func:`hold_out` make other data sets from it; :class:`Batches` turns it into augmented, normalised batches.
The alphabet: ``n`` samples, ``k`` classes, ``b`` samples in a batch, images ``(c, h, w)``, vectors ``(d,)``.
"""

from anchored.data.arrays import from_arrays
from anchored.data.arrow_columns import read_arrow_columns, read_parquet_columns
from anchored.data.augment import (
    Augmentation,
    ColourJitter,
    Compose,
    HorizontalFlip,
    Mixed,
    PaddedCrop,
    RandomResizedCrop,
    Rotation,
    mixup,
)
from anchored.data.batches import Batch, Batches, occurrences, shuffled
from anchored.data.chunk import Chunk, chunks
from anchored.data.cifar import load_cifar10, load_cifar100
from anchored.data.column_values import column_of, text_column
from anchored.data.columns import (
    Column,
    NumberColumn,
    TableChunk,
    TableInputs,
    TextColumn,
    TimeColumn,
    VectorColumn,
    text_columns,
    text_of_number,
)
from anchored.data.corrections import Corrected, Correction, Corrections, correct, read_corrections
from anchored.data.corruption import Corrupted, CorruptionPlan, corrupt
from anchored.data.csv_columns import MISSING_WORDS, read_csv_columns
from anchored.data.dataset import UNLABELLED, Dataset, RowIds, Split
from anchored.data.digits import load_digits
from anchored.data.downloads import DOWNLOADS, download
from anchored.data.excel_columns import read_excel_columns
from anchored.data.file_inputs import FileInputs, keep_in_memory
from anchored.data.folder import load_folder
from anchored.data.frame_columns import MAX_DENSE_BYTES, as_columns
from anchored.data.holdout import held_out_mask, hold_out
from anchored.data.human import load_agnews, load_cifar10n
from anchored.data.id_column import is_id_name, why_id
from anchored.data.idx import load_fashion_mnist, load_mnist
from anchored.data.inputs import Inputs, TensorInputs
from anchored.data.json_columns import read_json_columns
from anchored.data.label_column import LABEL_NAMES, find_label, label_texts
from anchored.data.listfile import LISTS, load_list, stream_list
from anchored.data.normalization import NORMALIZATIONS, Normalization
from anchored.data.pictures import data_uri, png
from anchored.data.read_columns import TABLES, load_columns, read_columns, stream_columns
from anchored.data.sources import BUILT_IN, FILE_ENDINGS, SourceOptions, open_source
from anchored.data.table import TableForm, load_table, stream_table
from anchored.data.text import TextInputs
from anchored.data.torch_dataset import TorchInputs, from_torch

__all__ = [
    "BUILT_IN",
    "DOWNLOADS",
    "FILE_ENDINGS",
    "LABEL_NAMES",
    "LISTS",
    "MAX_DENSE_BYTES",
    "MISSING_WORDS",
    "NORMALIZATIONS",
    "TABLES",
    "UNLABELLED",
    "Augmentation",
    "Batch",
    "Batches",
    "Chunk",
    "ColourJitter",
    "Column",
    "Compose",
    "Corrected",
    "Correction",
    "Corrections",
    "Corrupted",
    "CorruptionPlan",
    "Dataset",
    "FileInputs",
    "HorizontalFlip",
    "Inputs",
    "Mixed",
    "Normalization",
    "NumberColumn",
    "PaddedCrop",
    "RandomResizedCrop",
    "Rotation",
    "RowIds",
    "SourceOptions",
    "Split",
    "TableChunk",
    "TableForm",
    "TableInputs",
    "TensorInputs",
    "TextColumn",
    "TextInputs",
    "TimeColumn",
    "TorchInputs",
    "VectorColumn",
    "as_columns",
    "chunks",
    "column_of",
    "correct",
    "corrupt",
    "data_uri",
    "download",
    "find_label",
    "from_arrays",
    "from_torch",
    "held_out_mask",
    "hold_out",
    "is_id_name",
    "keep_in_memory",
    "label_texts",
    "load_agnews",
    "load_cifar10",
    "load_cifar10n",
    "load_cifar100",
    "load_columns",
    "load_digits",
    "load_fashion_mnist",
    "load_folder",
    "load_list",
    "load_mnist",
    "load_table",
    "mixup",
    "occurrences",
    "open_source",
    "png",
    "read_arrow_columns",
    "read_columns",
    "read_corrections",
    "read_csv_columns",
    "read_excel_columns",
    "read_json_columns",
    "read_parquet_columns",
    "shuffled",
    "stream_columns",
    "stream_list",
    "stream_table",
    "text_column",
    "text_columns",
    "text_of_number",
    "why_id",
]
