"""The screens: the panels, and what opens above them."""
