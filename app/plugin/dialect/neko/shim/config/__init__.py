"""The ports on which N.E.K.O listens, which plugins look up."""

MAIN_SERVER_PORT = 48911
USER_PLUGIN_SERVER_PORT = 48916
MAIN_SERVER_BASE = "http://127.0.0.1:%d" % MAIN_SERVER_PORT
USER_PLUGIN_BASE = "http://127.0.0.1:%d" % USER_PLUGIN_SERVER_PORT
