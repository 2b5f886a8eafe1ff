"""A checkpoint's settings under one set of names, whatever its format and family call them.

The names are those that most ``config.json`` use (``hidden_size``, ``num_attention_heads``, …).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tokenloop_models.fields import Fields, settings_file
from tokenloop_models.parts.mlp import ACTIVATIONS

if TYPE_CHECKING:
    from tokenloop_models.checkpoint import Checkpoint
    from tokenloop_models.families.family import Stored

SPEAKS_OF_ARITHMETIC = re.compile(
    "act|alibi|attn|attention|bias|clip|embedding|expert|factor|head|layer|logit|mlp|moe|"
    "multiplier|norm|quant|residual|rope|rotary|scal|softcap|window|auto_map"
)
"""A field that nobody asked for is refused where its name says that it could change the model."""

HARMLESS = re.compile(
    "_attn_implementation.*|_?(use_)?flash_att.*|.*drop(out|_p)?|.*pdrop|.*_dropout(_.*)?|"
    "output_(attentions|hidden_states|router_logits)|router_aux.*|summary_.*|problem_type|"
    "is_(encoder_)?decoder|is_llama_config|initializer.*|init_std|.*_token_(id|index)|"
    "max_window_layers|_sliding_window_pattern"
)
"""Fields of a ``config.json`` that sound like it and say nothing about a pass."""

NEUTRAL: dict[str, tuple[object, ...]] = {
    "add_cross_attention": (False,),
    "pruned_heads": ({},),
    "rope_interleaved": (False,),
    "rotary_scaling_factor": (1.0, 1),
}
"""Fields of a ``config.json`` that are fine at these values, and change the model at others."""

NEUTRAL_GGUF: dict[str, tuple[object, ...]] = {
    "attention.causal": (True,),
    "expert_count": (0,),
    "expert_used_count": (0,),
    "expert_gating_func": (1,),  # softmax
    "attention.max_alibi_bias": (0.0,),
    "attention.clamp_kqv": (0.0,),
    "tensor_data_layout": ("Meta AI original pth",),
    "use_parallel_residual": (False,),
}
MODEL_CLASS = re.compile(r"\w+(ForCausalLM|LMHeadModel)")
"""What ``architectures`` of a ``config.json`` may name: all else has another head."""


class Settings(Fields):
    """The settings of a checkpoint.

    Attributes:
        checkpoint: whose settings they are.
        gguf: whether it is a GGUF.
    """

    def __init__(self, checkpoint: Checkpoint, stored: Stored, inside: str | None = None) -> None:
        """Read from a checkpoint.

        Args:
            checkpoint: whose settings.
            stored: what its format calls them, and what it leaves out.
            inside: the field that holds them, where that is not the whole file.
        """
        self.checkpoint = checkpoint
        self.gguf = checkpoint.format == "gguf"
        where, content = settings_file(checkpoint), checkpoint.config
        if inside is not None:
            outer = Fields(where, content)
            where, content = f"{where}: {inside}", outer.inside(inside).content
        prefix = f"{checkpoint.architecture}." if self.gguf else ""
        super().__init__(where, content, prefix, stored.spelling, stored.defaults)

    def activation(self) -> str:
        """The MLP's activation; Gemma's first files call a rounded one by the exact one's name."""
        self.get("hidden_act")
        precise = self.get("hidden_activation") is not None
        return self.choice("hidden_activation" if precise else "hidden_act", ACTIVATIONS)

    def is_tied(self) -> bool:
        """Whether the head is the embedding; a GGUF says it by holding none."""
        if self.gguf:
            return "output.weight" not in self.checkpoint.names()
        return self.flag("tie_word_embeddings")

    def vocab_size(self) -> int:
        """How many candidates there are."""
        if not self.gguf:
            return self.whole("vocab_size")
        rows = self.checkpoint.shape("token_embd.weight")[0]
        self.neutral("vocab_size", rows)
        return rows

    def refuse_unknown(self) -> None:
        """Refuse what nobody asked for and what could change the model.

        Raises:
            ModelError: there is such a field.
        """
        if self.gguf:
            for name in self.unasked():
                self.neutral(name, *NEUTRAL_GGUF.get(name, ()))
            return
        names = self.get("architectures")
        fits = isinstance(names, list) and all(MODEL_CLASS.fullmatch(str(each)) for each in names)
        if names is not None and not fits:
            raise self.refused("architectures", "is not supported; a model …ForCausalLM is")
        self._refuse_foreign_code()
        for name in self.unasked():
            if name in NEUTRAL:
                self.neutral(name, *NEUTRAL[name])
            elif SPEAKS_OF_ARITHMETIC.search(name) and not HARMLESS.fullmatch(name):
                self.neutral(name, False)

    def _refuse_foreign_code(self) -> None:
        """Code in the folder is never run; where it is no port of the family's own, it is refused.

        Many models were published with the code that the reference implementation has since taken
        over, in modules named after their ``model_type``.
        """
        code = self.get("auto_map")
        port = rf"(configuration|modeling)_{re.escape(self.checkpoint.architecture)}\.\w+"
        known = isinstance(code, dict) and all(
            name.startswith("AutoTokenizer") or re.fullmatch(port, str(value))
            for name, value in code.items()
        )
        if code is not None and not known:
            raise self.refused("auto_map", "is code of its own, which is never run")
