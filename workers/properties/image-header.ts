/** What the first bytes of a picture say of it, by content and not by name. Sizes are those stored, before any rotation. */
export type ImageHeader = { mimeType: 'image/jpeg' | 'image/png' | 'image/webp'; width: number; height: number }

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** PNG: the IHDR chunk comes first. */
const png = (bytes: Buffer): ImageHeader | null =>
  bytes.length >= 24 && bytes.subarray(0, 8).equals(pngSignature) && bytes.toString('latin1', 12, 16) === 'IHDR'
    ? { mimeType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : null

// Frames of a JPEG begin with one of these, which holds the size.
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
const hasNoLength = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)

/** JPEG: segments of a marker and a length, up to the frame. */
const jpeg = (bytes: Buffer): ImageHeader | null => {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null
  let at = 2
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) at += 1
    else if (hasNoLength(marker)) at += 2
    else if (isFrame(marker))
      return { mimeType: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    else if (marker === 0xd9 || marker === 0xda) return null
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return null
}

/** WebP: a RIFF file whose first chunk is lossy, lossless or extended. */
const webp = (bytes: Buffer): ImageHeader | null => {
  const text = (from: number, until: number) => bytes.toString('latin1', from, until)
  if (bytes.length < 30 || text(0, 4) !== 'RIFF' || text(8, 12) !== 'WEBP') return null
  const mimeType = 'image/webp'
  switch (text(12, 16)) {
    case 'VP8 ':
      return bytes.readUIntBE(23, 3) === 0x9d012a
        ? { mimeType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
        : null
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21)
      return bytes[20] === 0x2f
        ? { mimeType, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
        : null
    }
    case 'VP8X':
      return { mimeType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}

/** Null for what is none of the three, or does not say its size in what there is of it. */
export const readImageHeader = (bytes: Buffer): ImageHeader | null => {
  const found = png(bytes) ?? jpeg(bytes) ?? webp(bytes)
  return found && found.width > 0 && found.height > 0 ? found : null
}
