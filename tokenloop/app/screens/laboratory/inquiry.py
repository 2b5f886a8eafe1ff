"""A view's question to the loop: one in flight at most, the newest wish next, late answers dropped.

No Textual in here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from tokenloop.records import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop.app.conductor import Conductor
    from tokenloop.app.engine import Engine

A = TypeVar("A", bound=Answer)


class Inquiry(Generic[A]):
    """Keeps one question answered.

    Args:
        conductor: carries questions to the loop and knows its last answer.
        what: the question's name, for people.
        kind: the record that answers it.

    Attributes:
        answer: the last one that was wanted; ``None`` before the first.
    """

    def __init__(self, conductor: Conductor, what: str, kind: type[A]) -> None:
        self._conductor = conductor
        self._what = what
        self._kind = kind
        self._wish: object = None
        self._put: Callable[[Engine], int] | None = None
        self._settled: object = None
        self._asked: object = None
        self._request: int | None = None
        self.answer: A | None = None

    @property
    def waiting(self) -> bool:
        """Whether the answer to the present wish is still to come."""
        return self._put is not None and self._settled != self._wish

    def want(self, wish: object, put: Callable[[Engine], int]) -> None:
        """Have ``wish`` answered, unless it is already.

        Args:
            wish: all that the answer depends on; equal wishes have equal answers.
            put: asks the loop.
        """
        self._wish, self._put = wish, put
        self._take()
        if self._request is None and self.waiting:
            self._asked = wish
            self._request = self._conductor.ask(self._what, put)

    def drop(self) -> None:
        """Want nothing any more; what is still to come is not taken."""
        self._wish, self._put, self._settled, self.answer = None, None, None, None
        self._take()

    def _take(self) -> None:
        """Look whether the question in flight has been answered, or has failed."""
        if self._request is None:
            return
        answered = self._conductor.answered
        if answered is not None and answered.request == self._request:
            if self._asked == self._wish and isinstance(answered.record, self._kind):
                self.answer, self._settled = answered.record, self._wish
            self._request = None
        elif not self._conductor.waits_for(self._request):
            # Failed, which was said: the same question would fail again.
            self._settled = self._asked
            self._request = None
