"""What the main screen hears: sound under way, drawn and counted as it is made and played."""

from __future__ import annotations

from s2mlx.results import CANCELLED, LENGTH

from ..jobs import Job
from ..speaking.utterance import Listening, Sounding, Speaking, SpeechFrames, SpeechMade, SpeechUnheard
from ..widgets.status_line import Figures, slow_advice
from .saving import Saving, Sound


class Hearing(Saving):
    """A part of the main screen."""

    def action_replay(self, begin: float = 0.0) -> None:
        if self.made is None or not self.made.samples:
            self.status.say("nothing to replay yet: ^s speaks the text")
            return
        self.listen(self.made.whole(), self.made.rate, begin)

    def listen(self, samples, rate: int, begin: float = 0.0, what: str = "replaying") -> None:
        """Play samples float32 [n] from `begin` seconds on."""
        self.silence()
        self.wave.show(samples, rate)
        rest = samples[int(begin * rate) :]
        self._sound(Listening(rest, lambda: self.app.open_player(rate), begin), what)

    def action_save(self) -> None:
        """Speech that is still being made is saved when it is complete."""
        if self.made is None or not self.made.samples:
            self.status.say("nothing to save yet: ^s speaks the text")
            return
        speaking = self.latest

        def sound(job: Job) -> Sound:
            if not speaking.ended.is_set():
                job.report(None, "the file is written when the speech is complete")
            made = speaking.complete(job)
            return Sound(made.whole(), made.rate, made.all_codes(), made.finish_reason == CANCELLED)

        self.save_sound(speaking.request.text, sound, codes=True)

    def action_pause(self) -> None:
        """Hold the sound where it is, or go on; making goes on meanwhile."""
        player = self.sounding.player if self.sounding else None
        if player is None:
            return
        if player.paused:
            player.resume()
            self.status.say(self._doing)
        else:
            player.pause()
            self.status.say("paused: F2 goes on, esc stops")

    def silence(self) -> None:
        """Stop whatever sounds, now."""
        if self.sounding:
            self.sounding.stop()
            self._ended(self.sounding)

    def _sound(self, sounding: Sounding, state: str) -> None:
        self.sounding, self._doing = sounding, state
        self._offset = getattr(sounding, "begin", 0.0)
        sounding.job = self.app.jobs.start(
            "sound",
            sounding.run,
            done=lambda result: self._ended(sounding),
            failed=lambda error: self._sound_failed(sounding, error),
            progressed=lambda share, note: self.status.say(f"{note}  esc cancels"),
        )
        self.status.say(state)
        self._ticking.resume()
        self.allow()

    def _sound_failed(self, sounding: Sounding, error: BaseException) -> None:
        if sounding is self.sounding:
            self._ended(sounding)
            self.app.complain(error)

    def _ended(self, sounding: Sounding) -> None:
        if sounding is not self.sounding:
            return
        self.sounding = None
        self._ticking.pause()
        self.wave.complete()
        self.wave.play_at(None)
        self.editor.mark(None)
        if self.status.state.startswith(("making", "speaking", "replaying", "listening", "paused")):
            unheard = sounding.unheard if isinstance(sounding, Speaking) else None
            self.status.say(f"made, unheard (^o saves it): {self.app.explain(unheard)}" if unheard else "ready")
        self.show_figures()
        self.allow()

    def tick(self) -> None:
        """Look at the player and draw what is heard now."""
        player = self.sounding.player if self.sounding else None
        if player is None:
            return
        heard, lead = player.position, player.lead
        position = self._offset + heard
        buffering = isinstance(self.sounding, Speaking) and heard == 0 and lead > 0
        self.wave.play_at(
            position, f"buffering {lead:.1f} of {player.prebuffer:.1f} s" if buffering else f"buffer {lead:.1f} s"
        )
        if (
            self.follower
            and self.made
            and self.made.request.text == self.editor.text
            and heard > 0
            and self.wave.envelope.seconds >= position
        ):
            self.editor.mark(self.follower.at(position))
        self.show_figures(lead, player.underruns)

    def on_speech_frames(self, event: SpeechFrames) -> None:
        if event.speaking is not self.latest:
            return
        chunk = event.chunk
        self.made.add(chunk)
        self.wave.extend(chunk.samples)
        self.follower = event.speaking.follower
        self.follower.heard(
            chunk.part, chunk.span, len(chunk.samples) / chunk.sample_rate, chunk.finish_reason is not None
        )
        if event.speaking is not self.sounding:
            return
        player, unheard, pace = event.speaking.player, event.speaking.unheard, self.made.pace
        part = f", part {chunk.part + 1} of {chunk.parts}" if chunk.parts > 1 else ""
        doing = self._making_unheard(unheard, part) if unheard else f"speaking{part}"
        if pace and pace > 1 and not unheard:
            doing += f": {slow_advice(pace)}"
        self._doing = doing
        if not (player and player.paused):
            self.status.say(doing)
        if player is None:
            self.show_figures()

    def on_speech_made(self, event: SpeechMade) -> None:
        made = event.made
        self.app.remember(made)
        if event.speaking is not self.latest:
            return
        self.made = made
        self.wave.complete(made.whole())
        self.show_figures()
        self.allow()
        if made.finish_reason == LENGTH:
            self.status.say(
                f"the limit of {made.stats.frames} frames ended the speech, not the model: raise max frames in the "
                "settings, ^g"
            )
        elif not made.stats.frames and made.finish_reason != CANCELLED:
            self.status.say(
                "the model ended the speech at once: try another seed, or min frames 20 in the settings, ^g"
            )

    def on_speech_unheard(self, event: SpeechUnheard) -> None:
        if event.speaking is self.sounding:
            self.status.say(self._making_unheard(event.error))

    def _making_unheard(self, why: Exception, part: str = "") -> str:
        return f"making it, unheard{part} (^o saves it): {self.app.explain(why)}"

    def show_figures(self, lead: float | None = None, gaps: int = 0) -> None:
        engine, stats = self.app.room.engine, self.made.stats if self.made else None
        memory = max(stats.peak_memory if stats else 0, engine.memory if engine else 0) or None
        some = stats is not None and stats.frames > 0
        pace = self.made.pace if some else None
        whole = stats.rtf if some and self.latest.ended.is_set() else None  # for what is too short to have a pace
        self.status.show(
            Figures(
                stats.first_audio if some else None,
                whole if pace is None else pace,
                pace is not None,
                stats.frames if some else 0,
                lead,
                gaps,
                memory,
                engine.name if engine else "",
                self._device(),
            )
        )

    def _device(self) -> str:
        player = self.sounding.player if self.sounding else None
        return (player.device_name if player else None) or self.app.settings.output or "default output"
