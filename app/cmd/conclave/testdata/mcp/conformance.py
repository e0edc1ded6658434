"""The tools that the server scenarios of MCP's conformance suite call."""

import base64

import conclave
import llm

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
SILENCE = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=")


def test_simple_text() -> str:
    """Return a text."""
    print("a plugin that prints must not reach standard output")
    return "This is a simple text response for testing."


def test_image_content() -> llm.ToolOutput:
    """Return a picture."""
    return llm.ToolOutput("", attachments=[llm.Attachment(content=PIXEL, type="image/png")])


def test_audio_content() -> llm.ToolOutput:
    """Return a sound."""
    return llm.ToolOutput("", attachments=[llm.Attachment(content=SILENCE, type="audio/wav")])


def test_embedded_resource() -> llm.ToolOutput:
    """Return a file."""
    return llm.ToolOutput("", attachments=[llm.Attachment(content=b"This is a file.", type="text/plain")])


def test_multiple_content_types() -> llm.ToolOutput:
    """Return a text, a picture and a file."""
    return llm.ToolOutput(
        "Several parts:",
        attachments=[
            llm.Attachment(content=PIXEL, type="image/png"),
            llm.Attachment(content=b'{"test":"data"}', type="application/json"),
        ],
    )


def test_error_handling() -> str:
    """Fail."""
    raise RuntimeError("This tool intentionally returns an error for testing")


def test_tool_with_progress() -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        conclave.progress(f"{done} of 100", done, 100)
    return "Done."
