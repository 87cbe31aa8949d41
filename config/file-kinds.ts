/** Media types of files that may be attached or stored. */
export const imageTypes = ['image/jpeg', 'image/png', 'image/webp'] as const
export const documentTypes = [...imageTypes, 'application/pdf'] as const
export const attachmentTypes = [...documentTypes, 'application/xml', 'text/csv'] as const
export type FileKind = (typeof attachmentTypes)[number]

export const mostFileBytes = 10 * 1024 * 1024

// file-type reads a PNG up to its first IDAT, which may stand beyond the bytes given. Nothing of a file is ever inflated.
const pngData = Buffer.from('0000000049444154', 'hex')
const pngHead = Buffer.from('89504e470d0a1a0a', 'hex')
const headBytes = 64

const known: readonly string[] = attachmentTypes
const names: Readonly<Record<string, FileKind>> = { 'text/xml': 'application/xml' }

/** Text of one line or more, in UTF-8, without control characters but tabs and line breaks. */
const isPlainText = (bytes: Buffer): boolean => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return !/(?![\t\n\r])\p{Cc}/u.test(text)
  } catch {
    return false
  }
}

/**
 * Kind of a file by its content, never by its name: null where it is none of those accepted. Pictures, PDF and XML are told by their first bytes. CSV has
 * no mark of its own: it is text that is nothing else.
 */
export const kindOfFile = async (bytes: Buffer): Promise<FileKind | null> => {
  const { fileTypeFromBuffer } = await import('file-type')
  const isPng = bytes.subarray(0, pngHead.length).equals(pngHead)
  const head = isPng ? Buffer.concat([bytes.subarray(0, 33), pngData]) : bytes.subarray(0, headBytes)
  try {
    const found = await fileTypeFromBuffer(Uint8Array.from(head))
    const type = found === undefined ? '' : (names[found.mime] ?? found.mime)
    if (known.includes(type)) return type as FileKind
    return found === undefined && bytes.length > 0 && isPlainText(bytes) ? 'text/csv' : null
  } catch {
    // It throws where bytes contradict each other.
    return null
  }
}
