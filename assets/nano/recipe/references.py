"""Stage `references`: what references of people sound like to the model: other voices, speaking freely, encoded.

A session is one voice with one pitch, tempo, size and noise saying a few sentences one after the other. It goes through
the encoder as a whole, so its codes carry the encoder's own mistakes: other tempo, wrong phones, wavering speaker.
"""

import subprocess
import tempfile

import numpy as np
import soundfile
import torch
from scipy.signal import resample_poly
from tokenizers import Tokenizer

from . import config, speakers, teacher, text
from .prompts import Heard
from .vocoder import FRAME, RATE

SESSIONS = config.size(300, 12)
VALIDATION = config.size(30, 4)  # the last sessions
LONGEST = 24.0  # seconds of speech in a session
FLITE = {"slt": (150, 240), "awb": (80, 180), "kal16": (75, 170), "rms": (75, 180)}  # voice: pitches in Hz
ESPEAK = ["en-us", "en-gb", "en-us+f1", "en-us+f2", "en-us+f4", "en-us+m1", "en-us+m2", "en-us+m4", "en-us+m7"]
SEED = 31


class Maker:
    """Draws a voice and its way of speaking, then says sentences with it."""

    def __init__(self, rng):
        self.rng = rng
        self.size = np.exp(rng.uniform(-0.13, 0.13))  # played faster: a smaller speaker with a higher pitch
        self.tempo = rng.uniform(0.85, 1.3) * self.size  # longer sounds for larger numbers, whatever the size
        self.pause = rng.uniform(0.05, 0.6)
        self.gain = 0.25 * np.exp(rng.uniform(-1.2, 0.9))
        self.noise = np.exp(rng.uniform(-9.5, -5.3))
        self.colour = rng.uniform(-0.5, 0.5) if rng.random() < 0.4 else 0.0
        if rng.random() < 0.15:  # the teacher itself, which has one voice
            self.command = None
        elif rng.random() < 0.2:
            self.command = ["espeak-ng", "-v", str(rng.choice(ESPEAK)), "-p", str(rng.integers(15, 85))]
            self.command += ["-s", str(int(165 / self.tempo)), "-w"]
        else:
            voice = str(rng.choice(list(FLITE)))
            low, high = np.log(FLITE[voice])
            self.command = ["flite", "-voice", voice, "--setf", f"duration_stretch={self.tempo:.3f}"]
            self.command += ["--setf", f"int_f0_target_mean={np.exp(rng.uniform(low, high)) / self.size:.1f}", "-o"]

    def say(self, sentence):
        """-> float [samples] at RATE, without the silence around it"""
        if self.command is None:
            samples, rate = teacher.speak(sentence)[1], teacher.RATE
        else:
            samples, rate = self.ran(sentence)
        samples = resample_poly(samples, RATE // 50, int(round(rate * self.size / 50)))
        loud = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max())
        return samples[max(0, loud[0] - 400) : loud[-1] + 800]

    def ran(self, sentence):
        with tempfile.NamedTemporaryFile(suffix=".wav") as wav:
            command = [*self.command, wav.name]
            subprocess.run([*command, "-t", sentence] if command[0] == "flite" else [*command, sentence], check=True)
            return soundfile.read(wav.name)

    def session(self, sentences):
        """-> float32 [samples] of the sentences that fit, and where each ends"""
        parts, ends = [np.zeros(int(self.rng.uniform(0, 0.4) * RATE))], []
        for sentence in sentences:
            gap = np.zeros(int(self.rng.uniform(0.5, 1.5) * self.pause * RATE))
            parts += [self.say(sentence), gap]
            ends.append(sum(map(len, parts)) - len(gap) // 2)
            if ends[-1] > LONGEST * RATE:
                break
        x = np.concatenate(parts)
        x = x / np.sqrt(np.mean(x**2)) * self.gain * 0.4
        x = x + self.colour * np.concatenate([[0], x[:-1]])
        return np.clip(x + self.rng.standard_normal(len(x)) * self.noise, -1, 1).astype(np.float32), ends


def run():
    from .export import load

    torch.set_num_threads(1)
    rng = np.random.default_rng(SEED)
    tokenizer = Tokenizer.from_file(str(config.work("tokenizer.json")))
    codec = load()[1]
    writer = text.Writer(SEED, [w for w in text.common_words(15000) if text.decent(w)][:5000])
    tokens, frames, token_ends, frame_ends, sessions, steady = [], [], [], [], [], []
    for i in range(SESSIONS):
        sentences = [text.long_sentence(writer) if rng.random() < 0.2 else writer.sentence() for _ in range(14)]
        wave, ends = Maker(rng).session(sentences)
        with torch.no_grad():
            heard = codec.encode(torch.from_numpy(wave)[None, None])[0].numpy()
        heard[1] %= speakers.COUNT
        edges = np.minimum(np.round(np.array(ends) / FRAME).astype(int), heard.shape[1])
        said = [tokenizer.encode(s, add_special_tokens=False).ids for s in sentences[: len(ends)]]
        tokens += said
        frames.append(heard[:, : edges[-1]])
        token_ends += list(map(len, said))
        frame_ends += np.diff(edges, prepend=0).tolist()
        sessions.append(len(ends))
        steady.append(np.bincount(speakers.parts(heard[1])[2]).max() / heard.shape[1])
        if (i + 1) % 50 == 0:
            print(f"session {i + 1}/{SESSIONS}", flush=True)
    np.savez(
        config.work("references.npz"),
        tokens=np.concatenate(tokens).astype(np.int16),
        token_ends=np.cumsum(token_ends),
        codes=np.concatenate(frames, 1).astype(np.int16),
        frame_ends=np.cumsum(frame_ends),
        sessions=np.cumsum(sessions),
    )
    config.note("references", sessions=SESSIONS, frames=int(sum(frame_ends)), one_size=round(float(np.mean(steady)), 3))


def load():
    """-> list of sessions, each a list of `Heard`, one a sentence"""
    z = np.load(config.work("references.npz"))
    tokens, frames = z["tokens"].astype(np.int64), z["codes"].astype(np.int64)
    token_at, frame_at = (np.concatenate([[0], z[name]]) for name in ("token_ends", "frame_ends"))
    said = [
        Heard(tokens[token_at[i] : token_at[i + 1]], frames[:, frame_at[i] : frame_at[i + 1]])
        for i in range(len(token_at) - 1)
    ]
    return [said[a:b] for a, b in zip([0, *z["sessions"][:-1]], z["sessions"])]


if __name__ == "__main__":
    run()
