import { invalid } from '../../../config/errors.ts'
import { daysBetween } from '../../../config/time.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { openOn } from './ageing.ts'
import { ofHouses } from './houses.ts'
import type { Side } from './side.ts'

export type StatementEntry = {
  on: string
  type: string
  id: string
  number: string | null
  /** Minor units by which more, or less, is owed. */
  raised: number
  lowered: number
  balance: number
}
export type OpenInstallment = { installmentId: string; number: string | null; dueOn: string; open: number }

const mostDays = 366
const mostEntries = 2_000

/** All that moved what a party owes, or is owed: documents, their facts, and what the side has beside. */
const entriesOf = ({ document, counted, since, party, named, factNumber, untold = 'false', beside }: Side): string => `
  select ${since} as "on", ${named.type} as type, d.id, ${named.number} as number, d.total as raised, cast(0 as bigint) as lowered, 0 as rank, d.created_at, cast(0 as bigint) as position
  from ${document} d where d.tenant_id = :tenantId and d.book_id = :bookId and ${counted} and ${party} = :party and ${ofHouses('d')}
  union all
  select f.dated_on, f.type, f.source_id, ${factNumber}, greatest(-sum(f.amount), 0)::bigint, greatest(sum(f.amount), 0)::bigint, 1, min(f.created_at), min(f.position)
  from ${document}_fact f join ${document} d on d.tenant_id = f.tenant_id and d.id = f.${document}_id
  where d.tenant_id = :tenantId and d.book_id = :bookId and ${counted} and ${party} = :party and ${ofHouses('d')} and not (${untold})
  group by f.dated_on, f.type, f.source_id, f.tenant_id
  ${beside ? `union all select x."on", x.type, x.id, x.number, x.raised, x.lowered, 1, x.created_at, 0 from (${beside}) x` : ''}`

/** Refuses days that a statement does not span: 400 `range_invalid`, `range_too_long`. */
const refuseSpan = (from: string, to: string) => {
  if (to < from) throw invalid([{ field: 'to', message: 'must not be before from' }], 'range_invalid')
  if (daysBetween(from, to) >= mostDays)
    throw invalid([{ field: 'to', message: `must be within ${mostDays} days of from` }], 'range_too_long')
}

/** The account of a party over days, as far as the caller's houses go: what was owed before them, each entry with the balance after it, and what is open at their end. */
export const statement = async (
  trx: Trx,
  side: Side,
  {
    bookId,
    party,
    propertyIds,
    from,
    to,
  }: { bookId: string; party: string; propertyIds: readonly string[] | null; from: string; to: string },
): Promise<{ opening: number; entries: StatementEntry[]; closing: number; open: OpenInstallment[] }> => {
  refuseSpan(from, to)
  const values = { tenantId: contextOf(trx).tenantId, bookId, party, propertyIds, from, to, asOf: to }
  const before = await sqlOne<{ balance: number }>(
    trx,
    `select coalesce(sum(e.raised - e.lowered), 0)::bigint as balance from (${entriesOf(side)}) e where e."on" < cast(:from as date)`,
    values,
  )
  const rows = await sql<Omit<StatementEntry, 'balance'>>(
    trx,
    `select e."on", e.type, e.id, e.number, e.raised, e.lowered from (${entriesOf(side)}) e
     where e."on" between cast(:from as date) and cast(:to as date) order by e."on", e.rank, e.position, e.created_at, e.id limit ${mostEntries + 1}`,
    values,
  )
  if (rows.length > mostEntries)
    throw invalid([{ field: 'to', message: `the days hold more than ${mostEntries} entries` }], 'range_too_long')
  const opening = before?.balance ?? 0
  let balance = opening
  const entries = rows.map((row) => {
    balance += row.raised - row.lowered
    return { ...row, balance }
  })
  const open = await sql<OpenInstallment>(
    trx,
    `select o.installment_id, o.number, o.due_on, o.open
     from (${openOn(side, `${side.named.number} as number, ${side.party} as party, d.property_id`)}) o
     where o.party = :party and ${ofHouses('o')} order by o.due_on, o.seq, o.installment_id`,
    values,
  )
  return { opening, entries, closing: balance, open }
}
