/** A member's picture: drawn small by the page, before the program is given it. */

/** Its width and height; as app/base/limit has it. */
const side = 128;

/** Crops a picture to its middle square and scales it down; returns a PNG in base64. */
export async function small(file: File): Promise<string> {
  const address = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const { naturalWidth: width, naturalHeight: height } = image;
    const square = Math.min(width, height);
    canvas
      .getContext("2d")
      ?.drawImage(image, (width - square) / 2, (height - square) / 2, square, square, 0, 0, side, side);
    return canvas.toDataURL("image/png").replace(/^[^,]*,/, "");
  } finally {
    URL.revokeObjectURL(address);
  }
}
