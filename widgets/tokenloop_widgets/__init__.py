"""Widgets: drawings of records.

They know textual, rich and ``tokenloop.records``; they hold no session state and load no model.
"""

from tokenloop_widgets.cache_panel import CachePanel
from tokenloop_widgets.candidates_panel import CandidatesPanel
from tokenloop_widgets.drawing.keys import Key
from tokenloop_widgets.key_bar import KeyBar
from tokenloop_widgets.latency_panel import LatencyPanel
from tokenloop_widgets.palette import DARK, LIGHT, THEMES, Palette, palette_of
from tokenloop_widgets.panel import Panel
from tokenloop_widgets.sampler_panel import SamplerPanel
from tokenloop_widgets.status_bar import StatusBar
from tokenloop_widgets.summary_panel import SummaryPanel
from tokenloop_widgets.text_panel import TextPanel

__all__ = [
    "DARK",
    "LIGHT",
    "THEMES",
    "CachePanel",
    "CandidatesPanel",
    "Key",
    "KeyBar",
    "LatencyPanel",
    "Palette",
    "Panel",
    "SamplerPanel",
    "StatusBar",
    "SummaryPanel",
    "TextPanel",
    "palette_of",
]
