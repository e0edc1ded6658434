"""The ports on which N.E.K.O listens, which plugins look up."""

MAIN_SERVER_PORT = 48911
USER_PLUGIN_SERVER_PORT = 48916
