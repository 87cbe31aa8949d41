import { randomUUID } from 'node:crypto'
import { boundTenant } from '../../lib/bound-tenant.ts'
import { conflict, invalid, notFound, overtaken, unprocessable } from '../../../config/errors.ts'
import {
  guestErased as guestErasedEvent,
  privacyRequestCompleted,
  privacyRequestReceived,
  privacyRequestRefused,
} from '../../../config/events/guests.ts'
import type { Event } from '../../../config/events/event.ts'
import { eraseGuest, exportGuest } from '../../../jobs/guests.ts'
import { audit } from '../../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { model } from '../../lib/models.ts'
import { changeRow, fieldsOf, insertRow } from '../../lib/records.ts'
import { destroyGuestKey, seal, unsealGuests } from '../../lib/sealing/index.ts'
import type { GuestRow, PrivacyRequestRow } from '../../rows.ts'
import { tenantDay } from '../day.ts'
import { lockGuest, openProfile, refuseStale } from '../lock.ts'
import { lockGroups } from '../merge.ts'
import { profileKey } from '../profile.ts'
import { groupOf, guestErased } from '../resolve.ts'
import { checkProfile } from '../rules/profiles.ts'
import { announceEmail, writeProfile } from '../update.ts'
import type { GuestChange } from '../update.ts'
import { certify } from './certificate.ts'
import type { Certificate } from './certificate.ts'
import { planOf } from './plan.ts'

export type Row = Omit<PrivacyRequestRow, 'certificate'> & { certificate: Certificate | null }
export const PrivacyRequest = model<'privacy_request', { certificate: Certificate | null }>('privacy_request')
const dueDays = 15

export const requestPlace = (id: string) => ({ table: 'privacy_request', rowId: id, purpose: 'words' })
type Words = { note: string | null; correction: GuestChange | null }

export type NewRequest = {
  guestId: string
  kind: PrivacyRequestRow['kind']
  channel: PrivacyRequestRow['channel']
  receivedAt?: string | undefined
  note?: string | undefined
  correction?: GuestChange | undefined
}

type Fact = Pick<PrivacyRequestRow, 'id' | 'guestId' | 'kind' | 'dueOn'> & { version: number | null }
export const tellRequest = (
  trx: Trx,
  event: Event<typeof privacyRequestReceived.data>,
  { id, guestId, kind, dueOn, version }: Fact,
) => emit(trx, event, { propertyId: null, id, version, data: { privacyRequestId: id, guestId, kind, dueOn } })

/** Registers what a guest asks for (L1). One of each kind is open at a time: 409 `privacy_request_open`. */
export const registerRequest = async (trx: Trx, request: NewRequest): Promise<string> => {
  const { kind, channel, note = null, correction = null } = request
  const named = await sqlOne<{ id: string }>(trx, `select coalesce(merged_into_id, id) as id from guest where id = ?`, [
    request.guestId,
  ])
  const unknown = [{ field: 'guestId', message: 'does not exist' }]
  if (!named) throw unprocessable('reference_not_found', 'There is no such guest', unknown)
  const { id: guestId } = await lockGuest(trx, named.id)
  if ((kind === 'correction') !== (correction !== null))
    throw invalid([{ field: 'correction', message: 'is what a correction asks for, and no other request' }])
  if (correction) {
    if (fieldsOf(correction).length === 0) throw invalid([{ field: 'correction', message: 'names no field' }])
    checkProfile(correction, 'correction.')
  }
  const receivedAt = request.receivedAt === undefined ? new Date() : new Date(request.receivedAt)
  if (receivedAt.getTime() > Date.now() + 60_000) throw invalid([{ field: 'receivedAt', message: 'is to come' }])
  const open = await sqlOne<{ id: string }>(
    trx,
    `select id from privacy_request where guest_id = ? and kind = ? and status in ('received', 'running')`,
    [guestId, kind],
  )
  if (open)
    throw conflict('privacy_request_open', 'A request of this kind is open', [
      { field: 'kind', message: `request ${open.id} is open` },
    ])
  const id = randomUUID()
  const { dueOn } = (await sqlOne<{ dueOn: string }>(
    trx,
    `select (cast(? as timestamptz) at time zone t.time_zone)::date + ${dueDays} as due_on from tenant t where t.id = ${boundTenant}`,
    [receivedAt],
  ))!
  const words: Words = { note, correction }
  await insertRow(trx, PrivacyRequest, {
    id,
    guestId,
    kind,
    channel,
    receivedAt,
    dueOn,
    sealed: await seal(trx, profileKey(guestId), requestPlace(id), words),
    createdBy: contextOf(trx).actor,
  })
  await tellRequest(trx, privacyRequestReceived, { id, guestId, kind, dueOn, version: 1 })
  return id
}

