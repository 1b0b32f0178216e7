"""Muon, an optimizer that learns matrices faster than AdamW: their momentum is made orthogonal before it is added.

After Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024); updates are scaled to the size
that AdamW's have (Liu et al., "Muon is scalable for LLM training", arXiv 2502.16982), so one rate serves both.
"""

import torch
from torch import nn

from .team import ALONE

# Coefficients of the rounds, each the best after those before (Amsel et al., "The Polar Express", arXiv 2505.16932).
ROUNDS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
)
ADAMW_SIZE = 0.2  # root mean square of AdamW's updates, as a share of the rate
SMALLEST = 8  # sides of a matrix


def orthogonal(m):
    """The matrix [n, m] with the same singular vectors and all singular values near 1."""
    tall = m.shape[0] > m.shape[1]
    x = m.T if tall else m
    x = x / (x.norm() * 1.02 + 1e-7)
    for a, b, c in ROUNDS:
        y = x @ x.T
        x = a * x + (b * y + c * y @ y) @ x
    return x.T if tall else x


class Muon(torch.optim.Optimizer):
    """For weights of two dimensions or more: the first against all others."""

    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.01, team=ALONE):
        super().__init__(parameters, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))
        self.team = team

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            learning = [p for p in group["params"] if p.grad is not None]
            matrices = [self.ahead(p, group["momentum"]).flatten(1) for p in learning]
            for p, update in zip(learning, self.team.shared(orthogonal, matrices)):
                size = ADAMW_SIZE * max(update.shape) ** 0.5
                p.mul_(1 - group["lr"] * group["weight_decay"]).add_(update.view_as(p), alpha=-group["lr"] * size)

    def ahead(self, p, momentum):
        """The gradient as its momentum foresees it (Nesterov)."""
        state = self.state[p]
        if not state:
            state["momentum"] = torch.zeros_like(p)
        return torch.lerp(p.grad, state["momentum"].lerp_(p.grad, 1 - momentum), momentum)


def optimizers(parameters, ends, lr, betas, weight_decay, team=ALONE):
    """-> [Muon of the matrices, AdamW of the rest]. ends: embeddings and outputs, which Muon is not for."""
    matrices, rest, ends = [], [], set(map(id, ends))
    for p in parameters:
        inner = p.ndim > 1 and min(p.shape[0], p[0].numel()) >= SMALLEST and id(p) not in ends
        (matrices if inner else rest).append(p)
    return [
        Muon(matrices, lr, weight_decay=weight_decay, team=team),
        torch.optim.AdamW(rest, lr=lr, betas=betas, weight_decay=weight_decay, fused=True),
    ]


def set_rate(optimizers, rate):
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate


def advance(optimizers, loss, parameters, longest, team=ALONE):
    """One step along the gradient of the loss, or of the mean of the team's losses. longest: what it is clipped to."""
    parameters = list(parameters)
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=True)
    loss.backward()
    team.average([p.grad for p in parameters if p.grad is not None])
    nn.utils.clip_grad_norm_(parameters, longest)
    for optimizer in optimizers:
        optimizer.step()


def states(optimizers):
    """What a file keeps of them."""
    return [optimizer.state_dict() for optimizer in optimizers]


def restore(optimizers, state):
    """From a file's state, if it has any: a kept checkpoint has none."""
    for optimizer, kept in zip(optimizers, state.get("optimizer", ())):
        optimizer.load_state_dict(kept)
