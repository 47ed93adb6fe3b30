"""Mirror of src/anchored/data/folder.py: layouts, names kept verbatim, and folders that cannot be learned from."""

import os

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import load_folder


def picture(path, seed, size=(8, 8)):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


@pytest.fixture
def folder(tmp_path):
    for j, name in enumerate(["dog", "cat"]):
        for i in range(3):
            picture(tmp_path / name / f"{i}.png", 10 * j + i)
    return tmp_path


def test_class_folders_become_classes_in_order_of_name(folder):
    data = load_folder(folder).train
    assert data.class_names == ("cat", "dog")
    assert list(data.ids) == [f"{name}/{i}.png" for name in ("cat", "dog") for i in range(3)]
    assert data.labels.tolist() == [0, 0, 0, 1, 1, 1]
    expected = np.random.default_rng(1).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    assert np.array_equal(data.inputs.take(torch.tensor([4]))[0].numpy(), expected.transpose(2, 0, 1))


@pytest.mark.parametrize("test_name", ["test", "val", "valid", "validation"])
def test_train_and_test_folders(tmp_path, test_name):
    for part in ("train", test_name):
        for j, name in enumerate("ab"):
            for i in range(2):
                picture(tmp_path / part / name / f"{i}.png", len(part) * 100 + 10 * j + i)
    split = load_folder(tmp_path)
    assert (len(split.train), len(split.test)) == (4, 4)
    assert split.test.ids[0] == f"{test_name}/a/0.png"


def test_a_test_class_unseen_in_training_is_named(tmp_path):
    for place in ("train/a", "train/b", "test/a", "test/z"):
        picture(tmp_path / place / "1.png", len(place))
    with pytest.raises(InputError, match=r"test/z .*label 'z' was not seen in training"):
        load_folder(tmp_path)


def test_a_class_called_train_beside_others_is_a_class(tmp_path):
    for name in ("train", "car"):
        picture(tmp_path / name / "1.png", len(name))
    assert load_folder(tmp_path).train.class_names == ("car", "train")


@pytest.mark.parametrize("name", ["猫", "naïve café", "<b>x", "a & b", "'; DROP TABLE", "${HOME}", "%s{0}", " x "])
def test_odd_class_names_are_kept_verbatim(tmp_path, name):
    picture(tmp_path / name / "1.png", 1)
    picture(tmp_path / "plain" / "1.png", 2)
    assert name in load_folder(tmp_path).train.class_names


def test_names_that_are_no_text_can_still_be_printed(tmp_path):
    os.makedirs(os.fsencode(tmp_path) + b"/\xff\xfe")
    picture(tmp_path / "plain" / "1.png", 2)
    (tmp_path / "plain" / "1.png").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe/1.png"))
    picture(tmp_path / "plain" / "1.png", 3)
    data = load_folder(tmp_path).train
    " ".join([*data.class_names, *data.ids]).encode("utf-8")


def test_images_may_lie_deeper_and_other_files_are_noted(folder):
    picture(folder / "cat" / "more" / "deep.PNG", 99)
    (folder / "cat" / "notes.md").write_text("x")
    (folder / "cat" / ".hidden.png").write_text("x")
    data = load_folder(folder).train
    assert "cat/more/deep.PNG" in data.ids
    assert "1 files that are not images were left out" in data.notes


def test_links_within_the_folder_are_followed(folder):
    (folder / "cat" / "more").symlink_to(folder / "dog", target_is_directory=True)
    (folder / "dog" / "one.png").symlink_to(folder / "cat" / "0.png")
    assert list(load_folder(folder).train.ids)[:7] == [
        *(f"cat/{i}.png" for i in range(3)),
        *(f"cat/more/{name}.png" for name in ("0", "1", "2", "one")),
    ]


def test_a_folder_given_by_a_link_is_itself(folder, tmp_path_factory):
    link = tmp_path_factory.mktemp("links") / "data"
    link.symlink_to(folder)
    assert len(load_folder(link).train) == 6


def loop_to_itself(folder):
    (folder / "cat" / "loop").symlink_to(folder / "cat")


def loop_to_the_top(folder):
    (folder / "cat" / "loop").symlink_to("..")


def loop_as_a_class(folder):
    (folder / "fox").symlink_to(".")


def loop_through_two_links(folder):
    (folder / "cat" / "x").symlink_to(folder / "dog")
    (folder / "dog" / "y").symlink_to(folder / "cat")


