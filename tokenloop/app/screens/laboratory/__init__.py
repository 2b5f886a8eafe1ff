"""The laboratory's views: each asks the held distribution something and draws the answer in full.

None of them runs a pass. They follow the session: what changes under an open view is asked anew.
"""
