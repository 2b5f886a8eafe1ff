"""What the hub's library raises, as one line that says what is the matter and what to do."""

from __future__ import annotations

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.hub_id import HubId

UNREACHABLE = 3
"""The exit code of a pull that got no answer: what is on this machine already may do."""

_NO_SPACE = 28  # errno.ENOSPC


def explain(error: Exception, wanted: HubId) -> tuple[str, bool]:
    """Say what went wrong.

    Args:
        error: whatever a pull raised.
        wanted: the model.

    Returns:
        The line, and whether the hub answered at all.
    """
    from huggingface_hub import constants, errors

    hub = constants.ENDPOINT
    if isinstance(error, ModelError):
        return str(error), True
    match error:
        case errors.GatedRepoError():
            login = "then set HF_TOKEN or run `hf auth login`"
            return f"{wanted.repo} is gated: accept its terms at {hub}/{wanted.repo}, {login}", True
        case errors.RevisionNotFoundError():
            return f"{wanted.repo} has no revision {quoted(wanted.revision)}", True
        case errors.RepositoryNotFoundError():
            login = "if it is private, set HF_TOKEN or run `hf auth login`"
            return f"{wanted.repo} is not on the hub ({hub}); {login}", True
        case errors.EntryNotFoundError() if not isinstance(error, errors.LocalEntryNotFoundError):
            return f"{wanted.repo}: the hub no longer has a file that it lists", True
    chain = list(_causes(error))
    if any(isinstance(one, errors.OfflineModeIsEnabled) for one in chain):
        return f"{wanted} is not on this machine, and HF_HUB_OFFLINE is set", False
    answer = next((code for one in chain if (code := _status(one)) is not None), None)
    if answer is not None:
        return f"{hub} answered {answer} for {wanted.repo}: try again later", answer < 500
    full = next((one for one in chain if getattr(one, "errno", None) == _NO_SPACE), None)
    if full is not None:
        place = full.filename if isinstance(full, OSError) and full.filename else "the disk"
        return f"{place}: no space left: free some and pull again", True
    if any(is_of_the_network(one) for one in chain):
        return f"{wanted.repo}: no connection to {hub}: {_first_line(chain[-1])}", False
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or wanted}: {error.strerror}", True
    return f"{wanted}: {_first_line(error)}", True


def is_of_the_network(error: BaseException) -> bool:
    """Whether an HTTP library (httpx, or requests before it) says that no answer came."""
    module = type(error).__module__.partition(".")[0]
    return isinstance(error, ConnectionError | TimeoutError) or module in (
        "httpx",
        "httpx2",
        "httpcore",
        "httpcore2",
        "requests",
        "urllib3",
    )


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in chain:
        chain.append(found)
        found = found.__cause__ or found.__context__
    return chain


def _status(error: BaseException) -> int | None:
    code = getattr(getattr(error, "response", None), "status_code", None)
    return code if isinstance(code, int) else None


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
