"""Notes what the plugin will want of the network and of programs, when it was not granted."""

_SAID = {
    "network": "It may not use the network; what needs it will fail. To allow it: in its menu under What it may reach, or conclave plugins grant %s network",
    "programs": "It may not start other programs; what needs them will fail. To allow it: in its menu under What it may reach, or conclave plugins grant %s programs",
}


def install(host):
    """Puts the notes on the plugin's card."""
    granted = host.worker.config.get("granted") or ()
    for permission, said in _SAID.items():
        if permission not in granted and permission in host.extra["wants"]:
            host.note(said % host.worker.config["id"])
