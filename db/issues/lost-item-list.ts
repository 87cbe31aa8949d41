import { notFound } from '../../config/errors.ts'
import { isOfGuest } from '../guests/index.ts'
import type { Condition } from '../lib/conditions.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { withinDays } from '../lib/days.ts'
import { fact, inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Paging, Sort } from '../lib/paging.ts'
import { readRow } from '../lib/records.ts'
import type { LostItemRow } from '../rows.ts'
import { guestName } from '../units/index.ts'
import { LostItem } from './models.ts'
import { openText } from './texts.ts'

export const itemSorts = { at: 'l.at', createdAt: 'l.created_at', keepUntil: 'l.keep_until' } as const
type Listed = LostItemRow & { guestName: string | null; unitName: string | null; suggestions: string[] }

// Open items of the other direction: of the same unit, or of the same category within 30 days (R18).
const columns = `l.*, ${guestName} as guest_name, u.name as unit_name,
  case when l.status = 'open' and l.match_id is null then array(select o.id from lost_item o where o.tenant_id = l.tenant_id and o.property_id = l.property_id
    and o.status = 'open' and o.match_id is null and o.direction <> l.direction and o.at between l.at - interval '30 days' and l.at + interval '30 days'
    and (o.unit_id = l.unit_id or o.category = l.category) order by (o.unit_id = l.unit_id) desc nulls last, o.at desc, o.id limit 5) else '{}'::uuid[] end as suggestions`
const joins = `left join guest g on g.tenant_id = l.tenant_id and g.id = l.guest_id left join unit u on u.tenant_id = l.tenant_id and u.id = l.unit_id`

const shown = async (trx: Trx, { guestName: name, unitName, sealed, closeSealed, ...item }: Listed) => {
  const texts = await openText(trx, 'item', item.id, sealed)
  return {
    ...item,
    description: texts?.description ?? null,
    place: texts?.place ?? null,
    storedAt: item.storagePlace,
    by: item.foundBy,
    guest: item.guestId === null ? null : { guestId: item.guestId, name: name ?? '' },
    unit: item.unitId === null ? null : { unitId: item.unitId, name: unitName ?? '' },
    closeNote: await openText(trx, 'hand_over', item.id, closeSealed),
  }
}
export type ItemShown = Awaited<ReturnType<typeof shown>>

export type ItemFilter = Paging & {
  propertyId?: string | undefined
  direction?: string | undefined
  status?: string | undefined
  category?: string | undefined
  unitId?: string | undefined
  guestId?: string | undefined
  disposalDue?: boolean | undefined
  from?: string | undefined
  to?: string | undefined
  sort: Sort<keyof typeof itemSorts>
  scope: Condition
}

export const listItems = async (trx: Trx, filter: ItemFilter) => {
  // The day after that of UTC is the last that any house can have: the index of what is open goes as far.
  const due = `l.status = 'open' and l.direction = 'found' and l.keep_until <= (now() at time zone 'UTC')::date + 1
    and l.keep_until <= (now() at time zone p.timezone)::date`
  const { total, rows } = await readPage<Listed>(
    trx,
    {
      columns,
      from: 'lost_item l join property p on p.tenant_id = l.tenant_id and p.id = l.property_id',
      counted: { list: 'lost_item', as: 'l' },
      joins,
      conditions: [
        ...inScope(filter.scope, 'l.property_id'),
        ...where('l.property_id = ?', filter.propertyId),
        ...where('l.direction = ?', filter.direction),
        ...where('l.status = ?', filter.status),
        ...where('l.category = ?', filter.category),
        ...where('l.unit_id = ?', filter.unitId),
        ...where(isOfGuest('l.guest_id'), filter.guestId),
      ],
      days: withinDays('l.at', filter),
      facts: fact(filter.disposalDue, due),
      order: orderBy(filter.sort, itemSorts, 'l.id'),
    },
    filter,
  )
  return { total, rows: await Promise.all(rows.map((row) => shown(trx, row))) }
}

export const readItem = async (trx: Trx, id: string): Promise<ItemShown> => {
  await readRow(trx, LostItem, id, ['id'])
  const row = await sqlOne<Listed>(trx, `select ${columns} from lost_item l ${joins} where l.id = ?`, [id])
  if (!row) throw notFound()
  return shown(trx, row)
}
