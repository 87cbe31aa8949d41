import { recordConsent, survivorOf } from '../guests/index.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ChannelKind } from './rules/contents.ts'

/**
 * Tells whether a guest wants marketing by a kind of channel, as SQL: `guest` is an expression for the id of the survivor. What any of its profiles withdraws is
 * withdrawn, until the guest decides anew after the merge; without a word it is not granted.
 */
export const consents = (guest: string, purpose: string): string => `
  coalesce((select bool_and(latest.decision = 'granted')
    from (select ${guest} as id, false as is_merged union all select o.id, true from guest o where o.merged_into_id = ${guest}) person
    cross join lateral (select c.decision from guest_consent c where c.guest_id = person.id and c.purpose = ${purpose}
      order by c.at desc, c.id limit 1) latest
    where not (person.is_merged and exists (select from guest_consent n where n.guest_id = ${guest} and n.purpose = ${purpose}
      and n.at > (select max(j.merged_at) from guest m join guest_merge j on j.tenant_id = m.tenant_id and j.merged_id = m.id and j.undone_at is null
        where m.merged_into_id = ${guest})))), false)`

export const hasConsent = async (trx: Trx, guestId: string | null, kind: ChannelKind): Promise<boolean> => {
  if (guestId === null) return false
  const row = await sqlOne<{ granted: boolean }>(
    trx,
    `select ${consents(survivorOf('g'), ':purpose')} as granted from guest g where g.id = :guestId`,
    { purpose: `marketing_${kind}`, guestId },
  )
  return row?.granted ?? false
}

/** Holds a guest before the message about them: consent and erasure lock guests first, too. Answers the profile that stands, or null. */
export const holdGuest = async (trx: Trx, guestId: string | null): Promise<string | null> => {
  if (guestId === null) return null
  const found = await sqlOne<{ id: string }>(trx, `select coalesce(merged_into_id, id) as id from guest where id = ?`, [
    guestId,
  ])
  if (!found) return null
  const [guest] = await sql<{ status: string; mergedIntoId: string | null }>(
    trx,
    `select status, merged_into_id from guest where id = ? for no key update`,
    [found.id],
  )
  // It was merged while this waited for it: its survivor is held as well.
  if (guest?.mergedIntoId) return holdGuest(trx, guest.mergedIntoId)
  return guest?.status === 'active' ? found.id : null
}

/** The guests with an address, of a merged profile its survivor, in the order of ids; `most` of them at most. `guestId` is one beside them, whatever their address. */
export const guestsWith = async (
  trx: Trx,
  { kind, index, guestId = null }: { kind: ChannelKind; index: Buffer | null; guestId?: string | null },
  most: number | null = null,
): Promise<string[]> => {
  const rows = await sql<{ id: string }>(
    trx,
    `select distinct coalesce(g.merged_into_id, g.id) as id from (
       select id, merged_into_id from guest where ${kind === 'email' ? 'email_index' : 'phone_index'} = ?
       union all select id, merged_into_id from guest where id = cast(? as uuid)) g
     order by 1 limit ?`,
    [index, guestId, most],
  )
  return rows.map(({ id }) => id)
}

/** Withdraws a guest's consent to marketing by a kind of channel, unless it is withdrawn or the guest is gone. The caller holds the guest. */
export const withdrawConsent = async (
  trx: Trx,
  guestId: string | null,
  kind: ChannelKind,
  source: 'link' | 'message',
): Promise<void> => {
  if (guestId === null || !(await hasConsent(trx, guestId, kind))) return
  await recordConsent(trx, guestId, {
    purpose: `marketing_${kind}`,
    decision: 'withdrawn',
    source,
    textVersion: source === 'link' ? 'unsubscribe' : 'stop',
  })
}
