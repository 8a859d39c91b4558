"""Frozen challenge sets, declared windows and blind labels: figures anyone can recompute."""
