"""A tiny random Llama, written to disk in both of the forms that real ones come in.

It has everything that a big one has (grouped-query attention, a byte-level tokenizer with merges
and special tokens, a context limit) and takes milliseconds. Its weights are large enough that its
distributions are peaked and that every position matters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

if TYPE_CHECKING:
    from pathlib import Path

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PAIRS = (
    "Ġ t|h e|Ġt he|i n|Ġ a|e r|o n|Ġ s|r e|a t|Ġ c|e n|i s|Ġ o|Ġo f|Ġ is|o r|e s|a l|i t|"
    "Ġ w|o u|l y|e d|Ġ p|in g|a n|Ġa n|an d|Ġ and|Ġ b|Ġ f|Ġ m|Ġ in|t h|s t|l e|a r|Ġ S|Ġ C"
)
MERGES = PAIRS.split("|")  # by rank: "left right"


@dataclass(frozen=True, kw_only=True)
class TinySpec:
    """The shape of a tiny model; the defaults have two query heads to a key/value head."""

    hidden: int = 32
    layers: int = 3
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 8
    intermediate: int = 48
    context: int = 256
    vocab_size: int | None = None
    rope_theta: float = 10_000.0
    rope_scaling: dict[str, Any] | None = None
    tied: bool = True
    attention_bias: bool = False
    mlp_bias: bool = False
    seed: int = 0

    def but(self, **changes: Any) -> TinySpec:
        return replace(self, **changes)

    @property
    def rows(self) -> int:
        """How many candidates it scores: as many as there are tokens, or more (padding)."""
        return self.vocab_size or len(vocabulary())


def byte_letters() -> list[str]:
    """The printable letter that byte-level vocabularies write for each byte (GPT-2's table)."""
    plain = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)}
    plain |= set(range(ord("®"), ord("ÿ") + 1))
    spare = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(spare)) for byte in range(256)]


def vocabulary() -> list[str]:
    """Every token's text form, by id: specials, bytes, merged pairs."""
    return [*SPECIALS, *byte_letters(), *(pair.replace(" ", "") for pair in MERGES)]


def tokenizer() -> Tokenizer:
    """A byte-level BPE that splits digits, as SmolLM2's does."""
    merges = [(left, right) for left, right in (pair.split(" ") for pair in MERGES)]
    bpe = models.BPE({text: index for index, text in enumerate(vocabulary())}, merges)
    made = Tokenizer(bpe)
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIALS])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    made.decoder = decoders.ByteLevel()
    return made


def weights(spec: TinySpec) -> dict[str, torch.Tensor]:
    """Random float32 weights under their safetensors names; the same for the same spec."""
    generator = torch.Generator().manual_seed(spec.seed)

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator) * 1.5 / columns**0.5

    def vector(size: int, *, around: float) -> torch.Tensor:
        return around + 0.2 * torch.randn(size, generator=generator)

    wide, narrow = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    made = {"model.embed_tokens.weight": torch.randn(spec.rows, spec.hidden, generator=generator)}
    for index in range(spec.layers):
        layer = f"model.layers.{index}"
        made[f"{layer}.input_layernorm.weight"] = vector(spec.hidden, around=1.0)
        made[f"{layer}.post_attention_layernorm.weight"] = vector(spec.hidden, around=1.0)
        attention = {
            "q_proj": (wide, spec.hidden),
            "k_proj": (narrow, spec.hidden),
            "v_proj": (narrow, spec.hidden),
            "o_proj": (spec.hidden, wide),
        }
        mlp = {
            "gate_proj": (spec.intermediate, spec.hidden),
            "up_proj": (spec.intermediate, spec.hidden),
            "down_proj": (spec.hidden, spec.intermediate),
        }
        for part, shapes, biased in (
            ("self_attn", attention, spec.attention_bias),
            ("mlp", mlp, spec.mlp_bias),
        ):
            for name, (rows, columns) in shapes.items():
                made[f"{layer}.{part}.{name}.weight"] = matrix(rows, columns)
                if biased:
                    made[f"{layer}.{part}.{name}.bias"] = vector(rows, around=0.0)
    made["model.norm.weight"] = vector(spec.hidden, around=1.0)
    if not spec.tied:
        made["lm_head.weight"] = matrix(spec.rows, spec.hidden) * 2
    return made


