"""Scores of a prompt say of each position what a stepwise decode would have shown."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.tiny_model import TinySpec, weights, write_folder
from tokenloop_models import load
from tokenloop_models.scores import best_ids, order_keys

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop_models.model import Model, Output

IDS = random.Random(5).choices(range(299), k=75)


def stepwise(model: Model) -> np.ndarray:
    cache = model.new_cache()
    return np.stack([model.forward([each], cache).logits for each in IDS]).astype(np.float64)


@pytest.mark.parametrize("chunk", [256, 33, 7])
def test_scores_agree_with_stepwise_decode(tiny_model_folder: Path, chunk: int) -> None:
    model = load(tiny_model_folder, device="cpu", dtype="float32")
    model.chunk = chunk
    out = model.forward(IDS, model.new_cache(), top=12)
    scores = out.scores
    assert scores is not None
    logits = stepwise(model)
    log_sum = np.log(np.exp(logits).sum(axis=1))
    probability = np.exp(logits - log_sum[:, None])
    entropy = -(probability * np.log2(probability)).sum(axis=1)
    following = logits[np.arange(74), IDS[1:]]
    rank = 1 + (logits[:-1] > following[:, None]).sum(axis=1)

    np.testing.assert_allclose(scores.entropy_bits, entropy, rtol=0, atol=1e-4)
    np.testing.assert_allclose(scores.log_sum_exp, log_sum, rtol=0, atol=1e-4)
    best = np.sort(logits, axis=1)[:, ::-1][:, :12]
    np.testing.assert_allclose(scores.top_logits, best, rtol=0, atol=1e-4)
    chosen = np.take_along_axis(logits, scores.top_ids, axis=1)
    np.testing.assert_allclose(chosen, best, rtol=0, atol=1e-4)
    np.testing.assert_allclose(scores.next_logit, following, rtol=0, atol=1e-4)
    np.testing.assert_array_equal(scores.next_rank, rank)


def test_kinds_and_shapes(tiny_model: Model) -> None:
    out = tiny_model.forward(IDS, tiny_model.new_cache(), top=12)
    kinds = {name: (each.dtype.name, each.shape) for name, each in vars(out.scores).items()}
    assert kinds == {
        "entropy_bits": ("float64", (75,)),
        "log_sum_exp": ("float64", (75,)),
        "top_ids": ("int64", (75, 12)),
        "top_logits": ("float32", (75, 12)),
        "next_logit": ("float32", (74,)),
        "next_rank": ("int64", (74,)),
    }


def test_the_last_position_s_scores_are_of_the_logits_that_came_back(tiny_model: Model) -> None:
    out = tiny_model.forward(IDS, tiny_model.new_cache(), top=3)
    assert out.scores is not None
    np.testing.assert_array_equal(out.logits[out.scores.top_ids[-1]], out.scores.top_logits[-1])
    np.testing.assert_allclose(out.logits, tiny_model_logits(tiny_model), rtol=0, atol=1e-4)


def tiny_model_logits(model: Model) -> np.ndarray:
    return model.forward(IDS, model.new_cache()).logits


def test_a_decode_has_scores_too(tiny_model: Model) -> None:
    out: Output = tiny_model.forward([9], tiny_model.new_cache(), top=4)
    assert out.scores is not None
    assert out.scores.top_ids.shape == (1, 4)
    assert out.scores.next_logit.shape == out.scores.next_rank.shape == (0,)


def test_no_scores_where_none_were_asked_for(tiny_model: Model) -> None:
    assert tiny_model.forward(IDS, tiny_model.new_cache()).scores is None


def test_more_candidates_than_there_are_is_all_of_them(tiny_model: Model) -> None:
    out = tiny_model.forward(IDS[:3], tiny_model.new_cache(), top=10_000)
    assert out.scores is not None
    assert sorted(out.scores.top_ids[1].tolist()) == list(range(299))


@pytest.mark.parametrize("top", [1, 3, 4, 7, 8])
def test_equals_are_ordered_by_id(top: int) -> None:
    rows = [
        [1.0, 3.0, 2.0, 3.0, 3.0, -1.0, 3.0, 0.5],
        [0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0],
        [-2.0, -1.0, -1.0, -3.0, -1.0, -1.0, -1.5, -9.0],
        [5.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0],
        [float("inf"), 1.0, float("-inf"), float("inf"), 0.0, 2.0, float("-inf"), 1.0],
    ]
    logits = torch.tensor(rows)
    expected = [sorted(range(8), key=lambda i: (-row[i], i))[:top] for row in rows]
    assert best_ids(logits, top).tolist() == expected
    assert order_keys(logits).topk(top).indices.tolist() == expected


def test_random_logits_with_many_equals_are_ordered_by_id() -> None:
    logits = torch.randn(50, 300, generator=torch.Generator().manual_seed(0)).mul(4).round()
    for top in (1, 10, 299):
        expected = [
            sorted(range(300), key=lambda i, row=row: (-row[i], i))[:top] for row in logits.tolist()
        ]
        assert best_ids(logits, top).tolist() == expected


def test_rank_counts_equals_with_lower_ids(tmp_path: Path) -> None:
    """Where every logit is 0 all are equal, and rank is the id's place in the vocabulary."""
    tensors = weights(TinySpec())
    tensors["model.norm.weight"].zero_()
    model = load(write_folder(TinySpec(), tmp_path / "flat", tensors=tensors), device="cpu")
    scores = model.forward(IDS, model.new_cache(), top=5).scores
    assert scores is not None
    assert scores.next_rank.tolist() == [each + 1 for each in IDS[1:]]
    assert scores.top_ids[0].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(scores.entropy_bits, np.log2(299), atol=1e-6)
