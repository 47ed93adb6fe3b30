"""Encoding photos against the bare forward pass of the network: what reading, resizing and keeping cost beside it.

The photos are generated: smooth random colours, saved as JPEG files of two sizes and as thumbnails.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from PIL import Image

from anchored.bench._measure import Result, seconds
from anchored.data import FileInputs
from anchored.features import FeatureCache, features_of, get
from anchored.features.photos import PhotoEncoder

__all__ = ["TARGET", "run"]

TARGET = 0.85
"""Share of the speed of the bare forward pass that encoding should reach."""
_KINDS = {"thumbnails 32 x 32, PNG": (32, 32, "png"), "photos 640 x 480, JPEG": (480, 640, "jpg")}


def run(n: int = 256, repeats: int = 3) -> Result:
    """Encode generated photos from files, and run the network alone on as many ready batches.

    Args:
        n: Photos of each kind.
        repeats: Turns, of which the median counts.

    Returns:
        Per kind of photo: photos a second of either, their ratio, and the speed of reading from the cache.
    """
    rows: list[tuple[str | float | None, ...]] = []
    for kind, (height, width, ending) in _KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            files = _photos(Path(folder), n, height, width, ending)
            encoder = get("efficientnet-lite0").fit(files)
            assert isinstance(encoder, PhotoEncoder)
            batches = [encoder.prepare(files, index) for index in torch.split(torch.arange(n), encoder.batch_size)]
            kept = FeatureCache(Path(folder) / "cache")
            features_of(files, encoder, cache=kept)

            def bare(encoder: PhotoEncoder = encoder, batches: list[torch.Tensor] = batches) -> None:
                with torch.inference_mode():
                    for batch in batches:
                        encoder.embed(batch)

            def whole(encoder: PhotoEncoder = encoder, files: FileInputs = files, folder: str = folder) -> None:
                with tempfile.TemporaryDirectory(dir=folder) as empty:
                    features_of(files, encoder, cache=FeatureCache(empty))

            def again(encoder: PhotoEncoder = encoder, files: FileInputs = files, kept: FeatureCache = kept) -> None:
                features_of(files, encoder, cache=kept)

            network, encoding, cached = seconds([bare, whole, again], repeats=repeats)
        rows.append((kind, n / network, n / encoding, network / encoding, n / cached))
    ratios = [row[3] for row in rows if isinstance(row[3], float)]
    return Result(
        title="Encoding photos with EfficientNet-Lite0, photos a second",
        columns=("photos", "network alone", "encode", "ratio", "from the cache"),
        rows=tuple(rows),
        note=f"{n} generated photos of each kind; {torch.get_num_threads()} threads; a ratio of {TARGET} is the aim",
        facts={"threads": torch.get_num_threads(), "smallest_ratio": min(ratios), "target": TARGET},
    )


def _photos(folder: Path, n: int, height: int, width: int, ending: str) -> FileInputs:
    coarse = torch.randint(0, 256, (n, 6, 8, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)).numpy()
    paths = []
    for number in range(n):
        path = folder / f"{number}.{ending}"
        Image.fromarray(coarse[number]).resize((width, height), Image.Resampling.BICUBIC).save(path)
        paths.append(path)
    side = min(height, width, 224)
    return FileInputs(paths, (3, side, side))
