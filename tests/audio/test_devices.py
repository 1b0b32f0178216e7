"""Choosing a device from a list, and what is said when there is no PortAudio."""

import builtins
import sys

import pytest

from s2mlx.audio.hardware import devices
from s2mlx.audio.hardware.devices import Device, find
from s2mlx.errors import DeviceError

LIST = [
    Device(0, "MacBook Pro Microphone", 1, 0, 48000.0, is_default_input=True),
    Device(1, "MacBook Pro Speakers", 0, 2, 48000.0, is_default_output=True),
    Device(2, "USB Audio", 2, 2, 44100.0),
    Device(3, "USB Audio Pro", 2, 2, 44100.0),
    Device(7, "Café Ångström", 0, 2, 44100.0),
]


@pytest.mark.parametrize(
    "query,output,index",
    [
        (None, True, 1),
        (None, False, 0),
        ("", True, 1),
        (2, True, 2),
        ("2", False, 2),
        ("speak", True, 1),
        ("usb audio", True, 2),
        ("USB AUDIO PRO", True, 3),
        (" pro mic", False, 0),
        ("CAFÉ", True, 7),
    ],
)
def test_find(query, output, index):
    assert find(LIST, query, output).index == index


@pytest.mark.parametrize(
    "query,output,words",
    [
        ("usb", True, ["several", "2 USB Audio", "3 USB Audio Pro"]),
        ("pro", False, ["several", "0 MacBook", "3 USB"]),
        ("headphones", True, ["no output device", "1 MacBook Pro Speakers"]),
        ("speakers", False, ["no input device", "0 MacBook Pro Microphone"]),  # it exists, but cannot record
        (0, True, ["no output device"]),
        ("99", True, ["99"]),
        (-1, True, ["-1"]),
    ],
)
def test_no_or_several(query, output, words):
    with pytest.raises(DeviceError) as caught:
        find(LIST, query, output)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_nothing_there():
    with pytest.raises(DeviceError, match="no output device"):
        find(LIST[:1], None, output=True)
    with pytest.raises(DeviceError, match="no default input"):
        find(LIST[2:], None, output=False)


def break_import(monkeypatch, error):
    real = builtins.__import__

    def importing(name, *arguments, **keywords):
        if name == "sounddevice":
            raise error
        return real(name, *arguments, **keywords)

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(devices, "_ready", None)
    monkeypatch.setattr(builtins, "__import__", importing)


def test_missing_portaudio_names_the_package(monkeypatch):
    break_import(monkeypatch, OSError("PortAudio library not found"))
    monkeypatch.setattr(devices.sys, "platform", "linux")
    with pytest.raises(DeviceError, match="libportaudio2"):
        devices.list_devices()
    monkeypatch.setattr(devices.sys, "platform", "darwin")
    with pytest.raises(DeviceError, match="sounddevice"):
        devices.find_output()


def test_missing_sounddevice(monkeypatch):
    break_import(monkeypatch, ModuleNotFoundError("No module named 'sounddevice'"))
    with pytest.raises(DeviceError, match="pip install sounddevice"):
        devices.list_devices()


def test_nothing_heavy_is_imported_by_the_modules_themselves():
    import subprocess

    code = (
        "import sys, s2mlx.audio.play.player, s2mlx.audio.microphone, s2mlx.audio.reader"
        ", s2mlx.audio.hardware.devices\n"
        "print([m for m in ('sounddevice', 'soundfile', 'soxr', 'mlx') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
