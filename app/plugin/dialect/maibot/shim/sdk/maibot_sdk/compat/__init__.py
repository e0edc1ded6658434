"""Of the layer for plugins of the old kind, the types of settings alone."""
