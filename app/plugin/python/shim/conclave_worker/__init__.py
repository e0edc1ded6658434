"""The Python worker: runs one plugin as an MCP server on standard input and output.

Standard library only, Python 3.9 and newer. The wire is described in
docs/WIRE.md. Read in this order:

    main        the three things the program can be asked to do
    wire        the private stream, and requests to Conclave
    serve       the conversation: initialize, tools/list, tools/call
    listing     what can be told of a source file without running it
    loading     a source file becomes a module
    tools       a function becomes a tool: signature, schema, description
    shapes      one annotation: its JSON schema and its conversion
    call        the life of one call
    results     what a function returned, as text and as JSON

Starting fast matters more here than anywhere else: a person waits for it in
every `conclave prompt`. So no module imports `json`, `re`, `typing`, `inspect`,
`ast`, `threading` or `asyncio` at its top; each costs 5 to 60 ms, and most
plugins need few of them. They are imported where they turn out to be needed.

What other dialects share is everything but `listing` and `tools`.
"""

VERSION = "1"

# The serve.Worker of this process, for the module `conclave` that plugins import.
worker = None
