"""Keys that can do nothing at the moment say why, where their screen tells things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from textual.actions import ActionParseResult, parse
from textual.app import App
from textual.dom import DOMNode


@runtime_checkable
class Refusing(Protocol):
    """A screen or pane whose `check_action` refuses an action; `why_not` says why, or nothing where that is plain."""

    def why_not(self, action: str, parameters: tuple) -> str: ...


class TellingApp(App[int]):
    """Notices without markup, and a sentence for each key that is refused."""

    def notify(self, message: str, **options: Any) -> None:
        """A notice as Textual shows it, except that nothing in it is markup: it names files, devices, voices."""
        super().notify(message, **options | {"markup": False})

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """True also when there was a reason to tell: the key is answered then."""
        if await super().run_action(action, default_namespace, namespaces):
            return True
        node = default_namespace
        destination, name, parameters = parse(action) if isinstance(action, str) else action
        if destination or node is None or not isinstance(node, Refusing) or node.check_action(name, parameters):
            return False
        reason, say = node.why_not(name, parameters), getattr(node.screen, "say", None)
        if reason and say:
            say(reason)
        return bool(reason and say)
