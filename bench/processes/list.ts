import { createServer } from 'node:http'
import pg from 'pg'

/**
 * The reference of the list bench: node:http and pg, with the least SQL that lists a page of stays. The number of all, the ids of the page by an index, then
 * the rows of these ids by their keys; each prepared, in a transaction of the tenant.
 */
const count = `select count(*) as total from reservation`
const ids = `select id from reservation order by created_at desc, id desc limit 20`
const rows = `
  select r.id, r.booking_id, r.position, r.property_id, r.status, r.unit_type_id, r.rate_plan_id, r.arrival, r.departure, r.adults, r.children_ages,
    r.arrival_time, r.market_segment, r.guarantee, r.channel_managed, r.overbooked, r.currency, r.room_total, r.extras_total, r.tax_total, r.total,
    r.fee_amount, r.version, r.created_at, r.updated_at, b.source, b.number, b.hold_expires_at, r.primary_guest_id, g.first_name, g.last_name,
    t.name as unit_type, p.name as rate_plan, f.balance, a.unit_id, n.name as unit
  from unnest($1::uuid[]) with ordinality as page (id, rank)
  join reservation r on r.id = page.id
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  join unit_type t on t.tenant_id = r.tenant_id and t.id = r.unit_type_id
  join rate_plan p on p.tenant_id = r.tenant_id and p.id = r.rate_plan_id
  left join guest g on g.tenant_id = r.tenant_id and g.id = r.primary_guest_id
  left join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id and f.is_primary
  left join lateral (select unit_id from unit_assignment a where a.tenant_id = r.tenant_id and a.reservation_id = r.id
    and a.status in ('proposed', 'locked', 'occupied', 'ended') order by upper(a.during) desc, a.id limit 1) a on true
  left join unit n on n.tenant_id = r.tenant_id and n.id = a.unit_id
  order by page.rank`

process.once('message', (message) => {
  const { url } = message as { url: string }
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const answer = async (tenantId: string) => {
    const client = await pool.connect()
    try {
      await client.query(`begin; set local app.tenant_id = ${pg.escapeLiteral(tenantId)}`)
      const all = await client.query<{ total: string }>({ name: 'count', text: count })
      const page = await client.query<{ id: string }>({ name: 'ids', text: ids })
      const found = await client.query<object>({
        name: 'rows',
        text: rows,
        values: [page.rows.map((row) => row.id)],
      })
      await client.query('commit')
      return JSON.stringify({ data: found.rows, meta: { total: Number(all.rows[0]?.total) } })
    } finally {
      client.release()
    }
  }
  const server = createServer((request, response) => {
    answer((request.url ?? '').slice(1)).then(
      (body) => response.setHeader('content-type', 'application/json').end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
  })
})

process.once('disconnect', () => process.exit())
