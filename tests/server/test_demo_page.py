"""The page of `serve --demo` in a real browser: typed text is heard, also while it is typed, with and without a key."""

import shutil

import pytest

from ..fakes import FRAME, RATE
from .browser import COMMANDS, browser

needs_browser = pytest.mark.skipif(not any(map(shutil.which, COMMANDS)), reason="no Chromium is installed")


def test_it_is_served_when_it_is_asked_for(start, connect):
    answer = connect(start(demo=True)).ask("/")
    assert answer.status == 200 and answer.fields["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.fields["content-security-policy"]
    assert connect(start()).ask("/").status == 404


def test_it_needs_nothing_from_elsewhere(start, connect):
    page = connect(start(demo=True)).ask("/").body.decode()
    assert "http://" not in page and "https://" not in page


@needs_browser
def test_typed_text_is_heard(start, tmp_path):
    server = start(demo=True, key="a key")
    with browser(server.url + "/", tmp_path) as page:
        page.until("!document.getElementById('key').hidden")  # the server asks for it
        page.run("key_ = document.getElementById('key'), key_.value = 'a key', key_.onchange()")
        page.until("document.getElementById('voice').options.length == 2")
        page.run("text_ = document.getElementById('text'), text_.value = 'One sentence. And another.', open()")
        page.until("heard.done == 1")
        assert page.run("heard.error") == ""
        samples, spans = page.run("[heard.samples, heard.spans]")
        assert samples == pytest.approx(spans * 4 * FRAME / RATE * 24000, abs=300)
        assert page.run("heard.energy / heard.samples") == pytest.approx(0.0625, rel=0.1)
        page.until("document.getElementById('heard').textContent")

        # As it is typed: the first sentence sounds while the next one is being written.
        page.run("document.getElementById('live').checked = true, text_.value = 'A beginning. And th', text_.oninput()")
        page.until(f"heard.spans == {spans + 1}")
        assert page.run("heard.done") == 1
        page.run("text_.value += 'en the end.', text_.oninput(), document.getElementById('speak').onclick()")
        page.until("heard.done == 2")
        assert page.run("spans.map((one) => one.text)") == ["A beginning.", "And then the end."]
