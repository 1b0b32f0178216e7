"""Loudspeakers and microphones by name and number. Loads PortAudio only when asked; opens nothing.

PortAudio comes inside the sounddevice package on macOS and is a system package on Linux. Its list of devices is made
when it starts; `refresh` makes it anew, which PortAudio allows only while no stream is open.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...errors import DeviceError

_lock = threading.Lock()
_ready: ModuleType | None = None  # the sounddevice module, once it has loaded
_keep: list[Any] = []  # a callback handed to C must outlive the call
_streams = 0  # open or being opened; PortAudio is one for the whole process, and so is this


@dataclass(frozen=True)
class Device:
    """One device as PortAudio lists it. `inputs` and `outputs` are channel counts; `default_rate` in Hz."""

    index: int
    name: str
    inputs: int
    outputs: int
    default_rate: float
    is_default_input: bool = False
    is_default_output: bool = False
    host: str = ""  # the system's sound interface: Core Audio, ALSA, JACK, ...


def sounddevice() -> Any:
    """The sounddevice module, or a DeviceError that names what to install."""
    global _ready
    with _lock:
        if _ready is None:
            _hush_alsa()
            try:
                import sounddevice as module
            except (OSError, ImportError) as error:
                raise DeviceError(_missing(error)) from None
            _ready = module
        return _ready


def list_devices(refresh: bool = False) -> list[Device]:
    """All devices. `refresh` looks for those plugged in since; while a stream is open the list stays as it was."""
    sd = sounddevice()
    with _lock:
        if refresh and not _streams:
            sd._terminate()
            sd._initialize()
    try:
        hosts = sd.query_hostapis()
        default_in, default_out = sd.default.device
        if default_in < 0 or default_out < 0:
            host = hosts[sd.default.hostapi] if hosts else {"default_input_device": -1, "default_output_device": -1}
            default_in = default_in if default_in >= 0 else host["default_input_device"]
            default_out = default_out if default_out >= 0 else host["default_output_device"]
        return [
            Device(
                entry["index"],
                entry["name"],
                entry["max_input_channels"],
                entry["max_output_channels"],
                entry["default_samplerate"],
                entry["index"] == default_in,
                entry["index"] == default_out,
                hosts[entry["hostapi"]]["name"],
            )
            for entry in sd.query_devices()
        ]
    except sd.PortAudioError as error:
        raise DeviceError(f"the system's sound devices cannot be listed: {error.args[0]}") from None


def stream_opens() -> None:
    """A stream is about to be opened: from now on the list must stay."""
    global _streams
    with _lock:
        _streams += 1


def stream_closed() -> None:
    global _streams
    with _lock:
        _streams -= 1


def find_output(query: int | str | None = None) -> Device:
    """The output device with this index or part of a name; None is the default. DeviceError if none or several fit."""
    return find(list_devices(), query, output=True)


def find_input(query: int | str | None = None) -> Device:
    """The input device with this index or part of a name; None is the default. DeviceError if none or several fit."""
    return find(list_devices(), query, output=False)


def find(devices: list[Device], query: int | str | None, output: bool) -> Device:
    """The choice itself, on any list. An exact name wins over a part; case does not matter."""
    kind = "output" if output else "input"
    able = [d for d in devices if (d.outputs if output else d.inputs) > 0]
    if not able:
        raise DeviceError(f"there is no {kind} device on this machine" + _nothing_hint(output))
    if query is None or query == "":
        for device in able:
            if device.is_default_output if output else device.is_default_input:
                return device
        raise DeviceError(f"the system has no default {kind} device; name one: {_names(able)}")
    if isinstance(query, int) or query.strip().isdecimal():
        for device in able:
            if device.index == int(query):
                return device
        raise DeviceError(f"{query} is no {kind} device; there are {_names(able)}")
    wanted = query.strip().casefold()
    fits = [d for d in able if d.name.casefold() == wanted] or [d for d in able if wanted in d.name.casefold()]
    if not fits:
        raise DeviceError(f"no {kind} device is called {query!r}; there are {_names(able)}")
    if len(fits) > 1:
        raise DeviceError(f"{query!r} fits several {kind} devices, take the number: {_names(fits)}")
    return fits[0]


def _names(devices: list[Device]) -> str:
    return ", ".join(f"{d.index} {d.name}" for d in devices)


def _nothing_hint(output: bool) -> str:
    if sys.platform == "darwin":
        return "; see System Settings > Sound"
    return "" if output else "; plug in a microphone, or use a recorded clip"


def _missing(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"the Python package sounddevice is not usable ({error}); pip install sounddevice"
    if sys.platform == "darwin":
        return "PortAudio is missing, though sounddevice brings it on macOS: pip install --force-reinstall sounddevice"
    return (
        "playing and recording need PortAudio: apt install libportaudio2 (Debian, Ubuntu), "
        "dnf install portaudio (Fedora), pacman -S portaudio (Arch)"
    )


def _hush_alsa() -> None:
    """ALSA reports every configured but absent card on stderr; in a terminal app that lands on the screen."""
    if sys.platform != "linux":
        return
    try:
        alsa = ctypes.CDLL("libasound.so.2")
    except OSError:
        return
    handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)(
        lambda *_: None
    )
    _keep.append(handler)
    alsa.snd_lib_error_set_handler(handler)
