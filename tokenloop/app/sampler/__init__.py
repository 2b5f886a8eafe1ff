"""What the sampler's window edits: its stages as rows, their settings as fields. No Textual."""
