import { createServer } from 'node:http'
import pg from 'pg'

/**
 * The reference of the bench of issues: node:http and pg, with the least SQL that lists a page of open ones by their due time. The number of all and the rows
 * of the page; each prepared, in a transaction of the tenant.
 */
const count = `select count(*) as total from issue where property_id = $1 and status = 'open'`
const rows = `
  select i.id, i.number, i.property_id, i.status, i.kind, i.category_id, i.priority, i.sealed, i.source, i.source_event, i.occurrences, i.guest_id,
    i.reservation_id, i.unit_id, i.assignee_id, i.team, i.escalation, i.waiting_for, i.first_response_due_at, i.first_responded_at, i.resolution_due_at,
    i.next_due_at, i.cause, i.outcome, i.version, i.created_at, i.updated_at, now() as now, c.code as category_code, g.first_name, g.last_name, u.name as unit
  from issue i
  join issue_category c on c.tenant_id = i.tenant_id and c.id = i.category_id
  left join guest g on g.tenant_id = i.tenant_id and g.id = i.guest_id
  left join unit u on u.tenant_id = i.tenant_id and u.id = i.unit_id
  where i.property_id = $1 and i.status = 'open' order by i.next_due_at, i.id limit 20`

process.once('message', (message) => {
  const { url } = message as { url: string }
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const answer = async (tenantId: string, propertyId: string) => {
    const client = await pool.connect()
    try {
      await client.query(`begin; set local app.tenant_id = ${pg.escapeLiteral(tenantId)}`)
      const all = await client.query<{ total: string }>({ name: 'count', text: count, values: [propertyId] })
      const found = await client.query<object>({ name: 'rows', text: rows, values: [propertyId] })
      await client.query('commit')
      return JSON.stringify({ data: found.rows, meta: { total: Number(all.rows[0]?.total) } })
    } finally {
      client.release()
    }
  }
  const server = createServer((request, response) => {
    const [, tenantId = '', propertyId = ''] = (request.url ?? '').split('/')
    answer(tenantId, propertyId).then(
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
