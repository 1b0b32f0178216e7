"""How fast the app answers while a stream plays: `python -m tests.app.frame_time [seconds]` prints figures as
JSON; with `--parts N` while N parts of a long text are listed and four of them come each second.

The app runs on a fake engine that speaks in real time, with its real terminal driver in a pseudo-terminal of 120 x 40
whose output is read and dropped.
    key_ms      from a key to the drawn change                         p50, p95, max
    key_cpu_ms  the interface thread's own work in that time            p50, p95, max
    step_ms     the thread's work in one step of its loop, during which it hears nothing (the longest thousand steps)
    lag_ms      how long the interface thread kept a due timer waiting  p50, p95, max
    cpu_share   of one core, the whole process; idle_share: before the stream
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import pty
import struct
import tempfile
import termios
import threading
import time
from pathlib import Path

FRAME = 2048 / 44100


def measure(seconds: float, parts: int = 0, size: tuple[int, int] = (120, 40)) -> dict:
    """Run the app in a child and return its figures."""
    with tempfile.TemporaryDirectory() as folder:
        child, terminal = pty.fork()
        if child == 0:
            _child(Path(folder), seconds, parts)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        count = 0
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the child has closed it
                break
            if not data:
                break
            count += len(data)
        os.waitpid(child, 0)
        os.close(terminal)
        figures = json.loads((Path(folder) / "figures.json").read_text())
        return figures | {"terminal_kB_per_s": round(count / 1000 / figures["seconds"], 1)}


def _child(folder: Path, seconds: float, parts: int) -> None:
    os.environ["TERM"] = "xterm-256color"
    from s2mlx_app.app import S2App
    from textual import events

    from tests.app.fakes import FakeStudio, a_voice, an_engine
    from tests.fakes.synthesizer import by_sentence, in_halves

    engine = an_engine(frames=int(seconds / FRAME), passes=in_halves, per_chunk=1, delay=FRAME / 2)
    text = "The harbour was quiet. Nobody had heard the boat come in.\n" * 8
    if parts:
        engine = an_engine(frames=4, passes=by_sentence, delay=0.25)
        text = " ".join(f"Sentence {n} of a long book is here." for n in range(parts))
    studio = FakeStudio(folder, engine)
    studio.loudspeakers.speed = 1.0
    studio.library.add("anna", a_voice("anna"))
    app = S2App(studio, folder, folder, text=text)
    keys, cpus, lags, steps, shares = [], [], [], [], {}
    run_step = asyncio.Handle._run

    def timed_step(handle) -> None:
        begin = time.thread_time()
        run_step(handle)
        steps.append(time.thread_time() - begin)

    async def key(area) -> tuple[float, float]:
        drawn, begin, cpu, before = asyncio.Event(), time.perf_counter(), time.thread_time(), len(area.text)
        area.post_message(events.Key("x", "x"))
        area.call_later(app.screen.call_after_refresh, drawn.set)
        await drawn.wait()
        assert len(area.text) == before + 1
        return time.perf_counter() - begin, time.thread_time() - cpu

    async def move(table) -> tuple[float, float]:
        drawn, begin, cpu, before = asyncio.Event(), time.perf_counter(), time.thread_time(), table.highlighted
        app.post_message(events.Key("down", None))
        while table.highlighted == before:
            await asyncio.sleep(0)
        app.screen.call_after_refresh(drawn.set)
        await drawn.wait()
        return time.perf_counter() - begin, time.thread_time() - cpu

    async def lag() -> None:
        while True:
            due = time.perf_counter() + 0.005
            await asyncio.sleep(0.005)
            lags.append(max(0.0, time.perf_counter() - due))

    async def drive() -> None:
        while app.loader.loading or app.jobs.running or not app.main.is_mounted:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
        begin, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(1.0)
        shares["idle_share"] = (time.process_time() - cpu) / (time.perf_counter() - begin)
        if parts:
            app.main.action_parts()
            while app.screen is app.main or not app.screen.table.option_count:
                await asyncio.sleep(0.05)
            app.screen.action_make()
        else:
            app.main.action_speak()
        await asyncio.sleep(0.5)
        begin, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(seconds / 3)
        shares["cpu_share"] = (time.process_time() - cpu) / (time.perf_counter() - begin)
        watch = asyncio.create_task(lag())
        for timed in (False, True):  # apart: asking for a thread's time takes some itself
            asyncio.Handle._run = timed_step if timed else run_step
            end = time.perf_counter() + seconds / 3
            while time.perf_counter() < end:
                drawn = await (move(app.screen.table) if parts else key(app.main.editor.area))
                if not timed:
                    keys.append(drawn[0])
                    cpus.append(drawn[1])
                await asyncio.sleep(0.05)
        watch.cancel()
        app.exit(0)

    app.run(auto_pilot=lambda pilot: drive())
    spread = lambda values: [
        round(1000 * sorted(values)[min(len(values) - 1, int(len(values) * q))], 2) for q in (0.5, 0.95, 1.0)
    ]
    (folder / "figures.json").write_text(
        json.dumps(
            {
                "seconds": seconds,
                "keys": len(keys),
                "key_ms": spread(keys),
                "key_cpu_ms": spread(cpus),
                "step_ms": spread(sorted(steps)[-1000:]),
                "lag_ms": spread(lags),
                **{name: round(value, 3) for name, value in shares.items()},
                "threads": threading.active_count(),
            }
        )
    )
    app.leave()
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float, nargs="?", default=10.0)
    parser.add_argument("--parts", type=int, default=0)
    print(json.dumps(measure(**vars(parser.parse_args())), indent=1))
