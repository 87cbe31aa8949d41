import { randomUUID } from 'node:crypto'
import { invalid, notFound, overtaken, unprocessable, versionConflict } from '../../config/errors.ts'
import type { Event } from '../../config/events/event.ts'
import { lostItemClosed, lostItemFound, lostItemMatched, lostItemMissed } from '../../config/events/issues.ts'
import type { lostCategories } from '../../config/issues.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { refuseArchived } from '../lib/locked-property.ts'
import { changeRow, expression, insertRow, readRow } from '../lib/records.ts'
import type { LostItemRow } from '../rows.ts'
import { checkLinks } from './links.ts'
import { LostItem } from './models.ts'
import { nextNumber } from './numbers.ts'
import { openText, sealText } from './texts.ts'

type Category = (typeof lostCategories)[number]
export type NewItem = {
  propertyId: string
  direction: 'found' | 'missed'
  category: Category
  description: string
  place?: string | undefined
  unitId?: string | null | undefined
  /** The moment at which it was found or missed; default: now. */
  at?: string | undefined
  storedAt?: string | undefined
  guestId?: string | null | undefined
  reservationId?: string | null | undefined
}

const itemLifecycle = lifecycle<LostItemRow['status']>('An item')({
  changed: { from: ['open'] },
  closed: { from: ['open'], to: 'closed' },
})

export const tellItem = async (trx: Trx, event: Event<typeof lostItemFound.data>, row: LostItemRow): Promise<void> => {
  const { id, propertyId, version, number, category, unitId, matchId, outcome } = row
  await emit(trx, event, {
    propertyId,
    id,
    version,
    data: { lostItemId: id, number, category, unitId, matchId, outcome },
  })
}

/** The stay that left a unit last, within 3 days before a day of the house, or on the next (R18). */
const lastStayOf = (trx: Trx, unitId: string, day: string) =>
  sqlOne<{ id: string; primaryGuestId: string | null }>(
    trx,
    `select r.id, r.primary_guest_id from unit_assignment a join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id
     where a.unit_id = ? and r.status = 'checked_out' and a.status = 'ended' and a.ends_on between ?::date and ?::date
     order by a.ends_on desc, r.id limit 1`,
    [unitId, addDays(day, -3), addDays(day, 1)],
  )

/** Registers an item found or missed. One found in a unit names the stay that left it last, unless another is given. */
export const registerItem = async (
  trx: Trx,
  { propertyId, direction, category, description, place = '', storedAt, at, unitId, guestId, reservationId }: NewItem,
): Promise<string> => {
  await refuseArchived(trx, propertyId)
  const property = await sqlOne<{ settings: StoredSettings; timezone: string; now: Date }>(
    trx,
    `select settings, timezone, now() as now from property where id = ?`,
    [propertyId],
  )
  if (!property) throw notFound()
  const when = at === undefined ? property.now : new Date(at)
  if (when > property.now) throw invalid([{ field: 'at', message: 'must not be in the future' }])
  const links = await checkLinks(trx, propertyId, { unitId, guestId, reservationId })
  const today = todayIn(property.timezone, when)
  const last =
    direction === 'found' && unitId && !links.reservationId && !links.guestId
      ? await lastStayOf(trx, unitId, today)
      : null
  const id = randomUUID()
  const { actor } = contextOf(trx)
  const row = await insertRow(trx, LostItem, {
    id,
    number: await nextNumber(trx, 'lost_item'),
    propertyId,
    direction,
    category,
    sealed: await sealText(trx, 'item', id, { description, place }),
    at: when,
    unitId: unitId ?? null,
    foundBy: actor.type === 'user' ? actor.id : null,
    storagePlace: storedAt,
    guestId: links.guestId ?? last?.primaryGuestId ?? null,
    reservationId: links.reservationId ?? last?.id ?? null,
    keepUntil: addDays(today, settingsOf(property.settings).issues.keepLostDays),
    createdBy: actor as never,
  })
  await tellItem(trx, direction === 'found' ? lostItemFound : lostItemMissed, row)
  return id
}

/** Locks an item with its match and one that it is to be matched to, by id. */
const lockItems = async (trx: Trx, id: string, other: string | null | undefined, expected: number | null) => {
  const { matchId } = await readRow(trx, LostItem, id, ['matchId'])
  const ids = [id, matchId, other].filter((one): one is string => typeof one === 'string')
  const rows = await sql<LostItemRow>(
    trx,
    `select * from lost_item where id = any(?::uuid[]) order by id for no key update`,
    [ids],
  )
  const item = rows.find((row) => row.id === id)
  if (!item) throw notFound()
  if (expected !== null && item.version !== expected) throw versionConflict(item.version)
  // It was matched while this waited for it: its match is held as well.
  if (item.matchId !== null && !ids.includes(item.matchId)) throw overtaken()
  return { item, find: (wanted: string | null) => rows.find((row) => row.id === wanted) ?? null }
}

