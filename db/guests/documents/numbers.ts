import { unprocessable } from '../../../config/errors.ts'
import { isCpf } from '../../../config/tax-ids.ts'
import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { blindIndex } from '../../lib/sealing/index.ts'

export const documentKinds = ['cpf', 'rg', 'passport', 'rnm', 'driving_licence', 'birth_certificate', 'other'] as const
export type DocumentKind = (typeof documentKinds)[number]

export type NewDocument = {
  kind: DocumentKind
  /** The country that issued it; `ZZ` where it was not stated. */
  countryCode: string
  number: string
  issuer?: string | null | undefined
  expiresOn?: string | null | undefined
}

/** The country of a document without a stated country. */
export const unknownCountry = 'ZZ'

/** The data of a document that its guest's profile key seals. */
export type DocumentWords = { number: string; issuer: string | null }

export const documentPlace = (documentId: string) => ({
  table: 'guest_document',
  rowId: documentId,
  purpose: 'document',
})

/** Refuses numbers that cannot be: a CPF has check digits, and belongs to Brazil. */
export const refuseFalseNumber = ({ kind, number, countryCode }: NewDocument, field: string): void => {
  const wrong = (message: string) =>
    unprocessable('document_invalid', 'The number of the document cannot be right', [{ field, message }])
  if (!/[\p{L}\p{N}]/u.test(number)) throw wrong('has no letter and no digit')
  if (kind !== 'cpf') return
  if (!isCpf(number)) throw wrong('is no CPF: its check digits differ')
  if (countryCode !== 'BR') throw wrong('is a CPF, which Brazil (BR) alone issues')
}

/**
 * Locks the numbers of documents until the transaction ends, in one order: profiles for one document are made one after the other, so that the
 * second finds the first. Takes no row lock; it stands where guests stand in the order of locks.
 */
export const lockNumbers = async (trx: Trx, indexes: readonly Buffer[]): Promise<void> => {
  const keys = [...new Set(indexes.map((index) => index.readBigInt64BE(0)))].toSorted((a, b) => (a < b ? -1 : 1))
  if (keys.length === 0) return
  await prepared(trx, `select pg_advisory_xact_lock(k) from (select unnest(?::bigint[]) as k order by 1 offset 0) n`, [
    keys.map(String),
  ])
}

export const numberIndex = (trx: Trx, number: string): Buffer => blindIndex(trx, 'document', number)

export type Holder = { guestId: string; numberIndex: Buffer; kind: string; countryCode: string }

/** Tells whether two documents of one number are one document. A country that was not stated may be any. */
export const isSame = (a: { kind: string; countryCode: string }, b: { kind: string; countryCode: string }): boolean =>
  a.kind === b.kind && (a.countryCode === b.countryCode || [a.countryCode, b.countryCode].includes(unknownCountry))

/** Guests who have documents of these numbers, merged ones by their survivor. Rejected documents and erased guests do not count. */
export const holdersOf = (trx: Trx, indexes: readonly Buffer[]): Promise<Holder[]> =>
  prepared<Holder>(
    trx,
    `select coalesce(g.merged_into_id, g.id) as guest_id, d.number_index, d.kind, d.country_code
     from guest_document d join guest g on g.tenant_id = d.tenant_id and g.id = d.guest_id
     where d.number_index = any(?::bytea[]) and d.status <> 'rejected' and g.status <> 'erased'
     order by g.created_at, g.id`,
    [indexes],
  )
