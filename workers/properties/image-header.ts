/** Type and size of a picture, by its content and not by its name. Sizes are those stored, before any rotation. */
export type ImageHeader = { mimeType: 'image/jpeg' | 'image/png' | 'image/webp'; width: number; height: number }

// As image-size names them.
const types = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/webp': 'webp' } as const
const isAccepted = (type: string): type is ImageHeader['mimeType'] => type in types

// The largest that PNG allows, and the largest integer of the record.
const largest = 2 ** 31 - 1
const mostSegments = 1_000

// Types stand in these, the IHDR of a PNG, and the sizes of a WebP, of which image-size would take missing bytes for zeros.
const headBytes = 33
const webpBytes = 30
// file-type reads a PNG up to its first IDAT, which may stand beyond the bytes kept. Only an animation would differ, and that is a PNG too.
const pngData = Buffer.from('0000000049444154', 'hex')
const emptyComment = Buffer.from('ffd8fffe0002', 'hex')

/**
 * A JPEG that holds nothing but the frame of this one. image-size passes over no fill bytes, fails on a broken Exif, needs a segment before the frame,
 * and goes through damaged files byte by byte. Null if no frame follows within 1,000 segments.
 */
const frameAlone = (bytes: Buffer): Buffer | null => {
  let at = 2
  for (let segment = 0; segment < mostSegments; segment += 1) {
    if (bytes[at] !== 0xff) return null
    while (bytes[at + 1] === 0xff) at += 1
    if (at + 4 > bytes.length) return null
    const marker = bytes.readUInt8(at + 1)
    const until = at + 2 + bytes.readUInt16BE(at + 2)
    if (marker >= 0xc0 && marker <= 0xc2) return Buffer.concat([emptyComment, bytes.subarray(at, until)])
    at = until
  }
  return null
}

/** Loaded with the first picture: a start would wait 40 ms for both. */
const libraries = async () => {
  const [{ fileTypeFromBuffer }, { disableTypes, imageSize, types: known }] = await Promise.all([
    import('file-type'),
    import('image-size'),
  ])
  disableTypes(known.filter((type) => !Object.values<string>(types).includes(type)))
  return { fileTypeFromBuffer, imageSize }
}

/** Null for content that is none of the three types, or does not say its size within the given bytes. */
export const readImageHeader = async (bytes: Buffer): Promise<ImageHeader | null> => {
  const { fileTypeFromBuffer, imageSize } = await libraries()
  const head = bytes.subarray(0, headBytes)
  try {
    const mimeType = (await fileTypeFromBuffer(Buffer.concat([head, pngData])))?.mime ?? ''
    if (!isAccepted(mimeType) || (mimeType === 'image/webp' && head.length < webpBytes)) return null
    const sized = mimeType === 'image/jpeg' ? frameAlone(bytes) : head
    if (!sized) return null
    // A copy: image-size reads on behind the end of a slice, in whatever memory lies there.
    const { type, width, height } = imageSize(new Uint8Array(sized))
    const isSound = type === types[mimeType] && Math.min(width, height) > 0 && Math.max(width, height) <= largest
    return isSound ? { mimeType, width, height } : null
  } catch {
    // Both throw where bytes are missing or contradict each other.
    return null
  }
}
