"""Encoders: text and pictures to vectors of one space.

``opening.open_encoder`` opens any of them; ``base.Encoder`` says what they can do. ``preprocessing`` and
``recognise`` need no torch, so processes that only decode pictures or list models stay light.
"""
