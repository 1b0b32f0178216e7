from .errors import AudioError as AudioError
from .errors import DeviceError as DeviceError
from .errors import GenerationError as GenerationError
from .errors import ModelError as ModelError
from .errors import S2Error as S2Error
from .errors import UsageError as UsageError
from .errors import VoiceError as VoiceError
from .options import Options as Options
from .results import Audio as Audio
from .results import AudioChunk as AudioChunk
from .results import Pass as Pass
from .results import Stats as Stats
from .speech_input import SpeechInput as SpeechInput
from .synthesizer import Synthesizer as Synthesizer
from .synthesizer import load as load
from .voices import Voice as Voice
from .voices import VoiceLibrary as VoiceLibrary

__version__: str
