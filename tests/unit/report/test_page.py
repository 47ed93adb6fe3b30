"""Mirror of src/anchored/report/_page.py: nothing is fetched, nothing runs, everything is escaped."""

from anchored.report._page import page
from anchored.report._section import Card, Code, Gallery, Paragraph, Section, Table, Tile

BAD = "</style></title><script>alert(1)</script><img src=http://x onerror='alert(2)'>\"'`{{ 7 * 7 }}"


def hostile_page():
    blocks = [
        Paragraph(BAD),
        Table((BAD, BAD), [(BAD, BAD)], folded=BAD),
        Code(BAD, folded=BAD),
        Gallery([Card(BAD, BAD, BAD, BAD, "data:image/png;base64,AAAA", ((BAD, BAD),))]),
        Gallery([Card(BAD, BAD, BAD, BAD, "", ((BAD, BAD),))]),
    ]
    return page(BAD, BAD, [Tile(BAD, BAD, BAD)], [Section("a", BAD, BAD, blocks)], [BAD])


def test_hostile_text_everywhere_adds_no_tag_and_no_handler(parse):
    seen = parse(hostile_page())
    assert "script" not in seen.tags
    assert seen.tags.count("img") == 1
    assert seen.tags.count("style") == 1
    assert [name for _, name, _ in seen.attributes if name.startswith("on")] == []
    assert "49" not in seen.text
    assert seen.text.count("alert(1)") >= 15


def test_nothing_is_fetched(parse):
    seen = parse(hostile_page())
    addresses = [value for _, name, value in seen.attributes if name in ("src", "href", "action", "data", "poster")]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    style = hostile_page().partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_a_policy_forbids_scripts_and_the_network(parse):
    seen = parse(hostile_page())
    (policy,) = [value for tag, name, value in seen.attributes if (tag, name) == ("meta", "content") and "src" in value]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    assert "script-src" not in policy


def test_every_section_can_be_reached(parse):
    text = page("t", "s", [], [Section("one", "One", "x"), Section("two", "Two", "y")], [])
    seen = parse(text)
    ids = {value for tag, name, value in seen.attributes if (tag, name) == ("section", "id")}
    links = {value for tag, name, value in seen.attributes if (tag, name) == ("a", "href")}
    assert links == {f"#{each}" for each in ids} == {"#one", "#two"}
