"""Prints the gates' figures, measured on the shipped files through the product's own command.

    python -m recipe.evaluate [GATE ...] [--model FILE] [--seed N] [--texts N] [--voices slt,rms] [--short]

Gates: speech longer harder run_on rare voices vocoder codec speaker outside speed clones empty pitch contour.
Run in assets/nano with the recipe's requirements and s2mlx installed; its command must be on the PATH (or named by
S2MLX). Gates that need a reference clip make it with flite. Those that need the teacher (vocoder codec speaker
pitch contour) read its tables from a work folder that a training or `recipe.checkpoint restore` has filled.
--model: another GGUF file than the shipped one, to set its figures beside these; a tokenizer.json lies beside it.
--seed: of the sentences (1). --texts: how many texts each clone says (6). --voices: flite's that are cloned (all
four). --short: three sentences for "speech" alone.
"""

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile
from tokenizers import Tokenizer

from . import asr, config, evaluate_clones, evaluate_pitch, speakers, teacher, vocoder
from .held_out import EVERYDAY, HARDER, LONGER, RARE, RUN_ON
from .said import utterance

COMMAND = os.environ.get("S2MLX") or shutil.which("s2mlx") or "s2mlx"
MODEL = config.SHIPPED / "s2-nano.gguf"
SEED = 1
TEXTS = 6  # that each clone says


