"""What is packed on a device is the same on the host."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tokenloop_models.landing import Landing, packed
from tokenloop_models.stopwatch import Stopwatch

CPU = torch.device("cpu")
TENSORS = [
    torch.tensor([1.5, float("nan"), -0.0]),
    torch.tensor([[2, -(2**40)], [3, 4]]),
    torch.tensor([0.1], dtype=torch.float64),
    torch.empty(0, 4),
    torch.arange(12.0).view(3, 4).t(),  # not contiguous
    torch.tensor([True, False, True]),
]


@pytest.mark.parametrize("tensors", [TENSORS, TENSORS[:1], TENSORS[1:2], TENSORS[::-1]])
def test_a_parcel_holds_every_bit_type_and_shape(tensors: list[torch.Tensor]) -> None:
    parcel = packed(tensors)
    assert (parcel.content.dtype, parcel.content.dim()) == (torch.uint8, 1)
    arrays = Landing(CPU).fetch(parcel, Stopwatch(CPU))
    for array, tensor in zip(arrays, tensors, strict=True):
        np.testing.assert_array_equal(array, tensor.numpy())
        assert array.dtype == tensor.numpy().dtype


def test_arrays_outlive_the_landing_s_memory() -> None:
    landing = Landing(CPU)
    first = landing.fetch(packed([torch.ones(5)]), Stopwatch(CPU))[0]
    second = landing.fetch(packed([torch.zeros(3)]), Stopwatch(CPU))[0]
    third = landing.fetch(packed([torch.full((9,), 3.0)]), Stopwatch(CPU))[0]
    assert (first.tolist(), second.tolist(), third.tolist()) == ([1.0] * 5, [0.0] * 3, [3.0] * 9)


def test_on_a_cpu_nothing_is_copied() -> None:
    tensor = torch.ones(3)
    array = Landing(CPU).bring([tensor], Stopwatch(CPU))[0]
    tensor[1] = 5.0
    assert array[1] == 5.0


def test_bringing_is_the_lap_of_copying() -> None:
    watch = Stopwatch(CPU)
    Landing(CPU).bring([torch.ones(3)], watch)
    Landing(CPU).fetch(packed([torch.ones(3)]), watch)
    assert set(watch.milliseconds()) == {"copy"}
