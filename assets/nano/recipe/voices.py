"""Stage `voices`: the shipped voices: a sentence in the teacher's own codes, at the speaker's pitch and size."""

import struct

import numpy as np
import soundfile
import torch

from . import codes, config, speakers, vocoder
from .make_tokenizer import SEMANTIC, SPARE
from .said import utterance

SENTENCES = {
    "clara": "The garden is quiet this morning, and the first roses are open.",
    "nora": "My little boat is yellow, and it sails around the whole lake.",
    "marcus": "The train leaves in twenty minutes, so we still have time for coffee.",
    "bruno": "An old wooden bridge leads over the river to the market.",
    "robin": "Put the letters on the table, please, and close the window.",
}


def s2voice(path, frame_codes, transcript, rate, codebook_size):
    """Version 1 of the format. frame_codes [codebooks, frames]"""
    body = np.ascontiguousarray(frame_codes, "<i4").tobytes()
    text = transcript.encode() + b"\0"
    head = struct.pack("<8sIiiiiQQ", b"S2VOICE\0", 1, *frame_codes.shape, rate, codebook_size, len(text), len(body))
    path.write_bytes(head + text + body)


def coded(laid, speaker, books):
    """What `grid.lay` made -> codes [books, frames] in a speaker's voice, straight from the teacher"""
    names, n, features, moved = laid
    c = books.encode(codes.states(names, n), codes.flatten(features))
    return np.concatenate([c[:1], speakers.spoken(moved, speaker)[None], c[1:]])


def run():
    from .export import load

    codec = load()[1]
    books = codes.Books.load()
    for name, speaker in speakers.SHIPPED.items():
        c = coded(utterance(SENTENCES[name]), speaker, books)
        s2voice(config.work(f"voices/{name}.s2voice"), c, SENTENCES[name], vocoder.RATE, SEMANTIC + SPARE)
        with torch.no_grad():
            wave = codec.decode(torch.from_numpy(c)[None])[0, 0].numpy()
        soundfile.write(config.work(f"voices/{name}.flac"), wave, vocoder.RATE, subtype="PCM_16")
    config.note("voices", count=len(speakers.SHIPPED))


if __name__ == "__main__":
    run()
