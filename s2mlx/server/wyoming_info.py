"""What a client of Wyoming is told of this server: its model, its voices, the languages they speak."""

from __future__ import annotations

from wyoming.info import Attribution, Info, TtsProgram, TtsVoice

from .. import __version__
from .service import Service

DEFAULT_VOICE = "default"  # who speaks for clients that name nobody; Home Assistant lets nobody speak without a name
_ENGINE = Attribution("s2mlx", "")
_FISH_AUDIO = Attribution("Fish Audio", "https://huggingface.co/fishaudio/s2-pro")


def info(service: Service) -> Info:
    """Looks at the files of the voices, so that one saved a moment ago is among them."""
    by = _ENGINE if service.tts.is_demo else _FISH_AUDIO
    languages = list(service.tts.config.languages)
    voices = {name: name for name in service.voice_names()}
    voices.setdefault(DEFAULT_VOICE, "the server's choice")
    return Info(
        tts=[
            TtsProgram(
                name="s2mlx",
                attribution=_ENGINE,
                installed=True,
                description=f"s2mlx with {service.name}",
                version=__version__,
                supports_synthesize_streaming=True,
                voices=[
                    TtsVoice(
                        name=name,
                        attribution=by,
                        installed=True,
                        description=description,
                        version=None,
                        languages=languages,
                    )
                    for name, description in voices.items()
                ],
            )
        ]
    )
