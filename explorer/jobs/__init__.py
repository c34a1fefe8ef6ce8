"""Carries compute's progress and results to Qt signals, and cancellation back."""
