"""Passes that are handed out while they are spoken: none is lost, whenever it comes."""

from s2mlx.request.assigned import AssignedPasses
from s2mlx.request.passes import PlannedPass

PASS = PlannedPass(0, "Hello.", (0, 6), False, None)


def test_what_comes_while_it_looks_is_found_though_the_end_came_too():
    class Late(AssignedPasses):
        def look(self):
            super().look()
            if not self._ended:
                self.add([PASS])
                self.end()

    source, woken = Late(1), []
    wait = source.hurry()
    assert wait is not None
    wait.subscribe(lambda: woken.append(True))
    assert woken and source.hurry() is None and list(source.known) == [PASS]


def test_it_waits_until_it_is_told():
    source, woken = AssignedPasses(2), []
    source.hurry().subscribe(lambda: woken.append("pass"))
    assert not woken
    source.add([PASS])
    assert woken == ["pass"] and source.hurry() is None and source.known.popleft() == PASS
    source.hurry().subscribe(lambda: woken.append("end"))
    source.end()
    assert woken == ["pass", "end"] and source.hurry() is None and not source.known
