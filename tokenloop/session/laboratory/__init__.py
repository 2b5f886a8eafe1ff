"""The laboratory: questions to the held distribution. None of them runs a pass or changes a thing.

Each is a function of what is held now; one file a question.
"""
