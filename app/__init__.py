"""The terminal app of s2mlx: record, clone, speak, listen. `run` starts it; importing this loads nothing heavy."""

from __future__ import annotations


def run(
    model: str | None = None,
    tokenizer: str | None = None,
    voice: str | None = None,
    device: str | None = None,
    text: str | None = None,
    file: str | None = None,
) -> int:
    """Run the app until the user quits; returns the exit code.

    Each argument stands in for the saved setting in this run only. `voice` is a saved voice's name or a .s2voice file.
    `file`: the text to begin with, instead; of a FIFO or a pipe on stdin (`-`) it comes in as it is written, and each
    sentence is spoken.
    Raises `S2Error` when the file, the terminal or the voice cannot be used.
    """
    import gc

    gc.disable()  # until the first picture is there: nothing that is made for it is garbage, and looking takes its time
    from .start import start

    return start(model=model, tokenizer=tokenizer, voice=voice, device=device, text=text, file=file)
