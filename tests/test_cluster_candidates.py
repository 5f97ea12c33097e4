"""Which needles are looked at where an anchor stands."""

from hypothesis import given
from hypothesis import strategies as st

from npu_kb.cluster.candidates import Candidates
from npu_kb.cluster.needles import Needle

_ANCHOR = b"fail"
_literals = st.builds(
    lambda before, behind: before + _ANCHOR + behind, *[st.text("ab", max_size=5).map(str.encode)] * 2
)


@given(st.lists(_literals, max_size=12), st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_every_needle_that_fits_into_the_line_or_goes_on_beyond_it_is_among_them(literals, before, behind):
    candidates = Candidates(_ANCHOR, range(len(literals)), [Needle(literal, ()) for literal in literals])
    line = before.encode() + _ANCHOR + behind.encode()
    place = len(before) + len(_ANCHOR)
    told = {(number, end) for number, _, end in candidates.at(line, place)}
    for number, literal in enumerate(literals):
        end = literal.index(_ANCHOR) + len(_ANCHOR)
        shared_before = min(end, place)
        shared_behind = min(len(literal) - end, len(line) - place)
        if literal[end - shared_before : end + shared_behind] == line[place - shared_before : place + shared_behind]:
            assert (number, end) in told


def test_of_needles_that_share_an_anchor_only_those_with_the_bytes_beside_it_are_looked_at():
    literals = [b"socketfailedreason", b"socketfailedremote", b"kernelfailed", b"memoryfailed", b"failed"]
    candidates = Candidates(b"failed", range(5), [Needle(literal, ()) for literal in literals])
    line = b"[error]kernelfailedrem17"
    assert sorted(c.needle for c in candidates.at(line, line.index(b"rem"))) == [1, 2, 4]
