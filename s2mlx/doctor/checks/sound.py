"""Loudspeaker and microphone, opened at their rates for a moment. Nothing sounds, and nothing heard is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ...audio import silence_hint
from ...audio.hardware.backend import Backend, RateRefused
from ...audio.hardware.devices import Device, list_devices
from ...audio.hardware.portaudio import PortAudio
from ...errors import DeviceError
from ..finding import NOTE, Finding, bad, good, note

RATE = 44100  # of the codec
_SECONDS = 0.6  # a microphone without permission gives exact zeros; so long it is listened to
_TOLD = "s2mlx devices lists them; say -a NAME and record --input NAME choose one"


def run(backend: Backend | None = None) -> Iterator[Finding]:
    backend = backend or PortAudio()
    try:
        devices = list_devices()
    except DeviceError as fault:
        yield note(f"no sound here: {fault}", "say -o FILE, voice add and the server work without")
        return
    yield _count(devices)
    yield from loudspeaker(backend)
    yield from microphone(backend)


def loudspeaker(backend: Backend) -> Iterator[Finding]:
    """A quarter of a second of silence."""
    try:
        device = backend.find_output(None)
    except DeviceError as fault:
        yield note(str(fault), "say -o FILE writes instead of playing")
        return
    rate, refused = float(RATE), False
    try:
        try:
            stream = backend.open_output(device, rate)
        except RateRefused:
            rate, refused = device.default_rate, True
            stream = backend.open_output(device, rate)
        try:
            began = backend.clock()
            stream.write(np.zeros(round(rate / 4), np.float32))
            taken = backend.clock() - began
        finally:
            stream.close()
    except DeviceError as fault:
        yield _named(bad(f"the loudspeaker: {fault}", _TOLD), device)
        return
    told = f"{device.name} plays at {rate:.0f} Hz"
    if refused:
        told += f" (not at {RATE}: sound is resampled)"
    yield _named(
        good(
            f"{told}, latency {stream.latency * 1e3:.0f} ms",
            rate=rate, default_rate=device.default_rate, latency=stream.latency, taken=taken, host=device.host,
            channels=device.outputs,
        ),
        device,
    )  # fmt: skip


def microphone(backend: Backend) -> Iterator[Finding]:
    try:
        device = backend.find_input(None)
    except DeviceError as fault:
        yield note(str(fault), "voice add takes a recorded clip")
        return
    try:
        stream = backend.open_input(device, device.default_rate)
        try:
            heard = _listen(backend, stream, device.default_rate)
        finally:
            stream.close()
    except DeviceError as fault:
        yield _named(bad(f"the microphone: {fault}", _TOLD), device)
        return
    figures = {"rate": device.default_rate, "seconds": len(heard) / device.default_rate, "host": device.host}
    if not len(heard):
        yield _named(bad(f"{device.name} gives no sound", _TOLD, **figures), device)
    elif not heard.any():
        yield _named(bad(f"{device.name} at {device.default_rate:.0f} Hz is silent", silence_hint(), **figures), device)
    else:
        level = 20 * np.log10(np.sqrt(np.mean(np.square(heard))) + 1e-9)
        text = f"{device.name} hears at {device.default_rate:.0f} Hz, {level:.0f} dBFS now"
        yield _named(good(text, level=float(level), **figures), device)


def _listen(backend: Backend, stream, rate: float) -> np.ndarray:
    pieces, wanted = [], round(_SECONDS * rate)
    end = time.monotonic() + 10 * _SECONDS
    while wanted > 0 and time.monotonic() < end:
        piece = stream.read()
        pieces.append(piece)
        wanted -= len(piece)
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def _count(devices: list[Device]) -> Finding:
    outputs, inputs = sum(d.outputs > 0 for d in devices), sum(d.inputs > 0 for d in devices)
    hosts = sorted({device.host for device in devices})
    text = f"PortAudio finds {outputs} outputs and {inputs} inputs" + (f" ({', '.join(hosts)})" if hosts else "")
    rates = sorted({device.default_rate for device in devices})
    found = good(text, outputs=outputs, inputs=inputs, hosts=hosts, rates=rates)
    return found if devices else Finding(NOTE, text, "", found.figures)


def _named(finding: Finding, device: Device) -> Finding:
    """The name of a device may be its owner's: "Anna's AirPods"."""
    return Finding(finding.state, finding.text, finding.todo, finding.figures, (device.name,))
