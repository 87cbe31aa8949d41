import type { Trx } from '../../lib/connection.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import type { BookingGroupRow } from '../../rows.ts'

/** The contact person of a group. */
export type Contact = { name: string; email: string | null; phone: string | null }
export type GivenContact = { name: string; email?: string | null | undefined; phone?: string | null | undefined }

/** The release of rooms that are not picked up. */
export type Release = { type: 'none' } | { type: 'fixed'; date: string } | { type: 'rolling'; daysBefore: number }

type Columns = Pick<BookingGroupRow, 'releaseType' | 'releaseOn' | 'releaseDays'>

export const releaseOf = (release: Release): Columns => ({
  releaseType: release.type,
  releaseOn: release.type === 'fixed' ? release.date : null,
  releaseDays: release.type === 'rolling' ? release.daysBefore : null,
})

export const releaseFrom = ({ releaseOn, releaseDays }: Columns): Release => {
  if (releaseOn !== null) return { type: 'fixed', date: releaseOn }
  return releaseDays === null ? { type: 'none' } : { type: 'rolling', daysBefore: releaseDays }
}

const place = (id: string) => ({ table: 'booking_group', rowId: id, purpose: 'contact' })

export const sealContact = (
  trx: Trx,
  id: string,
  { name, email = null, phone = null }: GivenContact,
): Promise<Buffer> => seal(trx, 'tenant', place(id), { name, email, phone } satisfies Contact)

export const openContact = async (
  trx: Trx,
  { id, sealed }: Pick<BookingGroupRow, 'id' | 'sealed'>,
): Promise<Contact | null> => (sealed ? unseal<Contact>(trx, 'tenant', place(id), sealed) : null)
