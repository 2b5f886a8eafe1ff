"""GGUF files of random numbers with a vocabulary as large as Gemma's, to measure a load with.

``python -m tests.benchmarks.large_vocabulary gpt2|llama PATH`` writes one of some 285 MB: 18 layers
of a small Llama in Q8_0, and a byte-level vocabulary with a merge for each of its tokens, or a
SentencePiece one with their scores, whose tokens are made of others in half a million ways (those
of Gemma's in 580,000).
"""

from __future__ import annotations

import random
import string
import sys
from pathlib import Path

import gguf
import numpy as np

from tokenloop_models.tokenizer.spelling import BYTE_OF_LETTER

TOKENS = 262_144
HIDDEN, INTERMEDIATE, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 640, 2048, 18, 4, 1, 256
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def grown(letters: list[str], count: int) -> tuple[list[str], list[str]]:
    """Grow a vocabulary as BPE does: each new token is two older ones, mostly early ones.

    Returns:
        The tokens, letters first, and of each token that is no letter its merge.
    """
    draws = random.Random(0)
    tokens, merges, known = list(letters), [], set(letters)
    while len(tokens) < count:
        left, right = (tokens[int(len(tokens) * draws.random() ** 4)] for _ in range(2))
        token = left + right
        if len(token) <= 12 and token not in known:
            known.add(token)
            tokens.append(token)
            merges.append(f"{left} {right}")
    return tokens, merges


def write(path: Path, model: str) -> None:
    """Write a file with the tokenizer model ``gpt2`` or ``llama``."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(2048)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INTERMEDIATE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(TOKENS)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_tokenizer_model(model)
    if model == "gpt2":
        _byte_level(writer)
    else:
        _sentencepiece(writer)
    _tensors(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _byte_level(writer: gguf.GGUFWriter) -> None:
    letters = list(dict.fromkeys([*string.ascii_lowercase, *BYTE_OF_LETTER]))
    tokens, merges = grown(letters, TOKENS - 1)
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(["<|end_of_text|>", *tokens])
    writer.add_token_types([CONTROL] + [NORMAL] * len(tokens))
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)


def _sentencepiece(writer: gguf.GGUFWriter) -> None:
    marks = ["<unk>", "<s>", "</s>"]
    of_bytes = [f"<0x{byte:02X}>" for byte in range(256)]
    letters = ["▁", *string.ascii_lowercase]
    tokens, _ = grown(letters, TOKENS - len(marks) - len(of_bytes))
    kinds = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * len(of_bytes) + [NORMAL] * len(tokens)
    before = len(marks) + len(of_bytes)
    writer.add_token_list([*marks, *of_bytes, *tokens])
    writer.add_token_scores([0.0] * before + [-float(rank) for rank in range(len(tokens))])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)


def _tensors(writer: gguf.GGUFWriter) -> None:
    numbers = np.random.default_rng(0)

    def norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(HIDDEN, dtype=np.float32))

    def product(name: str, outputs: int, inputs: int) -> None:
        blocks = np.frombuffer(numbers.bytes(outputs * inputs // 32 * 34), dtype=np.uint8)
        blocks = blocks.reshape(-1, 34).copy()  # of 32 values: a scale in half precision, levels
        blocks[:, :2] = np.array([5e-4], dtype=np.float16).view(np.uint8)
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", blocks.reshape(outputs, -1), raw_dtype=kind)

    product("token_embd", TOKENS, HIDDEN)
    for layer in range(LAYERS):
        name = f"blk.{layer}."
        norm(f"{name}attn_norm")
        product(f"{name}attn_q", HEADS * HEAD_DIM, HIDDEN)
        product(f"{name}attn_k", KV_HEADS * HEAD_DIM, HIDDEN)
        product(f"{name}attn_v", KV_HEADS * HEAD_DIM, HIDDEN)
        product(f"{name}attn_output", HIDDEN, HEADS * HEAD_DIM)
        norm(f"{name}ffn_norm")
        product(f"{name}ffn_gate", INTERMEDIATE, HIDDEN)
        product(f"{name}ffn_up", INTERMEDIATE, HIDDEN)
        product(f"{name}ffn_down", HIDDEN, INTERMEDIATE)
    norm("output_norm")


if __name__ == "__main__":
    write(Path(sys.argv[2]), sys.argv[1])
