"""A module that plugins look for optional attributes in. It has none."""
