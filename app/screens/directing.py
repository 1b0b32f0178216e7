"""Stage directions put into the text by a local language model, which cannot change a word of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..jobs import Job, JobCancelled
from ..widgets.editor import Editor
from .background_work import BackgroundWork

if TYPE_CHECKING:
    from .main import MainScreen


def direct_text(screen: MainScreen, editor: Editor, work: BackgroundWork) -> None:
    """What comes stands in the editor, to be changed before it is spoken; undo brings the plain text back."""
    from s2mlx.text import has_words

    text = editor.text
    if not has_words(text, tags=False):
        screen.say("nothing to direct yet: type some text")
        return
    if work.job:
        screen.say("something else is under way: esc cancels it")
        return

    def directed(job: Job) -> str:
        shown = -1

        def progress(done: int, total: int) -> None:
            nonlocal shown
            if (share := 100 * done // total) != shown and not job.cancel.is_set():
                shown = share
                job.report(done / total, f"adding stage directions, {share} %")

        found = screen.app.studio.direct(text, progress, job.cancel)
        if job.cancel.is_set():
            raise JobCancelled
        return found

    def done(found: str) -> None:
        if editor.text != text:
            screen.say("the text was changed meanwhile, and stays as it is: F5 directs it anew")
        elif found == text:
            screen.say("the language model found nothing to direct")
        else:
            editor.put(found)
            screen.say("stage directions added: ^z takes them out")

    work.start("direct", "loading the language model", directed, done)
