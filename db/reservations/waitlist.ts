import { randomUUID } from 'node:crypto'
import { ApiError, unprocessable } from '../../config/errors.ts'
import type { Event } from '../../config/events/event.ts'
import {
  waitlistEntryBooked,
  waitlistEntryChanged,
  waitlistEntryClosed,
  waitlistEntryCreated,
  waitlistEntryMatched,
} from '../../config/events/waitlist.ts'
import { isOfGuest, resolveGuests } from '../guests/index.ts'
import type { Condition } from '../lib/conditions.ts'
import { prepared, preparedOne, sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { emit, sentFields } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { onDays } from '../lib/days.ts'
import { flag, inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Paging, Sort } from '../lib/paging.ts'
import { changeRow, expression, insertRow, readRow } from '../lib/records.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import { requestMatches } from '../lib/waiting.ts'
import { searchOffers } from '../properties/index.ts'
import type { WaitlistEntryRow } from '../rows.ts'
import { guestName, presentDay } from '../units/index.ts'
import { WaitlistEntry } from './models.ts'
import { judgeWish } from './waitlist-judge.ts'
import type { Contact, Wish } from './waitlist-judge.ts'

export type { Wish } from './waitlist-judge.ts'

type Words = { contact: Contact | null; note: string }

const waitlistLifecycle = lifecycle<WaitlistEntryRow['status']>('A request')({
  changed: { from: ['waiting'] },
  booked: { from: ['waiting'] },
  closed: { from: ['waiting'], to: 'closed' },
})

const place = (id: string) => ({ table: 'waitlist_entry', rowId: id, purpose: 'waitlist' })
const noWords: Words = { contact: null, note: '' }

const openWords = async (trx: Trx, { id, sealed }: Pick<WaitlistEntryRow, 'id' | 'sealed'>): Promise<Words> =>
  sealed === null ? noWords : unseal<Words>(trx, 'tenant', place(id), sealed)

const sealWords = async (trx: Trx, id: string, words: Words): Promise<Buffer | null> =>
  words.contact === null && words.note === '' ? null : seal(trx, 'tenant', place(id), words)

const tell = (trx: Trx, event: Event<typeof waitlistEntryCreated.data>, entry: WaitlistEntryRow, sent?: object) =>
  emit(trx, event, {
    propertyId: entry.propertyId,
    id: entry.id,
    version: entry.version,
    data: {
      waitlistEntryId: entry.id,
      propertyId: entry.propertyId,
      status: entry.status,
      arrival: entry.arrival,
      departure: entry.departure,
      bookingId: entry.bookingId,
    },
    ...(sent ? { changed: sentFields(sent) } : {}),
  })

const survivorOf = async (trx: Trx, guestId: string | null | undefined): Promise<string | null> =>
  guestId ? ((await resolveGuests(trx, [guestId])).get(guestId) ?? null) : null

/** Puts a request on the waitlist (W1). It takes nothing; a job looks soon whether it can be met. */
export const createWaitlistEntry = async (
  trx: Trx,
  { propertyId, guestId, contact = null, note = '', ...wish }: Wish & { propertyId: string },
): Promise<string> => {
  const id = randomUUID()
  await judgeWish(trx, propertyId, { guestId, contact, ...wish })
  const survivor = await survivorOf(trx, guestId)
  const made = await insertRow(trx, WaitlistEntry, {
    id,
    propertyId,
    guestId: survivor,
    sealed: await sealWords(trx, id, { contact, note }),
    ...wish,
  })
  await tell(trx, waitlistEntryCreated, made)
  await requestMatches(trx, propertyId)
  return id
}

export type WishChange = { [Field in keyof Wish]?: Wish[Field] | undefined }

/** Changes a request that still waits; the caller holds its row. It is looked for anew, so that what fitted before may fit no more. */
export const changeWaitlistEntry = async (trx: Trx, id: string, change: WishChange): Promise<void> => {
  const entry = await readRow(trx, WaitlistEntry, id)
  waitlistLifecycle.allow('changed', entry.status)
  const { contact, note, guestId, ...wish } = change
  const words = await openWords(trx, entry)
  const after: Words = { contact: contact === undefined ? words.contact : contact, note: note ?? words.note }
  const person = guestId === undefined ? entry.guestId : guestId
  const sent = Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined))
  if (Object.values(change).every((value) => value === undefined)) return
  await judgeWish(trx, entry.propertyId, { ...entry, ...sent, guestId: person, contact: after.contact })
  await changeRow(trx, WaitlistEntry, id, {
    ...wish,
    guestId: guestId === undefined ? undefined : await survivorOf(trx, guestId),
    sealed: await sealWords(trx, id, after),
    matchedAt: null,
  })
  await tell(trx, waitlistEntryChanged, await readRow(trx, WaitlistEntry, id), sent)
  await requestMatches(trx, entry.propertyId)
}

