import { createHash } from 'node:crypto'

/** An entry as the diary seals it. Fields and their order are part of the contract: other programs compute the same hash. */
export type DiaryEntry = {
  id: string
  postingDate: string
  kind: string
  sourceType: string
  sourceId: string
  sourceSeq: number
  reversesEntryId: string | null
  currency: string
  total: number
  description: string
  lines: readonly DiaryLine[]
}
export type DiaryLine = {
  lineNo: number
  accountId: string
  debit: number
  credit: number
  propertyId: string | null
  costCenterId: string | null
  documentType: string | null
  documentId: string | null
}

/** The hash before the first entry of a book: 32 zero bytes. */
export const beforeAll = Buffer.alloc(32)

/** The canonical JSON of an entry with its number (R28): UTF-8, no blanks, keys in this order, null where there is none. */
export const canonical = (number: number, entry: DiaryEntry): string =>
  JSON.stringify({
    number,
    id: entry.id,
    postingDate: entry.postingDate,
    kind: entry.kind,
    sourceType: entry.sourceType,
    sourceId: entry.sourceId,
    sourceSeq: entry.sourceSeq,
    reversesEntryId: entry.reversesEntryId,
    currency: entry.currency,
    total: entry.total,
    description: entry.description,
    lines: entry.lines.map((line) => ({
      lineNo: line.lineNo,
      accountId: line.accountId,
      debit: line.debit,
      credit: line.credit,
      propertyId: line.propertyId,
      costCenterId: line.costCenterId,
      documentType: line.documentType,
      documentId: line.documentId,
    })),
  })

/** SHA-256 of the 32 bytes of the hash before and the canonical JSON of the entry. */
export const sealOf = (previous: Buffer, number: number, entry: DiaryEntry): Buffer =>
  createHash('sha256').update(previous).update(canonical(number, entry), 'utf8').digest()
