"""A view's question to the loop: one in flight at most, the newest wish next, late answers dropped.

No Textual in here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tokenloop.records import Answer, Choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop.app.conductor import Conductor
    from tokenloop.app.engine import Engine

A = TypeVar("A", bound=Answer)

COMPUTING = "computing …"
NO_ANSWER = "no answer: this can't be computed"


@dataclass(frozen=True)
class Wish:
    """What a view asks, and of which distribution."""

    about: object
    held: Choice


class Inquiry(Generic[A]):
    """Keeps one question answered while what is held changes.

    Args:
        conductor: carries questions to the loop and knows its last answer.
        what: the question's name, for people.
        kind: the record that answers it.

    Attributes:
        answer: the last one to what is asked; ``None`` before the first.
        answered_of: the choice that was held when it was asked.
    """

    def __init__(self, conductor: Conductor, what: str, kind: type[A]) -> None:
        self._conductor = conductor
        self._what = what
        self._kind = kind
        self._wish: Wish | None = None
        self._asked: Wish | None = None
        self._settled: Wish | None = None
        self._request: int | None = None
        self.answer: A | None = None
        self.answered_of: Choice | None = None

    @property
    def waiting(self) -> bool:
        """Whether the answer to the present wish is still to come."""
        return self._wish is not None and self._settled != self._wish

    @property
    def blank(self) -> bool:
        """Whether nothing stands there until the answer comes."""
        return self.waiting and self.answer is None

    @property
    def placeholder(self) -> str:
        """What stands where an answer is still to come, or can't."""
        return COMPUTING if self.waiting else NO_ANSWER

    def want(self, about: object, held: Choice, put: Callable[[Engine], int]) -> None:
        """Have something answered, unless it is already.

        During a run what is held has often changed before an answer comes: it is drawn
        nevertheless, and the question put again.

        Args:
            about: all that the question says; an answer to another one is dropped.
            held: the distribution that it is about.
            put: asks the loop.
        """
        if self._wish is None or self._wish.about != about:
            self.answer = self.answered_of = None
        self._wish = Wish(about, held)
        self._take()
        if self._request is None and self.waiting:
            self._asked = self._wish
            self._request = self._conductor.ask(self._what, put)

    def drop(self) -> None:
        """Want nothing any more; what is still to come is not taken."""
        self._wish = self._settled = self.answer = self.answered_of = None
        self._take()

    def _take(self) -> None:
        """Look whether the question in flight has been answered, or has failed."""
        asked, answered = self._asked, self._conductor.answered
        if self._request is None or asked is None:
            return
        wanted = self._wish is not None and self._wish.about == asked.about
        if answered is not None and answered.request == self._request:
            if wanted and isinstance(answered.record, self._kind):
                self.answer, self.answered_of = answered.record, asked.held
                self._settled = asked
            self._request = None
        elif not self._conductor.waits_for(self._request):
            # Failed, which was said: the same question would fail again, and what was answered
            # of another distribution is no answer to it.
            self._settled, self._request = asked, None
            if wanted:
                self.answer = self.answered_of = None