const lockRequest = async (trx: Trx, id: string, expected: number | null): Promise<Row> => {
  const row = await sqlOne<Row>(trx, `select * from privacy_request where id = ? for no key update`, [id])
  if (!row) throw notFound()
  refuseStale(row, expected)
  return row
}

export const wordsOf = async (
  trx: Trx,
  { id, guestId, sealed }: Pick<Row, 'id' | 'guestId' | 'sealed'>,
): Promise<Words> => {
  const [words] = await unsealGuests<Words>(trx, 'profile', [{ guestId, place: requestPlace(id), sealed }])
  return words ?? { note: null, correction: null }
}

export type Approval = {
  identityMethod: NonNullable<PrivacyRequestRow['identityMethod']>
  planHash?: string | undefined
}

const decided = (trx: Trx) => ({ decidedBy: contextOf(trx).actor.id, decidedAt: new Date() })

/**
 * Carries a request out, once the identity of the person is known (L2–L4). A correction is done at once; an export is made by a job. An erasure makes
 * everything that the guest's key sealed unreadable with this commit, and a job takes away the rest.
 */
export const approveRequest = async (
  trx: Trx,
  id: string,
  { identityMethod, planHash }: Approval,
  expected: number | null = null,
): Promise<void> => {
  const seen = await sqlOne<Row>(trx, `select * from privacy_request where id = ?`, [id])
  if (!seen) throw notFound()
  if (seen.kind === 'correction' && seen.status === 'received')
    await announceEmail(trx, seen.guestId, (await wordsOf(trx, seen)).correction ?? {})
  // Guests are locked before their requests, as everywhere.
  const rows = await lockGroups(trx, await groupOf(trx, seen.guestId))
  const row = await lockRequest(trx, id, expected)
  if (row.status === 'running' || row.status === 'completed') return
  if (row.status !== 'received') throw conflict('invalid_transition', 'The request was refused')
  await audit(trx, {
    action: 'privacyRequests.approve',
    subjectType: 'PrivacyRequest',
    subjectId: id,
    reason: `${row.kind}, identity by ${identityMethod}`,
  })
  if (row.kind === 'correction') return correct(trx, row, identityMethod)
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a request belongs to a tenant')
  if (row.kind === 'access') {
    // Nothing is left to be exported, and no key to seal the export with.
    if (rows.some((one) => one.status === 'erased')) throw guestErased(row.guestId)
    await changeRow(trx, PrivacyRequest, id, { status: 'running', identityMethod, ...decided(trx) })
    await enqueue(trx, exportGuest, { tenantId, privacyRequestId: id })
    return
  }
  await beginErasure(trx, row, rows, { identityMethod, planHash })
  await enqueue(trx, eraseGuest, { tenantId, privacyRequestId: id })
}

const correct = async (trx: Trx, row: Row, identityMethod: Approval['identityMethod']): Promise<void> => {
  const { correction } = await wordsOf(trx, row)
  const guest = await lockGuest(trx, row.guestId)
  checkProfile(correction ?? {}, 'correction.')
  if (correction) await writeProfile(trx, guest, await openProfile(trx, guest), correction)
  await complete(trx, row, { identityMethod, ...decided(trx) }, [], [])
}

