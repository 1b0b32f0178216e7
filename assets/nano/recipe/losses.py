"""How far a waveform is from the locked target."""

import math

import torch

from .vocoder import RATE

RESOLUTIONS = ((1024, 256, 80), (512, 128, 60), (128, 32, 24))  # window, hop, mel bands
FLOOR = 1e-3


def mel_filters(n_fft, bands, rate=RATE, top=RATE / 2):
    """-> [bands, n_fft // 2 + 1], rows sum to 1"""
    mel = torch.linspace(0, 2595 * math.log10(1 + top / 700), bands + 2)
    hz = 700 * (10 ** (mel / 2595) - 1)
    bins = torch.linspace(0, rate / 2, n_fft // 2 + 1)
    low, mid, high = hz[:-2, None], hz[1:-1, None], hz[2:, None]
    w = torch.minimum((bins - low) / (mid - low), (high - bins) / (high - mid)).clamp(min=0)
    return w / (w.sum(1, keepdim=True) + 1e-8)


class SpectralDistance:
    """Terms log (magnitudes), mel, complex (relative to the target's mean per bin), wave; and the SNR in dB."""

    def __init__(self, examples):
        self.window = {n: torch.hann_window(n) for n, _, _ in RESOLUTIONS}
        self.mel = {n: mel_filters(n, m) for n, _, m in RESOLUTIONS}
        self.typical = {}
        for n, hop, _ in RESOLUTIONS:
            mean = self.transform(examples, n, hop).abs().mean((0, 2))[None, :, None]
            self.typical[n] = mean.clamp(min=0.012 * float(mean.max()))

    def transform(self, x, n, hop):
        return torch.stft(x, n, hop, window=self.window[n], return_complex=True)

    def __call__(self, y, x):
        terms = dict(log=0.0, mel=0.0, complex=0.0)
        for n, hop, _ in RESOLUTIONS:
            a, b = self.transform(y, n, hop), self.transform(x, n, hop)
            floor, d = FLOOR * math.sqrt(n), a - b
            magnitude = torch.sqrt(a.real.square() + a.imag.square() + 1e-9)
            target = b.abs()
            terms["complex"] += (torch.sqrt(d.real.square() + d.imag.square() + 1e-9) / self.typical[n]).mean() / 3
            terms["log"] += (torch.log(magnitude + floor) - torch.log(target + floor)).abs().mean() / 3
            terms["mel"] += (
                torch.log(self.mel[n] @ magnitude + floor) - torch.log(self.mel[n] @ target + floor)
            ).abs().mean() / 3
        terms["wave"] = (y - x).abs().mean()
        terms["snr"] = 10 * torch.log10(x.square().mean() / ((x - y).square().mean() + 1e-12)).detach()
        return terms
