"""What a session needs of a runtime: a small protocol, so that a served engine can stand in.

``tokenloop_models``' model fulfils it. Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tokenloop.records import ModelInfo

if TYPE_CHECKING:
    from tokenloop_models.model import ModelInfo as RuntimeInfo
    from tokenloop_models.model import Output
    from tokenloop_models.tokenizer import Tokenizer

OnProgress = Callable[[int, int], None]
"""Called with positions done and positions in all."""

IsCancelled = Callable[[], bool]
"""Asked between the chunks of a prefill."""


class Cache(Protocol):
    """Keys and values of the positions seen so far."""

    @property
    def length(self) -> int:
        """Positions held."""

    @property
    def nbytes(self) -> int:
        """Bytes of those positions."""

    @property
    def allocated_bytes(self) -> int:
        """Bytes reserved for positions to come as well."""

    @property
    def bytes_per_position(self) -> int:
        """Bytes of one position: layers × KV heads × head dim × 2 × item size."""

    @property
    def dtype(self) -> str:
        """Of keys and values."""

    def reusable(self, length: int, /) -> int:
        """How many of the positions held are right for a text of ``length``."""

    def truncate(self, length: int, /) -> None:
        """Drop positions from the end until ``length`` are left."""


class Runtime(Protocol):
    """A decoder with its tokenizer."""

    @property
    def info(self) -> RuntimeInfo:
        """What it is and what it runs on."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Between text and ids."""

    def new_cache(self) -> Any:
        """An empty KV cache (a :class:`Cache` that only this runtime reads)."""

    def forward(
        self,
        ids: Sequence[int],
        cache: Any,
        *,
        top: int = 0,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> Output:
        """Append ids to the cache and give the logits after the last of them.

        Raises:
            Cancelled: ``cancelled`` said so; the cache holds the completed chunks.
            ModelError: the ids can't be run; nothing was computed.
        """


def model_info(runtime: Runtime) -> ModelInfo:
    """What the screen says of a runtime's model."""
    info, tokenizer = runtime.info, runtime.tokenizer
    names = set(ModelInfo.__struct_fields__) - {"eos_ids", "notices"}
    fields = {name: getattr(info, name) for name in names}
    notices = (*tokenizer.notices, *info.notices)
    return ModelInfo(**fields, eos_ids=tuple(tokenizer.eos_ids), notices=notices)
