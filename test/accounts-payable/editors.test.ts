import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'
const orders = 'accounts-payable/purchase-orders'

describe('of several who wrote on it, none approves', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let accountId: string
  let admin: typeof a.owner
  before(async () => {
    a = await openPayables(world)
    admin = await openDesk(world, a.house, 'admin')
    accountId = await a.account('6.4.03')
    const bands = [{ from: 0, approvals: 1, roles: ['owner', 'admin', 'finance', 'manager'] }]
    await a.good(a.owner, 'PUT', `accounts-payable/approval-policy?bookId=${a.bookId}`, {
      bands,
      coolOffHours: 0,
      priceTolerance: 200,
    })
  })

  const lines = (amount: number) => [{ description: 'Roof', accountId, amount }]
  const draft = async (): Promise<string> => {
    const { id: supplierId } = await a.supplier()
    const body = { bookId: a.bookId, supplierId, kind: 'bill', issuedOn: a.on('03-10'), lines: lines(5_000) }
    return (await a.good(a.finance, 'POST', bills, body)).id
  }
  const awaits = async (desk: typeof a.owner): Promise<string[]> =>
    (await a.good(desk, 'GET', `${bills}?awaitingMe=true&limit=100`)).data.map(({ id }: { id: string }) => id)

  it('a bill that two others changed', async () => {
    const id = await draft()
    await a.good(a.manager, 'PATCH', `${bills}/${id}`, { lines: lines(9_000) })
    await a.good(a.finance, 'PATCH', `${bills}/${id}`, { notes: 'Seen' })
    await a.good(a.finance, 'POST', `${bills}/${id}/submit`)
    expect(await a.refused(a.manager, 'POST', `${bills}/${id}/approve`, {})).to.deep.equal([403, 'self_approval'])
    expect(await awaits(a.manager)).not.to.include(id)
    expect(await awaits(a.owner)).to.include(id)
    // By the database alone as well.
    const written = inTenant(a.house.tenantId, (trx) =>
      sql(
        trx,
        `insert into payable_approval (payable_id, round, user_id, decision) select id, round, editors[1], 'approved' from payable where id = ?`,
        [id],
      ),
    )
    const refusal = await written.then(
      () => 'taken',
      (error: Error & { constraint?: string }) => error.constraint ?? error.message,
    )
    expect(refusal).to.equal('payable_two_people')
    expect(await a.good(a.owner, 'POST', `${bills}/${id}/approve`, {})).to.include({ status: 'approved' })
  })

  it('a bill that another submitted before it was taken back', async () => {
    const id = await draft()
    await a.good(a.manager, 'POST', `${bills}/${id}/submit`)
    await a.good(a.finance, 'POST', `${bills}/${id}/reject`, { reason: 'Not yet' })
    await a.good(a.finance, 'POST', `${bills}/${id}/submit`)
    expect(await a.refused(a.manager, 'POST', `${bills}/${id}/approve`, {})).to.deep.equal([403, 'self_approval'])
    expect(await a.good(a.owner, 'POST', `${bills}/${id}/approve`, {})).to.include({ status: 'approved' })
  })

  it('an order that two others changed', async () => {
    const { id: supplierId } = await a.supplier()
    const propertyId = await a.property()
    const of = (quantity: string) => [{ description: 'Paint', accountId, quantity, unitPrice: 4_500 }]
    const { id } = await a.good(a.owner, 'POST', orders, { supplierId, propertyId, lines: of('2') })
    await a.good(admin, 'PATCH', `${orders}/${id}`, { lines: of('200') })
    await a.good(a.owner, 'PATCH', `${orders}/${id}`, { notes: 'Seen' })
    const approve = `${orders}/${id}/approve`
    expect(await a.refused(admin, 'POST', approve, { notify: false })).to.deep.equal([403, 'self_approval'])
    expect(await a.good(a.finance, 'POST', approve, { notify: false })).to.include({ status: 'approved' })
  })

  it('the write-off of an invoice that another changed before it was issued', async () => {
    await a.good(a.owner, 'PATCH', `financial/books/${a.bookId}`, { approvalThreshold: 1_000 })
    const path = 'accounts-receivable/receivables'
    const { id: customerId } = await a.good(a.finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Firma Ltda',
      currency: 'BRL',
    })
    const of = (unitAmount: number) => [{ description: 'Hall', unitAmount, accountId: incomeId }]
    const incomeId = await a.account('4.3.08')
    const { id } = await a.good(a.finance, 'POST', path, { bookId: a.bookId, customerId, lines: of(5_000) })
    await a.good(admin, 'PATCH', `${path}/${id}`, { lines: of(90_000) })
    await a.good(a.finance, 'POST', `${path}/${id}/issue`)
    await world.drain()
    const reason = { reason: 'The firm is insolvent' }
    expect(await a.refused(admin, 'POST', `${path}/${id}/write-off`, reason)).to.deep.equal([403, 'self_approval'])
    expect(await a.good(a.owner, 'POST', `${path}/${id}/write-off`, reason)).to.include({ status: 'written_off' })
  })
})
