"""Widgets: drawings of records.

They know textual, rich and ``tokenloop.records``; they hold no session state and load no model.
"""

from tokenloop_widgets.cache_panel import CachePanel
from tokenloop_widgets.candidates_panel import CandidatesPanel
from tokenloop_widgets.comparison_panel import ComparisonPanel
from tokenloop_widgets.drawing.figures import stage_name
from tokenloop_widgets.drawing.keys import Key
from tokenloop_widgets.drawing.latency import redraw_words
from tokenloop_widgets.drawing.stage_list import Cell, Cursor, StageRow
from tokenloop_widgets.drawing.stage_list import State as StageState
from tokenloop_widgets.drawing.status import ORDER_NAMES
from tokenloop_widgets.draws_panel import DrawsPanel
from tokenloop_widgets.key_bar import KeyBar
from tokenloop_widgets.latency_panel import LatencyPanel
from tokenloop_widgets.palette import DARK, LIGHT, THEMES, Palette, palette_of
from tokenloop_widgets.panel import Panel
from tokenloop_widgets.rows_panel import RowsPanel
from tokenloop_widgets.sampler_panel import SamplerPanel
from tokenloop_widgets.stage_list import StageList
from tokenloop_widgets.status_bar import StatusBar
from tokenloop_widgets.summary_panel import SummaryPanel
from tokenloop_widgets.sweep_panel import SweepPanel
from tokenloop_widgets.tabs_line import TabsLine
from tokenloop_widgets.text_panel import TextPanel
from tokenloop_widgets.through_panel import ThroughPanel
from tokenloop_widgets.watch_panel import WatchPanel

__all__ = [
    "DARK",
    "LIGHT",
    "ORDER_NAMES",
    "THEMES",
    "CachePanel",
    "CandidatesPanel",
    "Cell",
    "ComparisonPanel",
    "Cursor",
    "DrawsPanel",
    "Key",
    "KeyBar",
    "LatencyPanel",
    "Palette",
    "Panel",
    "RowsPanel",
    "SamplerPanel",
    "StageList",
    "StageRow",
    "StageState",
    "StatusBar",
    "SummaryPanel",
    "SweepPanel",
    "TabsLine",
    "TextPanel",
    "ThroughPanel",
    "WatchPanel",
    "palette_of",
    "redraw_words",
    "stage_name",
]
