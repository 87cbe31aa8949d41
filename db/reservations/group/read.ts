import { notFound } from '../../../config/errors.ts'
import { mostStayNights } from '../../../config/limits.ts'
import type { Condition } from '../../lib/conditions.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { overDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging, Part } from '../../lib/paging.ts'
import { byIds, idsLike, partly } from '../../lib/words.ts'
import type { BookingGroupRow } from '../../rows.ts'
import { openContact, releaseFrom } from './fields.ts'
import type { Contact, Release } from './fields.ts'

const columns = `g.id, g.property_id, g.code, g.number, g.name, g.status, g.arrival, g.departure, g.rate_plan_id, g.company_id, g.option_until, g.release_type, g.release_on,
  g.release_days, g.master_folio_id, g.routing, g.notes, g.cancel_reason, g.version, g.created_at, g.updated_at`

type Row = Omit<BookingGroupRow, 'tenantId' | 'sealed'>
type Shape = Omit<Row, 'releaseType' | 'releaseOn' | 'releaseDays' | 'routing'> & {
  release: Release
  routing: { categories: string[] }
}
export type GroupListed = Shape & { allotted: number; pickedUp: number }
export type GroupPickUp = {
  date: string
  unitTypeId: string
  allotted: number
  pickedUp: number
  remaining: number
  amount: number | null
}
export type GroupShown = Shape & {
  contact: Contact | null
  pickup: GroupPickUp[]
  /** Of the master folio; null before it is open. */
  balance: number | null
  currency: string
}

const shaped = <R extends Row>({ releaseType, releaseOn, releaseDays, routing, ...row }: R) => ({
  ...row,
  release: releaseFrom({ releaseType, releaseOn, releaseDays }),
  routing: { categories: routing },
})

type Filter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  companyId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  q?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Groups with a number, or with words in their names or codes. */
const withWords = async (trx: Trx, q: string): Promise<Part> => {
  const { text, values } = byIds(
    { 'g.id': await idsLike(trx, 'booking_group', partly(q)) },
    { text: `(strpos(lower(g.name), lower(?)) > 0 or strpos(lower(g.code), lower(?)) > 0)`, values: [q, q] },
  )
  return { text: `(g.number = upper(?) or ${text})`, values: [q, ...values] }
}

/** Groups with their room nights in all, those that arrive first first. */
export const listGroups = async (trx: Trx, { scope, ...filter }: Filter): Promise<Page<GroupListed>> => {
  const { total, rows } = await readPage<Row & { allotted: number; pickedUp: number }>(
    trx,
    {
      columns: `${columns}, n.allotted, n.picked_up`,
      from: 'booking_group g',
      joins: `cross join lateral (select coalesce(sum(x.allotted), 0)::int as allotted, coalesce(sum(x.picked_up), 0)::int as picked_up
        from booking_group_night x where x.tenant_id = g.tenant_id and x.group_id = g.id) n`,
      conditions: [
        ...inScope(scope, 'g.property_id'),
        ...where('g.property_id = ?', filter.propertyId),
        ...where('g.status = ?', filter.status),
        ...where('g.company_id = ?', filter.companyId),
        ...(filter.q === undefined ? [] : [await withWords(trx, filter.q)]),
      ],
      days: overDays(
        { first: 'g.arrival', end: 'g.departure', mostDays: mostStayNights },
        { after: filter.from, before: filter.to },
      ),
      order: 'g.arrival, g.id',
    },
    filter,
  )
  return { total, rows: rows.map(shaped) }
}

/** A group with allotment, pick-up and the balance of its master folio. 404. */
export const readGroup = async (trx: Trx, id: string): Promise<GroupShown> => {
  const [row, pickup] = await Promise.all([
    preparedOne<Row & Pick<BookingGroupRow, 'sealed'> & { balance: number | null; currency: string }>(
      trx,
      `select ${columns}, g.sealed, f.balance, p.currency from booking_group g
       join property p on p.tenant_id = g.tenant_id and p.id = g.property_id
       left join folio f on f.tenant_id = g.tenant_id and f.id = g.master_folio_id where g.id = ?`,
      [id],
    ),
    prepared<GroupPickUp>(
      trx,
      `select night as date, unit_type_id, allotted, picked_up, allotted - picked_up as remaining, amount from booking_group_night
       where group_id = ? order by night, unit_type_id`,
      [id],
    ),
  ])
  if (!row) throw notFound()
  const { sealed, ...record } = row
  return { ...shaped(record), contact: await openContact(trx, { id, sealed }), pickup }
}
