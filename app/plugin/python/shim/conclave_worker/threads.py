"""Threads, and what of the memory their stacks take.

A stack counts against the memory that this process may have as soon as it is there, whether it is
used or not. With the 8 MiB that Linux gives each, the memory of a plugin is full of stacks after 28
threads; so the threads that a plugin starts get less, unless it says how much they need. What runs
its functions keeps the system's, since these may go deep.
"""

import sys
from _thread import allocate_lock, stack_size, start_new_thread

# Before 3.11 each call of a Python function takes some 600 bytes of it, a thousand of which may be
# inside one another.
PLUGIN = 512 * 1024 if sys.version_info >= (3, 11) else 1024 * 1024
SYSTEM = 0  # as the system has it

_lock = allocate_lock()  # held while the size is another one


def install():
    """Gives the threads that the plugin starts small stacks."""
    stack_size(PLUGIN)


def start(size, function, *args):
    """Starts a thread with a stack of so many bytes, or as the system has it."""
    with _lock:
        before = stack_size(size)
        try:
            start_new_thread(function, args)
        finally:
            stack_size(before)