/** Completes a request with its certificate (L5). */
export const complete = async (
  trx: Trx,
  row: Row,
  decision: Partial<Pick<Row, 'identityMethod' | 'decidedBy' | 'decidedAt' | 'exportBlobId' | 'exportUntil'>>,
  erased: Certificate['erased'],
  kept: Certificate['kept'],
): Promise<void> => {
  const completedAt = new Date()
  const { certificate, token } = await certify(trx, {
    privacyRequestId: row.id,
    guestId: row.guestId,
    kind: row.kind,
    receivedAt: row.receivedAt.toISOString(),
    decidedAt: (decision.decidedAt ?? row.decidedAt ?? completedAt).toISOString(),
    completedAt: completedAt.toISOString(),
    erased,
    kept,
  })
  const version = await changeRow(trx, PrivacyRequest, row.id, {
    ...decision,
    status: 'completed',
    completedAt,
    certificate,
    certificateToken: token,
  })
  await tellRequest(trx, privacyRequestCompleted, { ...row, version })
}

/** The first part of an erasure (R22), under the locks of all profiles of the guest. */
const beginErasure = async (trx: Trx, row: Row, rows: readonly GuestRow[], { identityMethod, planHash }: Approval) => {
  const ids = rows.map((one) => one.id)
  const self = rows.find((one) => one.id === row.guestId)
  if (!self) throw overtaken()
  if (self.status === 'erased') throw guestErased(self.id)
  const plan = await planOf(trx, ids)
  if (plan.blockers.length > 0)
    throw unprocessable(
      'erasure_blocked',
      'Something open keeps the personal data',
      plan.blockers.map(({ code, message }) => ({ field: code, message })),
    )
  if (plan.hash !== planHash)
    throw conflict('plan_changed', 'The plan is another one now; read the request again', [
      { field: 'planHash', message: `is ${plan.hash} now` },
    ])
  await changeRow(trx, PrivacyRequest, row.id, {
    status: 'running',
    identityMethod,
    planHash,
    guestIds: ids,
    ...decided(trx),
  })
  const erased = await sql<Pick<GuestRow, 'id' | 'source' | 'version'>>(
    trx,
    `update guest set status = 'erased', erased_at = now(), first_name = 'Erased guest', last_name = '', preferred_name = '',
       name_search = 'erased guest', language = null, nationality = null, residence_country = null, sealed = null, tags = '{}',
       email_index = null, phone_index = null, phone_tail_index = null, birth_index = null, name_index = null, merged_into_id = null,
       version = version + 1
     where id = any(?::uuid[]) and status <> 'erased' returning id, source, version`,
    [ids],
  )
  for (const guest of erased) {
    await destroyGuestKey(trx, guest.id, 'profile')
    await emit(trx, guestErasedEvent, {
      propertyId: null,
      id: guest.id,
      version: guest.version,
      data: { guestId: guest.id, source: guest.source },
    })
  }
  // Forms stay readable for the authority until the law needs them no more (R23); without one the second key is of no use.
  await sql(
    trx,
    `update guest_key k set destroy_after = greatest(${tenantDay}, coalesce((
         select max(r.departure + make_interval(years => coalesce((p.settings -> 'registration' ->> 'retentionYears')::int, 5)))::date
         from guest_registration f join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
           join property p on p.tenant_id = f.tenant_id and p.id = f.property_id where f.guest_id = k.guest_id), ${tenantDay}))
     where k.guest_id = any(?::uuid[]) and k.purpose = 'retention' and k.destroyed_at is null`,
    [ids],
  )
}

/** Refuses a request with the basis in law (L6). */
export const refuseRequest = async (
  trx: Trx,
  id: string,
  { legalBasis, reason }: { legalBasis: string; reason: string },
  expected: number | null = null,
): Promise<void> => {
  const row = await lockRequest(trx, id, expected)
  if (row.status === 'refused') return
  if (row.status !== 'received') throw conflict('invalid_transition', 'The request was approved')
  const version = await changeRow(trx, PrivacyRequest, id, { status: 'refused', legalBasis, reason, ...decided(trx) })
  await tellRequest(trx, privacyRequestRefused, { ...row, version })
}

/** Ends an access request that was approved, but whose guest was erased before the export was made. */
export const endErased = async (trx: Trx, row: Row): Promise<void> => {
  const version = await changeRow(trx, PrivacyRequest, row.id, {
    status: 'refused',
    legalBasis: 'erasure',
    reason: 'The personal data of the guest were erased before the export was made',
  })
  await tellRequest(trx, privacyRequestRefused, { ...row, version })
}
