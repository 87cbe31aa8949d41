import { randomUUID } from 'node:crypto'
import { guestConsentChanged } from '../../config/events/guests.ts'
import { contextOf, prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { insertRow } from '../lib/records.ts'
import { seal } from '../lib/sealing/index.ts'
import type { GuestConsentRow } from '../rows.ts'
import { lockGuest } from './lock.ts'
import { GuestConsent } from './models.ts'
import { profileKey } from './profile.ts'

export const purposes = ['marketing_email', 'marketing_sms', 'marketing_whatsapp', 'profiling', 'third_party'] as const
export const consentSources = ['desk', 'portal', 'link', 'message', 'import'] as const

export type NewConsent = {
  purpose: (typeof purposes)[number]
  decision: 'granted' | 'withdrawn'
  source: (typeof consentSources)[number]
  textVersion: string
  evidence?: string | undefined
}

export const consentPlace = (id: string) => ({ table: 'guest_consent', rowId: id, purpose: 'evidence' })

const write = async (trx: Trx, guestId: string, { evidence, ...consent }: NewConsent): Promise<string> => {
  const id = randomUUID()
  await insertRow(trx, GuestConsent, {
    id,
    guestId,
    ...consent,
    sealed: evidence === undefined ? null : await seal(trx, profileKey(guestId), consentPlace(id), { evidence }),
    by: contextOf(trx).actor,
  })
  await emit(trx, guestConsentChanged, {
    propertyId: null,
    id,
    version: null,
    data: { guestId, purpose: consent.purpose, decision: consent.decision },
  })
  return id
}

/** Records what a guest decided; the latest record of a purpose counts from its commit on (R18). */
export const recordConsent = async (
  trx: Trx,
  guestId: string,
  consent: NewConsent,
  expected: number | null = null,
): Promise<void> => {
  await lockGuest(trx, guestId, expected)
  await write(trx, guestId, consent)
}

/** Records decisions that came with a new profile, or with a booking. The caller has made or locked the profile. */
export const recordFirst = async (trx: Trx, guestId: string, consents: readonly NewConsent[]): Promise<void> => {
  for (const consent of consents) await write(trx, guestId, consent)
}

type Present = Pick<GuestConsentRow, 'id' | 'purpose' | 'decision' | 'source' | 'textVersion' | 'at'>

/**
 * The present decision of each purpose, over all profiles of a guest, the survivor first: one that the latest row of any of them withdraws is withdrawn (R14),
 * until the guest decides anew after the merge. A purpose without a row is not granted.
 */
export const presentConsents = (trx: Trx, guestIds: readonly string[]): Promise<Present[]> =>
  prepared<Present>(
    trx,
    `select distinct on (purpose) id, purpose, decision, source, text_version, at from (
       select distinct on (guest_id, purpose) * from guest_consent where guest_id = any(?::uuid[])
       order by guest_id, purpose, at desc, id) latest
     where latest.guest_id = ? or not exists (select from guest_consent n where n.guest_id = ? and n.purpose = latest.purpose
       and n.at > (select max(j.merged_at) from guest m join guest_merge j on j.tenant_id = m.tenant_id and j.merged_id = m.id and j.undone_at is null
         where m.merged_into_id = ?))
     order by purpose, (decision = 'withdrawn') desc, at desc, id`,
    [guestIds, guestIds[0], guestIds[0], guestIds[0]],
  )
