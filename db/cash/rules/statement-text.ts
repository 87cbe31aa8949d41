import { createHash } from 'node:crypto'

/** A line as the file of a bank says it. Amounts are minor units: more than 0 came in. */
export type ParsedLine = {
  bookedOn: string
  amount: number
  externalId: string | null
  documentNumber: string | null
  text: string
  counterpartyDocument: string | null
  endToEndId: string | null
}
/** The content of a file. Null stands for what it does not say. */
export type ParsedStatement = {
  /** Code or number of the bank, branch, and number of the account, as they are written. */
  bank: string | null
  branch?: string | null
  account: string | null
  /** The line of the file that names them. */
  accountLine?: number
  currency: string | null
  from: string | null
  to: string | null
  opening: number | null
  closing: number | null
  /** The day of the closing balance, where the file says one. */
  closingOn?: string | null
  lines: ParsedLine[]
}
/** Why a file was not taken in. */
export type StatementError = { code: 'file_unreadable' | 'wrong_account' | 'currency_mismatch'; message: string }

/** In capitals, without accents, punctuation and double spaces: how two texts of one line are the same. */
export const plainWords = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, ' ')
    .trim()

/** SHA-256 of what tells a line from others (R16). */
export const fingerprintOf = ({ externalId, bookedOn, amount, text }: ParsedLine): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([externalId ?? '', bookedOn, amount, plainWords(text)]))
    .digest()
