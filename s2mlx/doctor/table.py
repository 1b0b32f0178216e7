"""The checks in their order. A check is a module with `run()`, which yields findings as it comes to them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """name: what `--only` takes. seconds: when it is ended, because it hangs; on a busy machine later. module: None is
    `checks.NAME`."""

    name: str
    title: str
    seconds: float
    module: str | None = None

    @property
    def path(self) -> str:
        return self.module or f"{__package__}.checks.{self.name}"


CHECKS = (
    Check("machine", "the machine", 20),
    Check("arithmetic", "MLX's arithmetic", 40),
    Check("formats", "the formats of model files", 40),
    Check("kernels", "our Metal kernels, against plain MLX", 90),
    Check("pace", "how fast they read", 60),
    Check("frame", "a frame of S2 Pro's widths", 90),
    Check("speaking", "text to sound and back", 80),
    Check("sound", "loudspeaker and microphone", 30),
    Check("converter", "m4a files", 30),
    Check("folders", "disk, folders and settings", 20),
)
