"""Products over packed blocks: the same numbers as the file's, rounded only where they say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize

from tests.tiny_model import TinySpec, write_folder, write_gguf
from tokenloop_models import ModelError, load, loading
from tokenloop_models.gguf_types import TYPES
from tokenloop_models.levels import TYPES_WITH_LEVELS, Levels, has_levels, read_levels
from tokenloop_models.parts import packed
from tokenloop_models.parts.packed import MANY, PackedLinear, packable, packed_products_work
from tokenloop_models.parts.unpacking import unpacking_works

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = {kind.name: kind for kind in TYPES.values() if has_levels(kind)}
ROUNDING = 2.0**-9
"""Half a step of bfloat16, relative."""
SPEC = TinySpec(intermediate=64, vocab_size=304, head_dim=16)
IDS = [5, 77, 140, 9, 9, 280, 33, 61, 298, 0, 12, 100]

needs_the_product = pytest.mark.skipif(
    not packed_products_work(), reason="this torch has no product over packed weights"
)


def blocks(name: str, rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Random blocks whose scales are ordinary numbers: (rows, row bytes)."""
    kind = KINDS[name]
    generator = np.random.default_rng(seed)
    raw = generator.integers(0, 256, (rows, columns // kind.block, kind.block_bytes), np.uint8)
    floats = 2 if name.endswith(("_1", "_K")) else 1
    scales = generator.uniform(0.01, 0.1, (*raw.shape[:2], floats)).astype(np.float16)
    raw[:, :, : 2 * floats] = scales.view(np.uint8)
    return raw.reshape(rows, -1)


def exact(raw: np.ndarray, name: str) -> torch.Tensor:
    return torch.from_numpy(dequantize(raw, GGMLQuantizationType[name]))


def magnitudes(levels: Levels) -> torch.Tensor:
    """What the terms of each weight come to without signs: float64, (rows, columns)."""
    rows, columns = levels.values.shape
    middle = 2 ** (levels.bits - 1)
    steps = (levels.values.view(rows, -1, 32).double() - middle).abs() + (levels.bits > 4) * 16
    offsets = (levels.offset + middle * levels.scale).abs()
    return (steps * levels.scale[:, :, None] + offsets[:, :, None]).view(rows, columns)


def test_the_types_are_those_named_to_people() -> None:
    assert ", ".join(KINDS) == "Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K"
    assert set(TYPES_WITH_LEVELS.split(", ")) == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_levels_scales_and_offsets_make_the_files_values(name: str) -> None:
    raw = blocks(name, rows=6, columns=512)
    levels = read_levels(torch.from_numpy(raw), KINDS[name])
    assert levels.values.dtype == torch.uint8
    assert int(levels.values.max()) == 2**levels.bits - 1
    grouped = levels.values.view(6, 16, 32)
    values = grouped * levels.scale[:, :, None] + levels.offset[:, :, None]
    torch.testing.assert_close(values.view(6, 512), exact(raw, name), rtol=1e-6, atol=1e-5)


@needs_the_product
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("rows", [1, 5, 64])
def test_a_packed_product_differs_by_bfloat16s_rounding_alone(name: str, rows: int) -> None:
    """Of the row, the scale, the zero and the result: each at most half a step."""
    raw = blocks(name, rows=80, columns=512)
    levels = read_levels(torch.from_numpy(raw), KINDS[name])
    product = PackedLinear([levels], bias := torch.linspace(-1, 1, 80))
    x = torch.randn(rows, 512, generator=torch.Generator().manual_seed(rows))
    expected = x.double() @ exact(raw, name).double().t() + bias.double()
    # what is rounded: the row, both terms of a weight, and the result
    bound = 3 * ROUNDING * (x.abs().double() @ magnitudes(levels).t() + expected.abs()) + 1e-3
    difference = (product(x).double() - expected).abs()
    assert bool((difference <= bound).all())
    assert float(difference.max()) < 0.02 * float(expected.abs().max())
    if rows == 1:
        out = torch.full((1, 80), torch.nan)
        assert product(x, out=out) is out
        assert torch.equal(out, product(x))


@needs_the_product
def test_levels_are_never_rounded() -> None:
    """With scales and rows that bfloat16 holds, nothing is rounded but the result."""
    values = torch.arange(256, dtype=torch.uint8).repeat(16, 1)[:, torch.randperm(256)]
    one = torch.ones(16, 8)
    levels = Levels(values, one, -128 * one, bits=8)
    product = PackedLinear([levels])(torch.eye(256))
    assert torch.equal(product.t(), (values.float() - 128))


@needs_the_product
def test_large_matrices_are_packed_in_pieces_that_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = read_levels(torch.from_numpy(blocks("Q4_1", 208, 64)), KINDS["Q4_1"])
    x = torch.randn(1, 64)
    whole = PackedLinear([levels])(x)
    monkeypatch.setattr(packed, "AT_ONCE", 64 * 64)
    assert torch.equal(PackedLinear([levels])(x), whole)


needs_unpacking = pytest.mark.skipif(
    not unpacking_works(), reason="here products over packed weights are never unpacked"
)


@needs_the_product
@needs_unpacking
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("at_once", [2**22, 128 * 512], ids=["whole", "in pieces"])
def test_many_rows_are_multiplied_with_the_same_weights_rounded(
    name: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each weight, or each of the two that it is the sum of, by at most half a step more."""
    monkeypatch.setattr(packed, "AT_ONCE", at_once)
    levels = read_levels(torch.from_numpy(blocks(name, rows=192, columns=512)), KINDS[name])
    product = PackedLinear([levels], torch.linspace(-1, 1, 192))
    x = torch.randn(MANY, 512, generator=torch.Generator().manual_seed(1))
    few = torch.cat([product(x[: MANY // 2]), product(x[MANY // 2 :])])
    many = product(x)
    assert not torch.equal(many, few)  # it was another way
    bound = ROUNDING * (x.abs().double() @ magnitudes(levels).t() + 2 * few.abs()) + 1e-3
    assert bool(((many - few).abs() <= bound).all())
    assert float((many - few).abs().max()) < 0.01 * float(few.abs().max())


@needs_the_product
@needs_unpacking
def test_many_rows_find_every_level_where_it_is() -> None:
    """With scales and rows that bfloat16 holds, nothing is rounded but the result."""
    shuffled = torch.randperm(256, generator=torch.Generator().manual_seed(2))
    values = torch.stack([shuffled.roll(each) for each in range(64)]).byte()
    one = torch.ones(64, 8)
    product = PackedLinear([Levels(values, one, -128 * one, bits=8)])(torch.eye(256))
    assert torch.equal(product.t(), values.float() - 128)


@needs_the_product
@needs_unpacking
def test_many_rows_in_bfloat16_stay_bfloat16() -> None:
    levels = read_levels(torch.from_numpy(blocks("Q4_0", 64, 64)), KINDS["Q4_0"])
    x = torch.randn(MANY, 64)
    product = PackedLinear([levels])
    narrow = product(x.bfloat16())
    assert narrow.dtype == torch.bfloat16
    assert torch.equal(narrow.float(), product(x))


@pytest.fixture
def tried_afresh() -> Iterator[None]:
    """What is found out once for a processor is found out again, and forgotten."""
    unpacking_works.cache_clear()
    yield
    unpacking_works.cache_clear()


@needs_the_product
@pytest.mark.usefixtures("tried_afresh")
def test_a_layout_that_is_not_known_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    right = torch._convert_weight_to_int4pack_for_cpu
    monkeypatch.setattr(
        torch, "_convert_weight_to_int4pack_for_cpu", lambda w, n: right(w.flip(0), n)
    )
    assert not unpacking_works()
    levels = read_levels(torch.from_numpy(blocks("Q4_0", 64, 64)), KINDS["Q4_0"])
    x = torch.randn(MANY, 64)
    product = PackedLinear([levels])
    assert torch.equal(product(x), torch.cat([product(x[:1]), product(x[1:])]))


@pytest.mark.usefixtures("tried_afresh")
@pytest.mark.parametrize(
    ("where", "name"),
    [(torch.ops.mkldnn, "_is_mkldnn_bf16_supported"), (torch.cpu, "_is_avx512_bf16_supported")],
)
def test_a_processor_without_bfloat16_unpacks_nothing(
    where: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, lambda: False, raising=False)
    assert not unpacking_works()


def test_sizes_without_a_packed_product() -> None:
    assert packable(32, 64)
    assert not packable(40, 64)
    assert not packable(32, 48)


@needs_the_product
@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q8_0"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_fast_model_comes_near_the_exact_one(tmp_path: Path, kind: str, tied: bool) -> None:
    path = write_gguf(SPEC.but(tied=tied), tmp_path / "tiny.gguf", kinds={"": kind})
    exactly, fast = load(path, device="cpu"), load(path, device="cpu", precision="fast")
    assert (exactly.info.precision, fast.info.precision) == ("exact", "fast")
    assert (fast.info.dtype, fast.info.notices) == ("float32", ())
    expected = exactly.forward(IDS, exactly.new_cache()).logits
    prefilled = fast.forward(IDS, fast.new_cache()).logits
    cache = fast.new_cache()
    decoded = [fast.forward([each], cache).logits for each in IDS][-1]
    assert 0 < np.abs(prefilled - expected).max() < 0.05 * np.abs(expected).max()
    assert np.abs(decoded - prefilled).max() < 0.05 * np.abs(expected).max()


@needs_the_product
def test_what_has_no_packed_form_stays_exact_and_is_told(tmp_path: Path) -> None:
    kinds = {"": "Q4_0", "down_proj": "F16", "layers.1.self_attn.v_proj": "F16"}
    path = write_gguf(SPEC, tmp_path / "tiny.gguf", kinds=kinds)
    model = load(path, device="cpu", precision="fast")
    said = "4 of 13 products have no packed form and run unpacked: F16 ×4"
    assert model.info.notices == (said.replace("F16", "plain floats"),)
    expected = (exactly := load(path, device="cpu")).forward(IDS, exactly.new_cache()).logits
    logits = model.forward(IDS, model.new_cache()).logits
    assert np.abs(logits - expected).max() < 0.05 * np.abs(expected).max()


@needs_the_product
def test_rows_of_different_types_are_one_product(tmp_path: Path) -> None:
    kinds = {"": "Q4_0", "v_proj": "Q8_0", "up_proj": "Q4_1"}
    path = write_gguf(SPEC, tmp_path / "tiny.gguf", kinds=kinds)
    model = load(path, device="cpu", precision="fast")
    assert model.info.notices == ()
    expected = (exactly := load(path, device="cpu")).forward(IDS, exactly.new_cache()).logits
    logits = model.forward(IDS, model.new_cache()).logits
    assert np.abs(logits - expected).max() < 0.05 * np.abs(expected).max()


def test_fast_needs_blocks(tmp_path: Path) -> None:
    folder = write_folder(TinySpec(), tmp_path / "tiny")
    with pytest.raises(ModelError) as error:
        load(folder, device="cpu", precision="fast")
    wanted = f"precision = fast needs weights in a packed form ({TYPES_WITH_LEVELS})"
    assert str(error.value).endswith(f"tiny: {wanted}; it holds plain floats")


def test_fast_needs_a_torch_that_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_gguf(SPEC, tmp_path / "tiny.gguf", kinds={"": "Q4_0"})
    monkeypatch.delattr(torch, "_weight_int4pack_mm_for_cpu", raising=False)
    with pytest.raises(ModelError, match=r"precision = fast is not possible: torch .* exact works"):
        load(path, device="cpu", precision="fast")


def test_a_product_that_answers_something_else_is_not_relied_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(x: torch.Tensor, packed: torch.Tensor, *_: object) -> torch.Tensor:
        return x.new_zeros(len(x), packed.shape[0])

    monkeypatch.setattr(torch, "_weight_int4pack_mm_for_cpu", wrong, raising=False)
    assert not packed_products_work()


def test_other_precisions_and_devices_are_refused(tiny_model_folder: Path) -> None:
    with pytest.raises(ModelError, match="precision = 'quick' is not possible: exact, fast"):
        load(tiny_model_folder, device="cpu", precision="quick")
    with pytest.raises(ModelError, match="precision = fast is not possible on cuda:0: cpu only"):
        loading.check_precision("fast", torch.device("cuda", 0))