const close = async (trx: Trx, entry: WaitlistEntryRow, reason: string): Promise<void> => {
  await changeRow(trx, WaitlistEntry, entry.id, {
    status: 'closed',
    closeReason: reason,
    closedAt: expression('now()'),
    matchedAt: null,
  })
  await tell(trx, waitlistEntryClosed, await readRow(trx, WaitlistEntry, entry.id))
}

/** Takes a request off the waitlist (W4); the caller holds its row. Its contact and note are erased 30 days later. Repeated, it changes nothing. */
export const closeWaitlistEntry = async (trx: Trx, id: string, reason: string): Promise<void> => {
  const entry = await readRow(trx, WaitlistEntry, id)
  if (waitlistLifecycle.isDue('closed', entry.status)) await close(trx, entry, reason)
}

const lockEntry = (trx: Trx, id: string) =>
  preparedOne<WaitlistEntryRow>(trx, `select * from waitlist_entry where id = ? for no key update`, [id])

/**
 * A booking meets a request (W2). The entry is locked after the booking and before its reservations. 422 `reference_not_found` where the property has none,
 * 409 `invalid_transition` where it does not wait.
 */
export const bookWaitlistEntry = async (
  trx: Trx,
  { id, propertyId, bookingId }: { id: string; propertyId: string; bookingId: string },
): Promise<void> => {
  const entry = await lockEntry(trx, id)
  if (entry?.propertyId !== propertyId)
    throw unprocessable('reference_not_found', 'The property has no such request', [
      { field: 'waitlistEntryId', message: 'is not on the waitlist of the property' },
    ])
  waitlistLifecycle.allow('booked', entry.status)
  await changeRow(trx, WaitlistEntry, id, { status: 'booked', bookingId })
  await tell(trx, waitlistEntryBooked, await readRow(trx, WaitlistEntry, id))
}

export const waitlistSorts = {
  priority: 'w.priority',
  createdAt: 'w.created_at',
  arrival: 'w.arrival',
} as const

export type WaitlistFilter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  matched?: boolean | undefined
  arrivalFrom?: string | undefined
  arrivalTo?: string | undefined
  guestId?: string | undefined
  sort: Sort<keyof typeof waitlistSorts>
  scope: Condition
}

type Listed = WaitlistEntryRow & { guestName: string | null }
const columns = `w.*, ${guestName} as guest_name`
const joins = 'left join guest g on g.tenant_id = w.tenant_id and g.id = w.guest_id'

const shown = async (trx: Trx, { guestName: name, ...entry }: Listed) => ({
  ...entry,
  ...(await openWords(trx, entry)),
  guest: entry.guestId === null ? null : { guestId: entry.guestId, name: name ?? '' },
})

export type WaitlistShown = Awaited<ReturnType<typeof shown>>

/** Requests that wait, matched ones first; then by the order asked for. */
export const listWaitlist = async (trx: Trx, { status = 'waiting', matched, ...filter }: WaitlistFilter) => {
  const { total, rows } = await readPage<Listed>(
    trx,
    {
      columns,
      from: 'waitlist_entry w',
      joins,
      conditions: [
        ...inScope(filter.scope, 'w.property_id'),
        ...where('w.property_id = ?', filter.propertyId),
        ...where('w.status = ?', status),
        ...flag('w.matched', matched),
        ...where(isOfGuest('w.guest_id'), filter.guestId),
      ],
      days: onDays('w.arrival', { from: filter.arrivalFrom, to: filter.arrivalTo }),
      order: `w.matched_at is null, ${orderBy(filter.sort, waitlistSorts, 'w.created_at, w.id')}`,
    },
    filter,
  )
  return { total, rows: await Promise.all(rows.map((row) => shown(trx, row))) }
}

