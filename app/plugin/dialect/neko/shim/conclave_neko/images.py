"""Pictures in a tool's envelope (contracts/neko, item 58): which are shown, and why others are not."""

from binascii import Error, a2b_base64

MAX_IMAGES = 2
MAX_BASE64 = 2 * 1024 * 1024
MAX_WIDTH, MAX_HEIGHT = 3840, 2160
MAX_PROMPT = 2000


def read(images):
    """Returns (content blocks, warnings) for the images of an envelope."""
    blocks, warnings = [], []
    if not isinstance(images, (list, tuple)):
        return blocks, ["images is not a list and was left out"]
    for number, image in enumerate(images):
        where = "image %d" % (number + 1)
        if len(blocks) == MAX_IMAGES:
            warnings.append("%s was left out: at most %d images a call" % (where, MAX_IMAGES))
            continue
        try:
            blocks.append(_block(image))
        except ValueError as err:
            warnings.append("%s was left out: %s" % (where, err))
            continue
        prompt = image.get("vision_prompt")
        if prompt is not None and (not isinstance(prompt, str) or len(prompt) > MAX_PROMPT):
            warnings.append("the vision_prompt of %s was left out: at most %d characters" % (where, MAX_PROMPT))
    return blocks, warnings


def _block(image):
    if not isinstance(image, dict) or not isinstance(image.get("data_b64"), str):
        raise ValueError("it has no data_b64")
    text = "".join(image["data_b64"].split())
    if text.startswith("data:"):
        raise ValueError("data_b64 begins with data:")
    if len(text) > MAX_BASE64:
        raise ValueError("it is larger than 2 MiB")
    try:
        data = a2b_base64(text)
    except Error:
        raise ValueError("data_b64 is not base64") from None
    mime, size = _look(data)
    said = image.get("mime")
    if said is not None and said != mime:
        raise ValueError("it says %s and is %s" % (said, mime))
    if size[0] > MAX_WIDTH or size[1] > MAX_HEIGHT:
        raise ValueError("it has %d×%d pixels; at most %d×%d" % (size + (MAX_WIDTH, MAX_HEIGHT)))
    return {"type": "image", "data": text, "mimeType": mime}


def _look(data):
    """Returns the media type and the size of a picture. ValueError for anything else."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return "image/png", (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
    if data[:3] == b"\xff\xd8\xff":
        return "image/jpeg", _jpeg(data)
    raise ValueError("it is neither PNG nor JPEG")


def _jpeg(data):
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2:at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return (int.from_bytes(data[at + 7:at + 9], "big"), int.from_bytes(data[at + 5:at + 7], "big"))
        at += 2 + length
    return (0, 0)
