"""The base class and what belongs to it."""