export const readWaitlistEntry = async (trx: Trx, id: string): Promise<WaitlistShown> => {
  const entry = await readRow(trx, WaitlistEntry, id)
  const [named] = await prepared<{ guestName: string | null }>(
    trx,
    `select ${guestName} as guest_name from guest g where g.id = ?`,
    [entry.guestId],
  )
  return shown(trx, { ...entry, guestName: named?.guestName ?? null })
}

/** Requests whose hold came to nothing wait again (W3); those whose arrival is past are closed (W4). Answers those that wait, in the order they are asked in. */
export const openWaitlist = async (trx: Trx, propertyId: string): Promise<string[]> => {
  const ended = await sql<WaitlistEntryRow>(
    trx,
    `select w.* from waitlist_entry w join booking b on b.tenant_id = w.tenant_id and b.id = w.booking_id
     join property y on y.tenant_id = w.tenant_id and y.id = w.property_id
     where w.property_id = ? and w.status = 'booked' and b.ended_at is not null and w.arrival >= ${presentDay('y')}
       and not exists (select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id and r.confirmed_at is not null)
     order by w.id for no key update of w`,
    [propertyId],
  )
  for (const { id } of ended) {
    await changeRow(trx, WaitlistEntry, id, { status: 'waiting', bookingId: null, matchedAt: null })
    await tell(trx, waitlistEntryChanged, await readRow(trx, WaitlistEntry, id))
  }
  const past = await sql<WaitlistEntryRow>(
    trx,
    `select w.* from waitlist_entry w join property y on y.tenant_id = w.tenant_id and y.id = w.property_id
     where w.property_id = ? and w.status = 'waiting' and w.arrival < ${presentDay('y')} order by w.id for no key update of w`,
    [propertyId],
  )
  for (const entry of past) await close(trx, entry, 'arrival_past')
  const waiting = await sql<{ id: string }>(
    trx,
    `select id from waitlist_entry where property_id = ? and status = 'waiting' order by priority, created_at, id`,
    [propertyId],
  )
  return waiting.map((row) => row.id)
}

/** Tells whether one type is offered for all rooms of a request, on its dates or as many days around them as it allows. */
const fits = async (trx: Trx, entry: WaitlistEntryRow): Promise<boolean> => {
  try {
    const { offers } = await searchOffers(trx, {
      propertyId: entry.propertyId,
      arrival: entry.arrival,
      departure: entry.departure,
      rooms: Array.from({ length: entry.rooms }, () => ({ adults: entry.adults, childrenAges: entry.childrenAges })),
      ...(entry.unitTypeIds.length > 0 ? { unitTypeIds: entry.unitTypeIds } : {}),
      ...(entry.ratePlanId === null ? {} : { ratePlanIds: [entry.ratePlanId] }),
      flexibleDays: entry.flexibleDays,
      audience: 'staff',
    })
    return offers.length > 0
  } catch (error) {
    // A house that is closed offers nothing.
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Looks whether a request can be met now (R51): tells it once, until it fits no more. */
export const matchWaitlistEntry = async (trx: Trx, id: string): Promise<'matched' | 'lost' | 'same'> => {
  const entry = await lockEntry(trx, id)
  if (entry?.status !== 'waiting') return 'same'
  const isFitting = await fits(trx, entry)
  if (isFitting === (entry.matchedAt !== null)) return 'same'
  await changeRow(trx, WaitlistEntry, id, { matchedAt: isFitting ? expression('now()') : null })
  await tell(trx, isFitting ? waitlistEntryMatched : waitlistEntryChanged, await readRow(trx, WaitlistEntry, id))
  return isFitting ? 'matched' : 'lost'
}

/** Requests closed 30 days ago that still hold a contact or a note; across tenants, ids alone. */
export const erasableWaitlist = (trx: PlatformTrx, most = 500): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from waitlist_unerased(?)`, [most])

export const eraseWaitlist = (trx: Trx, ids: readonly string[]) =>
  sql(
    trx,
    `update waitlist_entry set sealed = null, version = version + 1
     where id = any(?::uuid[]) and sealed is not null and closed_at < now() - interval '30 days'`,
    [ids],
  )
