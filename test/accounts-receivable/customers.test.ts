import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('customers', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceivables>>
  before(async () => {
    a = await openReceivables(world)
  })
  beforeEach(() => a.calm())
  const path = 'accounts-receivable/customers'

  it('stand once for each number, also where two clerks write one at the same time', async () => {
    const body = { kind: 'company', legalName: 'Estaleiro', currency: 'BRL', document: '11.222.333/0001-81' }
    const replies = await Promise.all([1, 2, 3].map(() => a.send(a.finance, 'POST', path, body)))
    const made = replies.filter(([status]) => status === 201)
    expect(made).to.have.length(1)
    for (const [status, reply] of replies)
      if (status !== 201) {
        expect([status, reply.code]).to.deep.equal([409, 'duplicate_customer'])
        expect(JSON.stringify(reply.errors)).to.include(made[0]?.[1].id)
      }
    expect(await a.refused(a.finance, 'POST', path, { ...body, document: '11.222.333/0001-82' })).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(await a.refused(a.finance, 'POST', path, { ...body, kind: 'person' })).to.deep.equal([
      400,
      'validation_failed',
    ])
    const { data } = await a.good(a.finance, 'GET', `${path}?q=11222333`)
    expect(data.map(({ id }: Parsed) => id)).to.deep.equal([made[0]?.[1].id])
  })

  it('are kept by relations as far as their contacts go, sealed, and masked for who sees persons so', async () => {
    const relations = await openDesk(world, a.house, 'relations')
    const { id } = await a.customer({
      legalName: 'Casa de Vinhos',
      email: 'contas@vinhos.example',
      invoiceEmails: ['notas@vinhos.example'],
    })
    expect(await a.refused(relations, 'PATCH', `${path}/${id}`, { creditLimit: 1 })).to.deep.equal([403, 'forbidden'])
    await a.good(relations, 'PATCH', `${path}/${id}`, { email: 'novo@vinhos.example' })
    expect(await a.customerNow(id)).to.deep.include({
      email: 'novo@vinhos.example',
      invoiceEmails: ['notas@vinhos.example'],
    })
    const rows = await sql<{ text: string }>(
      world.database.admin,
      `select c::text as text from customer c where id = ?`,
      [id],
    )
    expect(rows[0]?.text).not.to.include('vinhos.example')
  })

  it('are held, archived when nothing is open, and restored', async () => {
    const { id } = await a.customer()
    expect(await a.refused(a.finance, 'PATCH', `${path}/${id}`, { onHold: true })).to.deep.equal([
      400,
      'validation_failed',
    ])
    await a.invoice({ customerId: id, issuedOn: a.on('02-01'), lines: [await a.line(500)] })
    await world.drain()
    expect(await a.refused(a.finance, 'POST', `${path}/${id}/archive`, {})).to.deep.equal([422, 'customer_not_empty'])
    const late = await a.good(a.finance, 'GET', `${path}?overdue=true&limit=100`)
    expect(late.data.map((one: Parsed) => one.id)).to.include(id)
    await a.good(a.finance, 'PATCH', `${path}/${id}`, { onHold: true, holdReason: 'Pays late' })
    const folio = await a.folio(id, 100)
    expect(await a.bill(folio)).to.have.nested.property('[1].code', 'customer_on_hold')
    const { data } = await a.good(a.finance, 'GET', `accounts-receivable/receivables?customerId=${id}`)
    await a.good(a.finance, 'POST', `accounts-receivable/receivables/${data[0].id}/void`, { reason: 'A mistake' })
    expect(await a.good(a.finance, 'POST', `${path}/${id}/archive`, {})).to.include({ status: 'archived' })
    expect(await a.refused(a.finance, 'PATCH', `${path}/${id}`, { termDays: 1 })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    expect(await a.good(a.finance, 'POST', `${path}/${id}/restore`, {})).to.include({ status: 'active' })
  })

  it('of one house are not billed by who works in another', async () => {
    const { id } = await a.customer()
    const folioId = await a.folio(id, 100)
    const other = await makeHouse({ tenantId: a.house.tenantId, units: 1 })
    const elsewhere = await openDesk(world, a.house, 'finance', [other.propertyId])
    const [status] = await a.fromFolios({ customerId: id, folioIds: [folioId] }, elsewhere)
    expect([403, 404]).to.include(status)
    expect(await a.folioNow(folioId)).to.include({ status: 'open', receivableId: null })
  })

  it('take up 200 folios in one bill', async () => {
    const { id } = await a.customer()
    const first = await a.folio(id, 1_000)
    const { payerCompanyId } = await a.folioNow(first)
    await sql(
      world.database.admin,
      `insert into folio (tenant_id, property_id, number, kind, stage, currency, charges, payer_company_id)
       select tenant_id, property_id, 'BULK-' || n, 'house', 'guest', currency, 1000, ? from folio, generate_series(1, 199) n where id = ?`,
      [payerCompanyId, first],
    )
    const folios = await sql<{ id: string }>(world.database.admin, `select id from folio where payer_company_id = ?`, [
      payerCompanyId,
    ])
    const [status, made] = await a.fromFolios({ customerId: id, folioIds: folios.map((one) => one.id) })
    expect([status, made.total], JSON.stringify(made).slice(0, 300)).to.deep.equal([201, 200_000])
  })
})
