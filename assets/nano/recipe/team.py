"""Training on several cores: each process draws pieces of its own, and all take the same steps."""

import tempfile
from pathlib import Path

import torch
from torch import distributed, multiprocessing


class Team:
    """The processes that train one network together, each with a copy of it."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def average(self, tensors):
        self.sum(tensors, self.size)

    def sum(self, tensors, divisor=1):
        """Each tensor becomes its sum over the processes, divided."""
        if self.size > 1:
            flat = torch.cat([t.flatten() for t in tensors])
            distributed.all_reduce(flat)
            for t, total in zip(tensors, flat.div_(divisor).split([t.numel() for t in tensors])):
                t.copy_(total.view_as(t))

    def shared(self, work, matrices):
        """[work(m) of every matrix], each computed in one process. work keeps the shape."""
        by_size = sorted(range(len(matrices)), key=lambda i: -matrices[i].numel())
        mine = set(by_size[self.rank :: self.size])
        done = [work(m) if i in mine else torch.zeros_like(m) for i, m in enumerate(matrices)]
        self.sum(done)
        return done


ALONE = Team(0, 1)


def together(train, processes, *arguments):
    """Run train(team, *arguments) in each process, with one thread each."""
    if processes == 1:
        torch.set_num_threads(1)
        train(ALONE, *arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(member, (processes, str(Path(folder, "meeting")), train, arguments), processes)


def member(rank, size, meeting, train, arguments):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=size)
    train(Team(rank, size), *arguments)
    distributed.destroy_process_group()
