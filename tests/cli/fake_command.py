"""The command with a fake synthesizer and a fake loudspeaker, as a process of its own.

FAKE in the environment: options of FakeSynthesizer as JSON. Prints `ready` on stderr when the first frame is asked for.
"""

import json
import os
import sys

import s2mlx
from s2mlx.cli.main import main

from ..fakes import FakePlayer, FakeSynthesizer
from ..fakes.synthesizer import by_sentence


class Announcing(FakeSynthesizer):
    announces = False  # each pass of a text that comes slowly, once it is with the command

    def _as_it_comes(self, *request):
        for chunk in super()._as_it_comes(*request):
            yield chunk
            if self.announces:
                print("spoken", file=sys.stderr, flush=True)

    def _chunks(self, *request):
        for number, chunk in enumerate(super()._chunks(*request)):
            yield chunk
            if number == self.frames:  # the first pass and a frame of the second are with the command
                print("ready", file=sys.stderr, flush=True)


class Playing(FakePlayer):
    """Never gets to the end by itself; says on stderr what happened to it."""

    def wait(self, timeout=None):
        import time

        if not self.stopped:
            print("playing", file=sys.stderr, flush=True)
        time.sleep(timeout)
        return False

    def stop(self):
        print("stopped", file=sys.stderr, flush=True)
        self.stopped = True


if __name__ == "__main__":
    from s2mlx import audio

    fake = json.loads(os.environ.get("FAKE", "{}"))
    Announcing.announces = fake.pop("announce", 0)
    s2mlx.load = lambda *args, **kwargs: Announcing(passes=by_sentence, **fake)
    audio.Player = Playing
    audio.find_output = lambda query: None
    sys.exit(main())
