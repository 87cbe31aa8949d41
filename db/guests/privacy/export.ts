import { unprocessable, notFound } from '../../../config/errors.ts'
import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { blobs, sealBytes, unsealBytes, unsealGuests } from '../../lib/sealing/index.ts'
import type { GuestConsentRow, GuestRegistrationRow, GuestRow, PrivacyRequestRow } from '../../rows.ts'
import { consentPlace } from '../consents.ts'
import { openDocuments } from '../documents/documents.ts'
import { openProfile } from '../lock.ts'
import { profileKey } from '../profile.ts'
import { openForm } from '../registration-form.ts'
import { groupOf } from '../resolve.ts'
import { exportedBeside } from './doors.ts'
import { complete, endErased } from './requests.ts'
import type { Certificate } from './certificate.ts'

const keptDays = 7
const exportPlace = (requestId: string) => ({ table: 'privacy_request', rowId: requestId, purpose: 'export' })

const stays = `
  select r.id, p.name as property, r.status, r.arrival, r.departure, n.role, b.number, r.currency, r.total
  from reservation_guest n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id join property p on p.tenant_id = r.tenant_id and p.id = r.property_id
  where n.guest_id = any(?::uuid[]) order by r.arrival, r.id`
const folios = `
  select f.number, f.currency, f.charges, f.credits, f.balance, f.status, coalesce((
    select jsonb_agg(jsonb_build_object('date', l.business_date, 'kind', l.kind, 'category', l.category, 'description', l.description, 'amount', l.amount)
      order by l.seq) from folio_line l where l.tenant_id = f.tenant_id and l.folio_id = f.id), '[]') as lines
  from folio f left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
  where f.payer_guest_id = any(?::uuid[]) or r.primary_guest_id = any(?::uuid[]) order by f.number`
const payments = `
  select p.method, p.status, p.amount, p.captured_amount, p.refunded_amount, p.currency, p.created_at from payment p
  where (p.target_type = 'booking' and p.target_id in (select b.id from booking b where b.booker_guest_id = any(?::uuid[])))
    or (p.target_type = 'reservation' and p.target_id in (select r.id from reservation r where r.primary_guest_id = any(?::uuid[])))
    or (p.target_type = 'folio' and p.target_id in (select f.id from folio f left join reservation r on r.tenant_id = f.tenant_id
      and r.id = f.reservation_id where f.payer_guest_id = any(?::uuid[]) or r.primary_guest_id = any(?::uuid[])))
  order by p.created_at, p.id`
const accesses = `
  select at, action, actor_type, reason, changes from audit_entry
  where subject_type = 'Guest' and subject_id = any(?::text[]) order by at`
const merges = `
  select survivor_id, merged_id, fields, merged_at, undone_at from guest_merge
  where survivor_id = any(?::uuid[]) or merged_id = any(?::uuid[]) order by merged_at`
const registrations = `select * from guest_registration where guest_id = any(?::uuid[]) order by created_at, id`
const consents = `select * from guest_consent where guest_id = any(?::uuid[]) order by at, id`

const personOf = async (trx: Trx, row: GuestRow) => ({
  id: row.id,
  firstName: row.firstName,
  lastName: row.lastName,
  preferredName: row.preferredName,
  language: row.language,
  nationality: row.nationality,
  residenceCountry: row.residenceCountry,
  tags: row.tags,
  source: row.source,
  createdAt: row.createdAt,
  ...(await openProfile(trx, row)),
})

/** Registration forms with what stands in them; of those whose key is gone, that there were some. */
const formsOf = async (trx: Trx, guestIds: readonly string[]) => {
  const rows = await sql<GuestRegistrationRow>(trx, registrations, [guestIds])
  const opened = await Promise.all(rows.map((row) => openForm(trx, row)))
  return rows.map(({ reservationId, status, signedAt, signedVia, missing }, index) => ({
    reservationId,
    status,
    signedAt,
    signedVia,
    signedName: opened[index]?.signature?.name ?? null,
    missing,
    form: opened[index]?.form ?? {},
  }))
}

