"""Mirror of src/anchored/paper/tables/longtail_imagenet.py: lists, crops of 224, and the networks of the rows."""

from anchored.paper.tables.longtail_imagenet import TABLE


def test_its_rows_and_measures_are_the_published_ones():
    assert {key[0] for key in TABLE.published} == {row.name for row in TABLE.rows if not row.ours}
    assert {key[2] for key in TABLE.published} == set(TABLE.measures)


def test_the_data_are_the_lists_of_the_benchmark():
    data = TABLE.job("mislas+pal", "imagenet-lt", seed=0).settings["data"]
    assert (data["source"], data["test"]) == tuple(TABLE.needs)
    assert data["augment"][0] == "resized-crop=224"


def test_rows_have_the_networks_of_their_papers():
    names = {row.name: TABLE.job(row.name, "imagenet-lt", seed=0).settings["backbone"]["name"] for row in TABLE.rows}
    assert names["ce"] == names["mislas+pal"] == "resnet50"
    assert names["lade"] == names["causal-norm"] == "resnext50"
    assert names["oltr"] == "resnet10"
