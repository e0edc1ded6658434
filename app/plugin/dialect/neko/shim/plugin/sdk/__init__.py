"""The SDK of N.E.K.O's plugins, as Conclave offers it."""

SDK_VERSION = "0.1.0"
