"""How plugins of the llm program become tools (contracts/llm-functions, section 3).

    hooks    calls what plugins marked as register_tools, and makes tools of it
    offers   one llm.Tool, or one method of a toolbox, as a tool of the worker
    boxes    toolboxes: their settings, and one instance for each chat
    keys     llm.get_key
"""
