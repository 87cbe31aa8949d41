import { randomUUID } from 'node:crypto'
import { controlDifferences } from '../../db/financial/controls.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { done } from '../stories/inn.ts'
import type { Desk } from '../properties/support.ts'
import type { World } from '../support/world.ts'

export const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

/** Stock of one property by one desk, over HTTP. */
export const storeOf = (desk: Desk, propertyId: string) => {
  const keyed = (path: string, body: object, key: string = randomUUID()) =>
    desk.send('POST', `inventory/${path}`, body, { idempotencyKey: key })
  const categories = async (...entries: object[]): Promise<Record<string, string>> => {
    const { data } = done(await desk.send('PUT', 'inventory/categories', { categories: entries }))
    return Object.fromEntries(data.map(({ code, id }: { code: string; id: string }) => [code, id]))
  }
  const locations = async (...entries: object[]): Promise<Record<string, string>> => {
    const { data } = done(await desk.send('PUT', 'inventory/locations', { propertyId, locations: entries }))
    return Object.fromEntries(data.map(({ code, id }: { code: string; id: string }) => [code, id]))
  }
  const item = async (body: object): Promise<string> =>
    done(await desk.send('POST', 'inventory/items', body), 201).id as string
  const move = (body: object, key?: string) => keyed('movements', { propertyId, ...body }, key)
  const receive = async (locationId: string, itemId: string, quantity: string, measure: string, value: number) =>
    done(await move({ kind: 'receipt', locationId, lines: [{ itemId, quantity, measure, value }] }), 201)
  const stock = async (query: Record<string, string> = {}) =>
    done(await desk.get(`inventory/stock?${new URLSearchParams({ propertyId, ...query }).toString()}`))
  const of = async (itemId: string): Promise<[string, number]> => {
    const { quantity, value } = done(await desk.get(`inventory/items/${itemId}`))
    return [quantity, value]
  }
  return { keyed, categories, locations, item, move, receive, stock, of }
}

/** Differences that would mean that stock, its lines and the ledger disagree; none where all agree. Postings are carried out first. */
export const differences = async (world: World, tenantId: string): Promise<object[]> => {
  await world.drain({ kinds: ['ledger.post'], starts: 5_000 })
  return inTenant(tenantId, async (trx) => {
    const books = await sql<{ id: string }>(trx, `select id from book`)
    const controls: object[] = []
    for (const { id } of books)
      for (const [kind, found] of await controlDifferences(trx, id))
        if (['stock', 'received', 'pos'].includes(kind)) controls.push(...found.map((one) => ({ what: kind, ...one })))
    const rows = await sql<object>(
      trx,
      `select 'lines' as what, s.item_id::text as id, s.quantity - coalesce(sum(l.quantity), 0) as a, s.value - coalesce(sum(l.value), 0) as b
       from inventory_stock s left join inventory_movement_line l on l.location_id = s.location_id and l.item_id = s.item_id
       group by s.location_id, s.item_id, s.quantity, s.value having s.quantity <> coalesce(sum(l.quantity), 0) or s.value <> coalesce(sum(l.value), 0)
       union all
       select 'ledger', b.id::text, coalesce(v.value, 0), coalesce(j.value, 0) from book b
       left join lateral (select sum(s.value) as value from inventory_stock s join inventory_location l on l.id = s.location_id
         join property p on p.id = l.property_id where p.book_id = b.id) v on true
       left join lateral (select sum(l.debit - l.credit) as value from journal_line l join account a on a.id = l.account_id
         where a.book_id = b.id and a.control = 'stock') j on true
       where coalesce(v.value, 0) <> coalesce(j.value, 0)
       union all
       select 'parked', e.id::text, 0, 0 from posting_event e where e.status in ('parked', 'failed')`,
    )
    return [...controls, ...rows]
  })
}

/** Balance of the account of a role on its own side, over all books. */
export const balanceOf = async (tenantId: string, role: string): Promise<number> => {
  const [row] = await inTenant(tenantId, (trx) =>
    sql<{ balance: number }>(
      trx,
      `select coalesce(sum(case a.side when 'debit' then l.debit - l.credit else l.credit - l.debit end), 0)::bigint as balance
       from account a join journal_line l on l.account_id = a.id where a.role = ?`,
      [role],
    ),
  )
  return row?.balance ?? 0
}