def loop_through_a_folder_above_the_target(folder):
    (folder / "dog" / "deep").mkdir()
    (folder / "cat" / "x").symlink_to(folder / "dog" / "deep")
    (folder / "dog" / "deep" / "y").symlink_to(folder / "dog")


def class_outside(folder):
    picture(folder.parent / "store" / "1.png", 1)
    (folder / "fox").symlink_to(folder.parent / "store")


def image_outside(folder):
    picture(folder.parent / "store" / "1.png", 1)
    (folder / "cat" / "1 more.png").symlink_to("../../store/1.png")


def device(folder):
    (folder / "cat" / "zero.png").symlink_to("/dev/zero")


def to_nowhere(folder):
    (folder / "cat" / "gone.png").symlink_to("nowhere.png")


def to_itself(folder):
    (folder / "cat" / "self.png").symlink_to("self.png")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (loop_to_itself, "cat/loop: the link leads back to .*cat, which holds it; remove the link"),
        (loop_to_the_top, "cat/loop: the link leads back to"),
        (loop_as_a_class, "fox: the link leads back to"),
        (loop_through_two_links, "cat/x/y: the link leads back to"),
        (loop_through_a_folder_above_the_target, "cat/x/y/deep: the link leads back to"),
        (class_outside, r"fox: the link leads out of .*, to .*store; copy the data with `cp -rL`"),
        (image_outside, r"cat/1 more\.png: the link leads out of"),
        (device, r"zero\.png: the link leads out of .*, to /dev/zero"),
        (to_nowhere, r"gone\.png: the link leads nowhere"),
        (to_itself, r"self\.png: the link leads nowhere"),
    ],
)
def test_links_that_leave_the_folder_or_loop_are_refused(tmp_path, make, words):
    for j, name in enumerate(["dog", "cat"]):
        for i in range(3):
            picture(tmp_path / "data" / name / f"{i}.png", 10 * j + i)
    make(tmp_path / "data")
    with pytest.raises(InputError, match=words) as caught:
        load_folder(tmp_path / "data")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["cat/pipe.png", "cat/pipe.txt", "dog/deep/pipe.jpg", "pipe.png"])