def product(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"s2mlx {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def say(text, out, *more):
    """-> samples, rate, the command's JSON"""
    facts = json.loads(product("say", "-m", MODEL, "--json", "--quiet", "--seed", SEED, "-o", out, *more, text))
    samples, rate = soundfile.read(out)
    return samples, rate, facts


@functools.cache
def synthesizer():
    """The model, loaded once for all gates that say many short texts."""
    import s2mlx

    return s2mlx.load(MODEL)


def report(gate, **figures):
    print(json.dumps(dict(gate=gate, **figures)), flush=True)


def spoken(gate, sentences, voice=None):
    """Say them all; WER, how each ended, and how many lost or gained three words or more in a row."""
    heard, ends, broken = [], [], []
    for text in sentences:
        audio = synthesizer().say(text, voice=voice, seed=SEED)
        heard.append(asr.hear(audio.samples, audio.sample_rate))
        ends.append(audio.finish_reason == "stop")
        longest = longest_run(asr.words(text), asr.words(heard[-1]))
        if longest >= 3:
            broken.append(text)
    for text, h in zip(sentences, heard):
        if asr.words(text) != asr.words(h):
            print(f"    {text}\n      {h}")
    report(
        gate,
        sentences=len(sentences),
        wer=round(asr.word_error_rate(sentences, heard), 3),
        stopped=sum(ends),
        skips_or_repeats=len(broken),
    )
    return asr.word_error_rate(sentences, heard), all(ends)


def longest_run(wanted, heard):
    """The longest run of words that are only in one of the two."""
    import difflib

    runs = [
        abs((j - i) - (n - m))
        for tag, i, j, m, n in difflib.SequenceMatcher(None, wanted, heard, False).get_opcodes()
        if tag != "equal"
    ]
    return max(runs, default=0)


def speech(folder):
    spoken("speech", EVERYDAY)


def longer(folder):
    spoken("longer", LONGER)


def harder(folder):
    spoken("harder", HARDER)


def run_on(folder):
    spoken("run_on", RUN_ON)


def rare(folder):
    """Words that are rare: how many of them are heard."""
    missed = []
    for text, word in RARE.items():
        audio = synthesizer().say(text, seed=SEED)
        heard = asr.words(asr.hear(audio.samples, audio.sample_rate))
        if word not in heard:
            missed.append(f"{word}: {' '.join(heard)}")
    report("rare", words=len(RARE), heard=len(RARE) - len(missed), missed=missed)


def voices(folder):
    for path in sorted(config.SHIPPED.glob("*.s2voice")):
        spoken(f"voice {path.stem}", EVERYDAY[:10], path)


def locked(text, speaker):
    """-> the teacher on the frame grid in a speaker's voice, and its entries of book 1"""
    features, moved = utterance(text)[2:]
    spoken = speakers.spoken(moved, speaker)
    return speakers.sound(features, spoken), spoken


def vocoder_gate(folder):
    for name, sentences in (("everyday", EVERYDAY), ("harder", HARDER)):
        for who in ("clara", "marcus"):
            heard = [asr.hear(locked(t, speakers.SHIPPED[who])[0], vocoder.RATE) for t in sentences]
            report("vocoder", sentences=name, speaker=who, wer=round(asr.word_error_rate(sentences, heard), 3))


def codec(folder):
    """Locked speech through `encode` and `decode`."""
    for name, sentences in (("everyday", EVERYDAY[:20]), ("harder", HARDER)):
        for who in ("clara", "marcus"):
            heard, pitch, size = [], [], []
            for text in sentences:
                clip, codes, out = folder / "clip.wav", folder / "clip.npy", folder / "back.wav"
                wave, spoken = locked(text, speakers.SHIPPED[who])
                soundfile.write(clip, wave, vocoder.RATE)
                product("encode", clip, "-o", codes, "-m", MODEL)
                product("decode", codes, "-o", out, "-m", MODEL)
                named, true = speakers.parts(np.load(codes)[1][: len(spoken)]), speakers.parts(spoken)
                pitch.append(np.mean(np.abs(named[0] - true[0]) <= 1))
                size.append(np.mean(named[2] == true[2]))
                heard.append(asr.hear(*soundfile.read(out)))
            report(
                "codec",
                sentences=name,
                speaker=who,
                pitch_right=round(float(np.mean(pitch)), 3),
                size_right=round(float(np.mean(size)), 3),
                wer=round(asr.word_error_rate(sentences, heard), 3),
            )


def middle_pitch(samples, rate):
    """The median pitch of the sound in Hz."""
    f0 = teacher.measure(samples, rate)
    return float(np.median(f0[f0 > 0])) if (f0 > 0).any() else 0.0


def speaker(folder, pairs=40):
    """References of all pitches and sizes; the pitch is measured in the sound, the size is named by the codes."""
    rng = np.random.default_rng(7)
    apart, side = [], 0
    heard, wanted = [], []
    for _ in range(pairs):
        who, ref, text = speakers.draw(rng), EVERYDAY[rng.integers(25)], EVERYDAY[25 + rng.integers(25)]
        clip, codes = folder / "ref.wav", folder / "ref.npy"
        soundfile.write(clip, locked(ref, who)[0], vocoder.RATE)
        samples, rate, _ = say(text, folder / "out.wav", "--ref", clip, "--ref-text", ref, "--codes", codes)
        apart.append(abs(12 * np.log2(max(1.0, middle_pitch(samples, rate)) / who.hertz)))
        named = speakers.FORMANTS[speakers.heard(np.load(codes)[1]).size]
        side += (named > speakers.MIDDLE) == (who.formant > speakers.MIDDLE)
        heard.append(asr.hear(samples, rate))
        wanted.append(text)
    report(
        "speaker",
        pairs=pairs,
        semitones_apart=round(float(np.median(apart)), 2),
        within_2_semitones=float(np.mean(np.array(apart) <= 2)),
        size_side=side / pairs,
        wer=round(asr.word_error_rate(wanted, heard), 3),
    )


def outside(folder):
    """References that the model did not make: voices of espeak-ng and flite."""
    ref = "Please put the small green bottle on the kitchen table."
    makers = {
        f"espeak-ng {v}": ["espeak-ng", "-v", v, "-s", "145", "-w", "CLIP", ref]
        for v in ("en-us", "en-us+f3", "en-us+m3")
    }
    makers |= {f"flite {v}": ["flite", "-voice", v, "-t", ref, "-o", "CLIP"] for v in ("slt", "awb", "kal16", "rms")}
    for name, command in makers.items():
        clip, codes = str(folder / "outside.wav"), folder / "outside.npy"
        subprocess.run([clip if c == "CLIP" else c for c in command], check=True)
        heard, pitches = [], []
        for text in EVERYDAY[:6]:
            samples, rate, _ = say(text, folder / "out.wav", "--ref", clip, "--ref-text", ref, "--codes", codes)
            heard.append(asr.hear(samples, rate))
            pitches.append(middle_pitch(samples, rate))
        report(
            "outside",
            reference=name,
            clip_hertz=round(middle_pitch(*soundfile.read(clip))),
            spoken_hertz=round(float(np.median(pitches))),
            size=speakers.heard(np.load(codes)[1]).formant,
            wer=round(asr.word_error_rate(EVERYDAY[:6], heard), 3),
        )


def speed(folder):
    """From a cold start, and of a model that has spoken before ("warm"): the best of a few. The whole command once."""
    loading = []
    for _ in range(5):
        begun = time.process_time()
        Tokenizer.from_file(str(MODEL.with_name("tokenizer.json")))
        loading.append(time.process_time() - begun)
    runs = [say(LONGER[0], folder / "speed.wav")[2] for _ in range(3)]
    best = min(runs, key=lambda r: r["rtf"])
    warm = [synthesizer().say(LONGER[0], seed=SEED).stats for _ in range(4)][1:]
    begun = time.perf_counter()
    say("Hello there.", folder / "speed.wav")
    whole = time.perf_counter() - begun  # more than the time to first audio from a cold start
    report(
        "speed",
        rtf=round(best["rtf"], 3),
        time_to_first_audio=round(min(r["time_to_first_audio"] for r in runs), 3),
        load_seconds=round(min(r["load_seconds"] for r in runs), 3),
        whole_command=round(whole, 2),
        warm_rtf=round(min(s.rtf for s in warm), 3),
        warm_time_to_first_audio=round(min(s.first_audio for s in warm), 3),
        tokenizer_cpu_seconds=round(min(loading), 2),
    )


def loaded(gate, *arguments):
    """A gate that keeps the model loaded: many short requests."""

    def run(folder):
        gate(synthesizer(), report, *arguments)

    return run


GATES = dict(
    speech=speech,
    longer=longer,
    harder=harder,
    run_on=run_on,
    rare=rare,
    voices=voices,
    vocoder=vocoder_gate,
    codec=codec,
    speaker=speaker,
    outside=outside,
    speed=speed,
    clones=loaded(evaluate_clones.clones, TEXTS),
    empty=loaded(evaluate_clones.empty),
    pitch=loaded(evaluate_pitch.pitch),
    contour=loaded(evaluate_pitch.contour),
)


def main(arguments):
    global MODEL, SEED
    parser = argparse.ArgumentParser(prog="python -m recipe.evaluate")
    parser.add_argument("gates", nargs="*", metavar="GATE")
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--seed", type=int, default=SEED, help="of the sentences; clones and pitch have their own")
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--voices", type=lambda names: names.split(","), default=evaluate_clones.VOICES)
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args(arguments)
    if unknown := set(args.gates) - set(GATES):
        parser.error(f"no gate {', '.join(sorted(unknown))}; there are {', '.join(GATES)}")
    MODEL, SEED = args.model, args.seed
    gates = GATES | {"clones": loaded(evaluate_clones.clones, args.texts, args.voices)}
    with tempfile.TemporaryDirectory() as folder:
        if args.short:
            wer, ended = spoken("speech", EVERYDAY[3:6])
            return 0 if ended and wer <= 0.3 else 1
        for name in args.gates or gates:
            gates[name](Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
