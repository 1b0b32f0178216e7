"""What can go wrong, as the user should hear it.

Every error that a file, a text, a device or an option from outside can cause derives from `S2Error`; its message
is one line that says what is wrong and what to do next. The command prints it after `error: `.
"""

from __future__ import annotations

import errno


class S2Error(Exception):
    """Base of all expected errors. `exit_code` is what the command returns; `keeps_finished`: what was finished before
    it is whole, and of use."""

    exit_code = 1
    keeps_finished = False


class UsageError(S2Error):
    """The call itself makes no sense: contradicting options, a missing argument."""

    exit_code = 2


class ModelError(S2Error):
    """A model or tokenizer file that is absent, damaged, of another dialect, or does not fit in memory."""


class NotFiniteError(ModelError):
    """A model whose weights make values that are no numbers: what it says or hears with them would be noise."""

    def __init__(self, model: str):
        super().__init__(
            f"{model} computes values that are no numbers (NaN or infinity): the file is damaged or was converted "
            "wrongly; download or convert it again"
        )


class VoiceError(S2Error):
    """A voice file or name that cannot be used, or a voice made for another model."""


class AudioError(S2Error):
    """An audio file or clip that cannot be read, written or used as a reference."""


class DeviceError(S2Error):
    """A loudspeaker or microphone that is absent, vanished or refuses."""


class EarError(S2Error):
    """A recognizer that is absent, cannot be loaded, or does not know the language."""


class GenerationError(S2Error):
    """A request the model cannot serve, such as a prompt that leaves no room in the context."""


_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "this user's share of the disk is full",
    errno.EFBIG: "it would be larger than the limit of this shell (ulimit -f), or than any file on that disk",
}


def reason(fault: OSError | ValueError) -> str:
    """Why a file could not be read or written, as the user should hear it: without the file's name. A ValueError is a
    name that no file can have."""
    if isinstance(fault, OSError):
        return _REASONS.get(fault.errno or 0) or fault.strerror or str(fault) or type(fault).__name__
    return str(fault)
