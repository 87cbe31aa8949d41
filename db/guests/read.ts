import { notFound } from '../../config/errors.ts'
import type { Condition } from '../lib/conditions.ts'
import { prepared, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { GuestRow } from '../rows.ts'
import { listBlocks } from './blocklist.ts'
import { presentConsents } from './consents.ts'
import { dayOf } from './day.ts'
import { listDocuments } from './documents/documents.ts'
import { openProfile } from './lock.ts'
import { listNotes } from './notes.ts'
import type { Audience } from './rules/audiences.ts'
import { ageOn, maskEmail, maskPhone } from './rules/masks.ts'

/** The parts of a guest that a reader may see. */
export type Viewer = {
  /** The properties whose blocks are shown, beside those for all. */
  scope: Condition
  audiences: readonly Audience[]
  /** E-mail, telephone, address and preferences whole (R9). */
  seesContact: boolean
  seesReasons: boolean
}

type Linked = Pick<GuestRow, 'id' | 'firstName' | 'lastName'> & { mergedAt: Date | null }

const hidden = <Value>(value: Value | null, show: (value: Value) => string): string | null =>
  value === null ? null : show(value)

/**
 * A profile with what is kept beside it, personal data masked by what the reader may see (R9). Documents, consents, notes and blocks are those of all
 * profiles that are merged into it. A merged profile is answered as it is, with the id of its survivor. 404.
 */
export const readGuest = async (trx: Trx, guestId: string, viewer: Viewer) => {
  const row = await sqlOne<GuestRow>(trx, `select * from guest where id = ?`, [guestId])
  if (!row) throw notFound()
  const mergedGuests = await prepared<Linked>(
    trx,
    `select g.id, g.first_name, g.last_name, m.merged_at from guest g
     left join guest_merge m on m.tenant_id = g.tenant_id and m.merged_id = g.id and m.undone_at is null
     where g.merged_into_id = ? order by g.id`,
    [guestId],
  )
  const group = [guestId, ...mergedGuests.map(({ id }) => id)]
  const [today, profile, documents, consents, notes, blocks, duplicates] = await Promise.all([
    dayOf(trx),
    openProfile(trx, row),
    listDocuments(trx, group),
    presentConsents(trx, group),
    listNotes(trx, group, viewer),
    listBlocks(trx, group, { scope: viewer.scope, seesReason: viewer.seesReasons }),
    prepared<{ id: string }>(
      trx,
      `select d.id from guest_duplicate d join guest g on g.tenant_id = d.tenant_id
         and g.id = case d.guest_a when ? then d.guest_b else d.guest_a end and g.status = 'active'
       where d.status = 'open' and (d.guest_a = ? or d.guest_b = ?) order by d.score desc, d.id limit 100`,
      [guestId, guestId, guestId],
    ),
  ])
  const { seesContact } = viewer
  const isErased = row.status === 'erased'
  const masked = [
    ...(['email', 'phone', 'otherPhone'] as const).filter((field) => !seesContact && profile[field] !== null),
    ...(!seesContact && profile.gender !== null ? (['gender'] as const) : []),
    ...(!seesContact && profile.address !== null ? (['address'] as const) : []),
    ...(!seesContact && profile.preferences.length > 0 ? (['preferences'] as const) : []),
    ...(profile.birthDate === null ? [] : (['birthDate'] as const)),
    ...(documents.length === 0 ? [] : (['documents'] as const)),
  ]
  return {
    id: row.id,
    status: row.status,
    firstName: row.firstName,
    lastName: row.lastName,
    preferredName: row.preferredName,
    language: row.language,
    nationality: row.nationality,
    residenceCountry: row.residenceCountry,
    email: seesContact ? profile.email : hidden(profile.email, maskEmail),
    phone: seesContact ? profile.phone : hidden(profile.phone, maskPhone),
    otherPhone: seesContact ? profile.otherPhone : hidden(profile.otherPhone, maskPhone),
    gender: seesContact ? profile.gender : null,
    age: profile.birthDate === null ? null : ageOn(profile.birthDate, today),
    address: seesContact ? profile.address : null,
    preferences: seesContact ? profile.preferences : [],
    masked: isErased ? [] : masked,
    tags: row.tags,
    source: row.source,
    mergedIntoId: row.mergedIntoId,
    mergedGuests,
    documents,
    consents,
    notes,
    blocks,
    openDuplicates: duplicates.map(({ id }) => id),
    erasedAt: row.erasedAt,
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** Tags of active guests, with how many have each: the most used first. */
export const listTags = (trx: Trx): Promise<{ tag: string; count: number }[]> =>
  prepared(
    trx,
    `select t.tag, count(*) as count from guest g cross join lateral unnest(g.tags) as t(tag)
     where g.status = 'active' group by t.tag order by count desc, t.tag limit 500`,
  )