def test_a_pipe_is_left_out_and_never_waited_for(folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    os.mkfifo(folder / name)
    data = load_folder(folder).train
    assert len(data) == 6
    assert f"1 pipes, sockets or devices were left out, e.g. {name}" in data.notes


def test_a_folder_that_cannot_be_read_is_named(folder, monkeypatch):
    scan = os.scandir

    def refusing(place):
        if str(place).endswith("cat"):
            raise PermissionError(13, "Permission denied")
        return scan(place)

    monkeypatch.setattr("anchored.data.folder.os.scandir", refusing)
    with pytest.raises(InputError, match=r"cat: cannot be read \(Permission denied\)"):
        load_folder(folder)


def texts(path, **said):
    for name, text in said.items():
        label, _, number = name.partition("_")
        file = path / label / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def test_a_folder_of_texts(tmp_path):
    split = load_folder(texts(tmp_path, good_10="a joy", good_2="well made", bad_1="ünbearable"))
    data = split.train
    assert (data.kind, data.inputs.shape, split.test) == ("texts", (), None)
    assert list(data.ids) == ["bad/1.txt", "good/10.txt", "good/2.txt"]
    assert data.inputs.texts == ("ünbearable", "a joy", "well made")
    assert data.labels.tolist() == [0, 1, 1]


def test_texts_to_train_on_and_texts_to_test_on(tmp_path):
    texts(tmp_path / "train", a_1="x", b_1="y")
    texts(tmp_path / "test", b_1="z")
    split = load_folder(tmp_path)
    assert split.test.inputs.texts == ("z",)
    assert split.test.labels.tolist() == [1]
    assert list(split.test.ids) == ["test/b/1.txt"]


def test_texts_are_predicted_from_a_flat_folder_too(tmp_path):
    (tmp_path / "new.TXT").write_text("what is it?")
    data = load_folder(tmp_path, class_names=("a", "b"), labels="optional").train
    assert data.inputs.texts == ("what is it?",)
    assert data.labels.tolist() == [-1]
    with pytest.raises(InputError, match="1 texts but no class folders; put each class's texts in a folder"):
        load_folder(tmp_path)


def test_empty_texts_copies_and_other_files_are_noted(tmp_path):
    texts(tmp_path, a_1="same", a_2=" \n", b_1="same", b_2="other")
    (tmp_path / "b" / "x.pdf").write_text("x")
    assert load_folder(tmp_path).train.notes == (
        "1 files that are not texts were left out",
        "1 texts are empty, e.g. a/2.txt",
        "the same text under different labels: 1 group, e.g. a/1.txt = b/1.txt",
    )


def test_a_mixture_is_refused_unless_the_model_says_what_it_takes(folder):
    texts(folder, cat_note="a cat", dog_note="a dog")
    with pytest.raises(
        InputError, match=r"6 images \(such as cat/0\.png\) and 2 texts \(such as cat/note\.txt\) are mixed; leave"
    ):
        load_folder(folder)
    assert load_folder(folder, shape=(3, 8, 8)).train.kind == "images"
    assert load_folder(folder, shape=()).train.inputs.texts == ("a cat", "a dog")


def test_a_text_beside_the_class_folders_is_no_mixture(folder):
    (folder / "README.txt").write_text("photos of 2019")
    assert len(load_folder(folder).train) == 6


def test_a_text_that_is_none_is_named(tmp_path):
    texts(tmp_path, a_1="x", b_1="y")
    (tmp_path / "b" / "2.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"b/2\.txt: not UTF-8 text \(byte 0\)"):
        load_folder(tmp_path)


def test_copies_are_noted(folder):
    (folder / "dog" / "copy.png").write_bytes((folder / "cat" / "0.png").read_bytes())
    (note,) = load_folder(folder).train.notes
    assert note == "the same image under different labels: 1 group, e.g. cat/0.png = dog/copy.png"


def test_an_empty_class_folder_is_noted(folder):
    (folder / "empty").mkdir()
    data = load_folder(folder).train
    assert data.class_names == ("cat", "dog")
    assert any(note.startswith("empty: no images") for note in data.notes)


def test_a_class_of_one_image_is_noted(folder):
    picture(folder / "fox" / "1.png", 77)
    assert any("one sample only of class 'fox'" in note for note in load_folder(folder).train.notes)


def test_images_of_different_sizes_are_brought_to_one(folder):
    picture(folder / "cat" / "wide.png", 5, size=(8, 30))
    assert load_folder(folder).train.inputs.shape == (3, 8, 8)
    assert load_folder(folder, side=5).train.inputs.shape == (3, 5, 5)
    assert load_folder(folder, shape=(1, 6, 7)).train.inputs.shape == (1, 6, 7)


def empty(path):
    path.mkdir()


def flat(path):
    picture(path / "1.png", 0)


def one_class(path):
    picture(path / "only" / "1.png", 0)
    picture(path / "only" / "2.png", 1)


def only_other_files(path):
    (path / "a").mkdir(parents=True)
    (path / "a" / "x.md").write_text("x")


def broken(path):
    picture(path / "a" / "1.png", 0)
    picture(path / "b" / "1.png", 1, size=(64, 64))
    file = path / "b" / "1.png"
    file.write_bytes(file.read_bytes()[:300])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _path: None, "there is no such folder"),
        (empty, "the folder holds no images"),
        (flat, "1 images but no class folders; put each class's images in a folder named after it"),
        (one_class, "all 2 samples are of class 'only'"),
        (only_other_files, "its class folders hold no images"),
        (broken, r"b/1\.png: the image is damaged or cut short"),
    ],
)
def test_folders_that_cannot_be_learned_from(tmp_path, make, words):
    make(tmp_path / "d")
    with pytest.raises(InputError, match=words) as caught:
        load_folder(tmp_path / "d")
    assert "\n" not in str(caught.value)


def test_prediction_takes_a_flat_folder_or_unknown_folders(tmp_path, folder):
    names = ("cat", "dog")
    flat(tmp_path / "flat")
    assert not load_folder(tmp_path / "flat", class_names=names, labels="optional").train.labelled
    picture(tmp_path / "batches" / "monday" / "1.png", 1)
    assert load_folder(tmp_path / "batches", class_names=names, labels="optional").train.labels.tolist() == [-1]
    with pytest.raises(InputError, match="label 'monday' was not seen"):
        load_folder(tmp_path / "batches", class_names=names)


def test_prediction_uses_known_folders_as_labels(folder, tmp_path):
    target = tmp_path / "new"
    picture(target / "dog" / "1.png", 4)
    data = load_folder(target, class_names=("cat", "dog"), labels="optional").train
    assert data.labels.tolist() == [1]
    assert load_folder(target, class_names=("cat", "dog"), labels="ignored").train.labels.tolist() == [-1]