/** All that is held about a guest, as R25 lists it: images and sealed texts of others are left out. */
const collect = async (trx: Trx, guestIds: readonly string[]) => {
  const rows = await sql<GuestRow>(trx, `select * from guest where id = any(?::uuid[]) order by created_at, id`, [
    guestIds,
  ])
  const given = await sql<GuestConsentRow>(trx, consents, [guestIds])
  const evidence = await unsealGuests<{ evidence: string }>(
    trx,
    'profile',
    given.map((one) => ({ guestId: one.guestId, place: consentPlace(one.id), sealed: one.sealed })),
  )
  const profiles = []
  for (const row of rows) profiles.push(await personOf(trx, row))
  return {
    profiles,
    documents: (await openDocuments(trx, guestIds)).map(
      ({ kind, countryCode, words, expiresOn, status, createdAt }) => ({
        kind,
        countryCode,
        number: words?.number ?? null,
        issuer: words?.issuer ?? null,
        expiresOn,
        status,
        createdAt,
      }),
    ),
    consents: given.map(({ purpose, decision, source, textVersion, at }, index) => ({
      purpose,
      decision,
      source,
      textVersion,
      at,
      evidence: evidence[index]?.evidence ?? null,
    })),
    stays: await sql(trx, stays, [guestIds]),
    folios: await sql(trx, folios, [guestIds, guestIds]),
    payments: await sql(trx, payments, [guestIds, guestIds, guestIds, guestIds]),
    ...(await exportedBeside(trx, guestIds)),
    registrations: await formsOf(trx, guestIds),
    accesses: await sql(trx, accesses, [guestIds]),
    merges: await sql(trx, merges, [guestIds, guestIds]),
  }
}

type Row = Omit<PrivacyRequestRow, 'certificate'> & { certificate: Certificate | null }

/**
 * Makes the export of an approved request, sealed by the guest's key and kept 7 days (L5). A request that is done stays as it is; one whose guest was
 * erased meanwhile is refused.
 */
export const makeExport = async (trx: Trx, requestId: string): Promise<void> => {
  const seen = await sqlOne<Row>(trx, `select * from privacy_request where id = ?`, [requestId])
  if (!seen) return
  const group = await groupOf(trx, seen.guestId)
  // Against an erasure that is approved meanwhile.
  const guests = await sql<Pick<GuestRow, 'status'>>(
    trx,
    `select status from guest where id = any(?::uuid[]) order by id for share`,
    [group],
  )
  const row = await sqlOne<Row>(
    trx,
    `select * from privacy_request where id = ? and kind = 'access' and status = 'running' for no key update`,
    [requestId],
  )
  if (!row) return
  if (guests.some(({ status }) => status === 'erased')) return endErased(trx, row)
  const data = Buffer.from(
    JSON.stringify({ privacyRequestId: requestId, madeAt: new Date().toISOString(), ...(await collect(trx, group)) }),
  )
  const blobId = await blobs.put(trx, await sealBytes(trx, profileKey(row.guestId), exportPlace(requestId), data))
  const exportUntil = new Date(Date.now() + keptDays * 86_400_000)
  await complete(trx, row, { exportBlobId: blobId, exportUntil }, [], [])
}

/** The export of a request, opened; each download is in the trail. 422 `export_expired` after 7 days. */
export const openExport = async (trx: Trx, requestId: string): Promise<Buffer> => {
  const row = await sqlOne<Row & { isErased: boolean }>(
    trx,
    `select q.*, g.status = 'erased' as is_erased from privacy_request q join guest g on g.tenant_id = q.tenant_id and g.id = q.guest_id
     where q.id = ?`,
    [requestId],
  )
  if (row?.kind !== 'access' || row.exportUntil === null) throw notFound('The request has no export')
  if (row.exportBlobId === null || row.exportUntil.getTime() <= Date.now())
    throw unprocessable('export_expired', 'The export was kept for 7 days; register another request')
  // The key that sealed it went with the erasure.
  const sealed = row.isErased ? null : await blobs.get(trx, row.exportBlobId)
  if (!sealed) throw unprocessable('export_expired', 'The export is gone; register another request')
  await audit(trx, { action: 'privacyRequests.export', subjectType: 'PrivacyRequest', subjectId: requestId })
  return unsealBytes(trx, profileKey(row.guestId), exportPlace(requestId), sealed)
}
