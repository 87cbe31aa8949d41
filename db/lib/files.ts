import { invalid } from '../../config/errors.ts'
import { kindOfFile, mostFileBytes } from '../../config/file-kinds.ts'

/**
 * The bytes of a file sent as base64 in `field`, of the type that it is said to be. Looks at the first bytes; nothing is ever unpacked. 400
 * `validation_failed`, `file_too_large`, `file_type_mismatch`.
 */
export const fileContent = async <Type extends string>(
  mediaType: Type,
  data: string,
  field = 'data',
): Promise<Buffer> => {
  const bytes = Buffer.from(data, 'base64')
  // Decoding passes over what is no base64; a broken text must not become another file. A pattern over so long a text needs much of the stack.
  if (bytes.toString('base64') !== data) throw invalid([{ field, message: 'is no base64' }])
  if (bytes.length > mostFileBytes)
    throw invalid([{ field, message: `has ${bytes.length} bytes` }], 'file_too_large', 'A file has at most 10 MiB')
  const kind = await kindOfFile(bytes)
  if (kind !== mediaType)
    throw invalid(
      [{ field, message: kind === null ? 'is no file of an accepted type' : `is ${kind}` }],
      'file_type_mismatch',
      'The content is not of the media type that was sent',
    )
  return bytes
}
