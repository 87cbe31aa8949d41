import { privacyRequestDueDateNeared, privacyRequestDueDatePassed } from '../../../config/events/guests.ts'
import { boundTenant } from '../../lib/bound-tenant.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { blobs, destroyGuestKey } from '../../lib/sealing/index.ts'
import type { PrivacyRequestRow } from '../../rows.ts'
import { presentDay } from '../../units/index.ts'
import { dayOf, tenantDay } from '../day.ts'
import { imageLimit } from '../documents/image-limit.ts'
import { registerRequest, tellRequest } from './requests.ts'

const atOnce = 500
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

/** Tenants in which something of this page may be due. */
export const dueTenants = (trx: PlatformTrx): Promise<{ tenantId: string }[]> =>
  sql<{ tenantId: string }>(trx, `select tenant_id from privacy_due_tenants()`)

const imagesDue = `
  select f.id, f.blob_id from guest_document_file f ${imageLimit}
  where l.delete_after < l.today order by f.id limit ${atOnce}`

/** Deletes images of documents whose time is over. Answers how many. */
export const deleteOldImages = async (trx: Trx): Promise<number> => {
  const due = await sql<{ id: string; blobId: string }>(trx, imagesDue)
  await sql(trx, `delete from guest_document_file where id = any(?::uuid[])`, [due.map((file) => file.id)])
  await blobs.remove(
    trx,
    due.map((file) => file.blobId),
  )
  return due.length
}

/** Deletes exports after their 7 days. */
export const deleteOldExports = async (trx: Trx): Promise<number> => {
  const due = await sql<{ id: string; exportBlobId: string }>(
    trx,
    `select id, export_blob_id from privacy_request where export_blob_id is not null and export_until <= now()
     order by id limit ${atOnce} for no key update skip locked`,
  )
  await sql(trx, `update privacy_request set export_blob_id = null, version = version + 1 where id = any(?::uuid[])`, [
    due.map((row) => row.id),
  ])
  await blobs.remove(
    trx,
    due.map((row) => row.exportBlobId),
  )
  return due.length
}

/** Raises, once each, that the day of a request is near or over (R19). */
export const tellDueDates = async (trx: Trx): Promise<number> => {
  const near = await sql<PrivacyRequestRow>(
    trx,
    `update privacy_request set neared_at = now(), version = version + 1 where id in (select id from privacy_request
       where status in ('received', 'running') and neared_at is null and due_on <= ${tenantDay} + 3 order by id limit ${atOnce}) returning *`,
  )
  for (const row of near) await tellRequest(trx, privacyRequestDueDateNeared, row)
  const past = await sql<PrivacyRequestRow>(
    trx,
    `update privacy_request set passed_at = now(), version = version + 1 where id in (select id from privacy_request
       where status in ('received', 'running') and passed_at is null and due_on < ${tenantDay} order by id limit ${atOnce}) returning *`,
  )
  for (const row of past) await tellRequest(trx, privacyRequestDueDatePassed, row)
  return near.length + past.length
}

// The years and the calendar of the house in which a stay was count for its form; a form of a stay to come keeps all others of the guest.
const formsOver = `
  select f.guest_id from guest_registration f join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
    join property p on p.tenant_id = f.tenant_id and p.id = f.property_id
  where (:ids::uuid[] is null or f.guest_id = any(:ids::uuid[]))
  group by f.guest_id
  having bool_or(f.sealed is not null)
    and bool_and(r.departure + make_interval(years => coalesce((p.settings -> 'registration' ->> 'retentionYears')::int, 5))
      < (now() at time zone p.timezone)::date)
  limit ${atOnce}`

const guestsOver = async (trx: Trx, ids: readonly string[] | null): Promise<string[]> =>
  (await sql<{ guestId: string }>(trx, formsOver, { ids })).map((row) => row.guestId)

/** Destroys keys of registration forms that the law needs no more (R23): those of erased guests on their day, all others with the guest's last form. */
export const destroyOldKeys = async (trx: Trx): Promise<number> => {
  const erased = await sql<{ guestId: string }>(
    trx,
    `select guest_id from guest_key where purpose = 'retention' and destroyed_at is null and destroy_after < ${tenantDay} limit ${atOnce}`,
  )
  for (const { guestId } of erased) await destroyGuestKey(trx, guestId, 'retention')
  // A form is filled in under the lock of its guest, and a stay may have come meanwhile.
  const held = await sql<{ id: string }>(
    trx,
    `select id from guest where id = any(?::uuid[]) order by id for no key update skip locked`,
    [await guestsOver(trx, null)],
  )
  const over = held.length === 0 ? [] : await guestsOver(trx, ids(held))
  for (const guestId of over) await destroyGuestKey(trx, guestId, 'retention')
  await sql(
    trx,
    `update guest_registration set sealed = null, version = version + 1 where guest_id = any(?::uuid[]) and sealed is not null`,
    [over],
  )
  return erased.length + over.length
}

/** Takes the documents off blocks of erased guests: at the end of the block by the day of its house, or two years after the erasure. */
export const forgetBlocks = async (trx: Trx): Promise<number> =>
  (
    await sql(
      trx,
      `update guest_block b set document_indexes = '{}', version = b.version + 1
       from guest g where g.tenant_id = b.tenant_id and g.id = b.guest_id and g.status = 'erased' and b.document_indexes <> '{}'
         and least(coalesce(b.ends_on, 'infinity'), (g.erased_at + interval '2 years')::date)
           < coalesce((select ${presentDay('y')} from property y where y.tenant_id = b.tenant_id and y.id = b.property_id), ?::date) returning b.id`,
      [await dayOf(trx)],
    )
  ).length

/** The profiles of the guest `g`: its own, and those merged into it. Each is found by its index, where an `or` of both reads all guests for each. */
const profiles = `(select g.id union all select m.id from guest m where m.tenant_id = g.tenant_id and m.merged_into_id = g.id)`

const inactive = `
  select g.id from guest g
  where g.status = 'active' and g.created_at < now() - make_interval(years => :years)
    and not exists (select from privacy_request q where q.tenant_id = g.tenant_id and q.guest_id = g.id and q.kind = 'erasure')
    and not exists (
      select from reservation_guest n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
      where n.tenant_id = g.tenant_id and n.guest_id in ${profiles} and r.departure > ${tenantDay} - make_interval(years => :years))
    and not exists (
      select from booking b where b.tenant_id = g.tenant_id and b.booker_guest_id in ${profiles} and b.created_at > now() - make_interval(years => :years))
    and not exists (
      select from folio f where f.tenant_id = g.tenant_id and f.payer_guest_id in ${profiles} and f.charges <> f.credits)
  order by g.id limit 200`

/** Registers erasures of guests without a stay, booking or balance for the tenant's years; a person approves them like any other (R26). */
export const proposeErasures = async (trx: Trx): Promise<number> => {
  const setting = await sqlOne<{ years: number }>(
    trx,
    `select coalesce((settings -> 'guests' ->> 'inactiveYears')::int, 0) as years from tenant where id = ${boundTenant}`,
  )
  const years = setting?.years ?? 0
  if (years === 0) return 0
  const due = await sql<{ id: string }>(trx, inactive, { years })
  for (const { id } of due) await registerRequest(trx, { guestId: id, kind: 'erasure', channel: 'retention' })
  return due.length
}