export type ItemChange = {
  category?: Category | undefined
  description?: string | undefined
  place?: string | undefined
  storedAt?: string | undefined
  unitId?: string | null | undefined
  guestId?: string | null | undefined
  reservationId?: string | null | undefined
  /** An open item of the other direction; null takes the match back. */
  matchId?: string | null | undefined
}

/** Changes an open item, or matches it to one of the other direction: 422 `link_mismatch` where that cannot be. */
export const changeItem = async (
  trx: Trx,
  id: string,
  { description, place, storedAt, matchId, ...change }: ItemChange,
  expected: number | null,
): Promise<void> => {
  const { item, find } = await lockItems(trx, id, matchId, expected)
  itemLifecycle.allow('changed', item.status)
  const links = await checkLinks(trx, item.propertyId, change)
  const isTold = description !== undefined || place !== undefined
  const texts = isTold ? await openText(trx, 'item', id, item.sealed) : null
  const sealed = isTold
    ? await sealText(trx, 'item', id, {
        description: description ?? texts?.description ?? '',
        place: place ?? texts?.place ?? '',
      })
    : undefined
  const moved = matchId !== undefined && matchId !== item.matchId
  if (moved) {
    const former = find(item.matchId)
    if (former) await changeRow(trx, LostItem, former.id, { matchId: null })
    const other = matchId === null ? null : find(matchId)
    if (matchId !== null) {
      if (
        other?.propertyId !== item.propertyId ||
        other.direction === item.direction ||
        other.status !== 'open' ||
        other.matchId
      )
        throw unprocessable(
          'link_mismatch',
          'An item is matched to an open one of the other direction that has no match',
          [{ field: 'matchId', message: 'must be an open, unmatched item of the other direction in the property' }],
        )
      await changeRow(trx, LostItem, other.id, { matchId: id })
    }
  }
  await changeRow(trx, LostItem, id, {
    ...change,
    ...links,
    storagePlace: storedAt,
    sealed,
    ...(moved ? { matchId } : {}),
  })
  if (moved && matchId !== null) await tellItem(trx, lostItemMatched, await readRow(trx, LostItem, id))
}

export type HandOver = {
  outcome: NonNullable<LostItemRow['outcome']>
  note?: {
    to?: string | undefined
    document?: string | undefined
    tracking?: string | undefined
    note?: string | undefined
  }
}

const outcomesOf: Record<string, readonly string[]> = {
  found: ['returned', 'shipped', 'handed_to_authority', 'donated', 'discarded'],
  missed: ['returned', 'shipped', 'found_by_owner', 'not_found'],
}

/** Refuses an end that R19 does not allow. */
const judgeEnd = (item: LostItemRow, { outcome, note }: HandOver, today: string): void => {
  const wrong = (message: string) => unprocessable('outcome_not_allowed', message, [{ field: 'outcome', message }])
  if (!outcomesOf[item.direction]?.includes(outcome)) throw wrong(`is not for an item that was ${item.direction}`)
  const isGivenAway = outcome === 'donated' || outcome === 'discarded'
  if (isGivenAway && (item.category === 'document' || item.category === 'money'))
    throw wrong('documents and money go to their owner or the authority alone')
  if (isGivenAway && today <= item.keepUntil)
    throw unprocessable('keep_until_not_reached', `The item is kept until ${item.keepUntil}`)
  if ((outcome === 'returned' || outcome === 'shipped') && !note?.to)
    throw invalid([{ field: 'note.to', message: 'is required: who the item goes to' }])
}

/** Ends an item. One that is returned or shipped ends its match, too. */
export const closeItem = async (trx: Trx, id: string, handOver: HandOver, expected: number | null): Promise<void> => {
  const { item, find } = await lockItems(trx, id, null, expected)
  if (!itemLifecycle.isDue('closed', item.status)) return
  const clock = await sqlOne<{ today: string }>(
    trx,
    `select (now() at time zone timezone)::date as today from property where id = ?`,
    [item.propertyId],
  )
  judgeEnd(item, handOver, clock?.today ?? '')
  const { outcome, note = {} } = handOver
  const match = outcome === 'returned' || outcome === 'shipped' ? find(item.matchId) : null
  for (const one of [item, ...(match?.status === 'open' ? [match] : [])]) {
    const { to = null, document = null, tracking = null, note: words = null } = note
    await changeRow(trx, LostItem, one.id, {
      status: 'closed',
      outcome,
      closedAt: expression('now()'),
      closeSealed: await sealText(trx, 'hand_over', one.id, { to, document, tracking, note: words }),
    })
    await tellItem(trx, lostItemClosed, await readRow(trx, LostItem, one.id))
  }
}
