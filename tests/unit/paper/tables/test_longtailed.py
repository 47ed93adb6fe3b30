"""Mirror of src/anchored/paper/tables/_longtailed.py: anchored rows twice, the others once."""

from anchored.paper.tables._longtailed import WHOLE, longtailed_row, rows_with_anchors


def test_anchored_rows_come_again_at_the_end_aligned():
    rows = rows_with_anchors("ce", "ce+pal", "ldam")
    assert [row.name for row in rows] == ["ce", "ce+pal", "ldam", "ce+pal (aligned)"]
    assert [row.settings.get("method", {}).get("anchors") for row in rows] == [None, "random", None, "aligned"]
    assert [row.ours for row in rows] == [False, False, False, True]
    assert rows[3].method == "ce+pal"


def test_rows_of_ours_are_marked():
    assert longtailed_row("ce", ours=True).ours
    assert not longtailed_row("ce").ours


def test_nothing_is_held_out_and_no_label_is_wrong():
    assert WHOLE == {"data": {"hold_out": 0.0}, "method": {"noise_rate": 0.0}}