def config(spec: TinySpec) -> dict[str, Any]:
    """The content of config.json."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": spec.hidden,
        "num_hidden_layers": spec.layers,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "head_dim": spec.head_dim,
        "intermediate_size": spec.intermediate,
        "max_position_embeddings": spec.context,
        "vocab_size": spec.rows,
        "rope_theta": spec.rope_theta,
        "rope_scaling": spec.rope_scaling,
        "tie_word_embeddings": spec.tied,
        "attention_bias": spec.attention_bias,
        "mlp_bias": spec.mlp_bias,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "float32",
    }


def write_folder(
    spec: TinySpec,
    folder: Path,
    *,
    changes: dict[str, Any] | None = None,
    tensors: dict[str, torch.Tensor] | None = None,
) -> Path:
    """Write the safetensors form; ``changes`` and ``tensors`` override config and weights.

    A change to ``...`` leaves the field out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = config(spec) | (changes or {})
    content = {name: value for name, value in content.items() if value is not ...}
    (folder / "config.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
    save_file(weights(spec) if tensors is None else tensors, folder / "model.safetensors")
    write_tokenizer(folder)
    return folder


def write_tokenizer(folder: Path) -> None:
    """Put the tokenizer beside a model's safetensors."""
    tokenizer().save(str(folder / "tokenizer.json"))
    names = {"bos_token": SPECIALS[1], "eos_token": SPECIALS[2], "add_bos_token": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(names), encoding="utf-8")


GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name: str) -> str:
    """``model.layers.2.mlp.up_proj.weight`` → ``blk.2.ffn_up.weight``."""
    stem, kind = name.rsplit(".", 1)
    if not stem.startswith("model.layers."):
        return f"{GGUF_NAMES[stem]}.{kind}"
    _, _, index, part = stem.split(".", 3)
    return f"blk.{index}.{GGUF_NAMES[part]}.{kind}"


def interleave(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Reorder each head's rows from [first halves, second halves] to adjacent pairs."""
    half = rows.shape[0] // heads // 2
    paired = rows.reshape(heads, 2, half, *rows.shape[1:]).transpose(1, 2)
    return paired.reshape(rows.shape).contiguous()


def write_gguf(
    spec: TinySpec,
    path: Path,
    *,
    rope_factors: torch.Tensor | None = None,
    extra: dict[str, float | int | str] | None = None,
    tensors: dict[str, torch.Tensor] | None = None,
    kinds: dict[str, str] | None = None,
) -> Path:
    """Write the GGUF form, query and key rows interleaved as converters do.

    Args:
        spec: the model.
        path: the file.
        rope_factors: divisors of the rotary frequencies (``rope_freqs.weight``), [head_dim / 2].
        extra: further metadata, by full key.
        tensors: weights to write instead, under their safetensors names.
        kinds: how to store matrices ("Q4_0"), by what their names contain, the last one counts;
            float32 by default.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = GGUFWriter(path, "llama")
    writer.add_name("Tiny")
    writer.add_block_count(spec.layers)
    writer.add_context_length(spec.context)
    writer.add_embedding_length(spec.hidden)
    writer.add_feed_forward_length(spec.intermediate)
    writer.add_head_count(spec.heads)
    writer.add_head_count_kv(spec.kv_heads)
    writer.add_key_length(spec.head_dim)
    writer.add_value_length(spec.head_dim)
    writer.add_rope_dimension_count(spec.head_dim)
    writer.add_rope_freq_base(spec.rope_theta)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(spec.rows)
    writer.add_file_type(0)
    for key, value in (extra or {}).items():
        adders = {str: writer.add_string, int: writer.add_uint32, float: writer.add_float32}
        adders[type(value)](key, value)
    write_vocabulary(writer, spec)
    for name, tensor in (weights(spec) if tensors is None else tensors).items():
        heads = {"q_proj": spec.heads, "k_proj": spec.kv_heads}.get(name.split(".")[-2])
        rows = interleave(tensor, heads) if heads else tensor
        kind = GGMLQuantizationType.F32
        for part, quantised in (kinds or {}).items():
            if part in name and rows.ndim == 2:
                kind = GGMLQuantizationType[quantised]
        writer.add_tensor(gguf_name(name), quantize(rows.numpy(), kind), raw_dtype=kind)
    if rope_factors is not None:
        writer.add_tensor("rope_freqs.weight", rope_factors.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_vocabulary(writer: GGUFWriter, spec: TinySpec) -> None:
    """Put the tokenizer into a GGUF."""
    texts = vocabulary()
    kinds = [3] * len(SPECIALS) + [1] * (len(texts) - len(SPECIALS))  # control, normal
    for spare in range(spec.rows - len(texts)):
        texts.append(f"[PAD{spare}]")
        kinds.append(5)  # unused
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(texts)
    writer.add_token_types(kinds)
    writer.add_token_merges(list(MERGES))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
