import { mostStatementLines } from '../../../config/cash-statements.ts'
import type { ParsedStatement, StatementError, StatementFile } from '../../../db/cash/index.ts'
import { readCnab } from './cnab.ts'
import { readCsv } from './csv.ts'
import { readOfx } from './ofx.ts'
import { textOf, Unreadable } from './text.ts'

const readText = ({ format, mapping, digits }: StatementFile, text: string): ParsedStatement => {
  if (format === 'ofx') return readOfx(text, digits)
  if (format === 'cnab240') return readCnab(text, digits)
  if (mapping === null) throw new Unreadable('The columns of the file are not known')
  return readCsv(text, mapping, digits)
}

/** Reads a file, or says why it cannot be read; one unreadable line is enough (R15). */
export const readStatementFile = (file: StatementFile): ParsedStatement | StatementError => {
  try {
    const parsed = readText(file, textOf(file.bytes))
    if (parsed.lines.length > mostStatementLines)
      throw new Unreadable(`The file has more than ${mostStatementLines} lines`)
    return parsed
  } catch (error) {
    if (error instanceof Unreadable) return { code: 'file_unreadable', message: error.message }
    throw error
  }
}
