import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import type { Parsed } from '../support/client.ts'
import { impatiently } from '../support/patience.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('what customers owe', function () {
  this.timeout(240_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceivables>>
  before(async () => {
    a = await openReceivables(world)
  })
  beforeEach(() => a.calm())

  it('never passes the limit by two clerks who bill its last part at once', async () => {
    const { id: customerId } = await a.customer({ creditLimit: 10_000 })
    const folios = await Promise.all(Array.from({ length: 6 }, () => a.folio(customerId, 4_000)))
    const replies = await Promise.all(folios.map((id) => a.bill(id)))
    expect(replies.filter(([status]) => status === 200)).to.have.length(2)
    for (const [status, reply] of replies)
      if (status !== 200) expect([status, reply.code]).to.deep.equal([422, 'credit_limit_exceeded'])
    expect(await a.customerNow(customerId)).to.include({ exposure: 8_000 })
    // A limit below the exposure stops new bills alone.
    expect(await a.good(a.finance, 'PATCH', `${a.path}/customers/${customerId}`, { creditLimit: 5_000 })).to.include({
      exposure: 8_000,
      creditLimit: 5_000,
    })
    await world.drain()
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
  })

  it('counts a folio once that its invoice and a collective bill take at the same time', async () => {
    const { id: customerId } = await a.customer()
    const folios = await Promise.all(Array.from({ length: 5 }, () => a.folio(customerId, 1_000)))
    const [shared = ''] = folios
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, () => a.bill(shared)),
      ...Array.from({ length: 4 }, () => a.fromFolios({ customerId, folioIds: folios })),
    ])
    for (const [status, reply] of replies) expect([200, 201, 409, 422], JSON.stringify(reply)).to.include(status)
    const rows = await sql<{ folioId: string; documents: number; lines: number }>(
      world.database.admin,
      `select f.id as "folioId", (select count(*)::int from receivable_line l where l.folio_id = f.id and l.live) as documents,
         (select count(*)::int from folio_line l where l.folio_id = f.id and l.kind = 'receivable') as lines from folio f where f.id = any(?::uuid[])`,
      [folios],
    )
    expect(rows.find(({ folioId }) => folioId === shared)).to.include({ documents: 1, lines: 1 })
    const taken = rows.filter(({ documents }) => documents === 1)
    expect([1, 5]).to.include(taken.length)
    expect(await a.customerNow(customerId)).to.include({ exposure: taken.length * 1_000 })
    await world.drain()
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
  })

  it('is numbered 1 to 50 without a hole where 50 documents are issued at once', async () => {
    const { id: customerId } = await a.customer()
    const line = await a.line(1_001)
    const drafts: Parsed[] = []
    for (let at = 0; at < 50; at += 1)
      drafts.push(
        await a.good(a.finance, 'POST', `${a.path}/receivables`, {
          bookId: a.bookId,
          customerId,
          issuedOn: a.on('05-02'),
          lines: [line],
        }),
      )
    await a.calm()
    const replies = await Promise.all(
      drafts.flatMap(({ id }) => [0, 1].map(() => a.send(a.finance, 'POST', `${a.path}/receivables/${id}/issue`, {}))),
    )
    for (const [status, reply] of replies) expect(status, JSON.stringify(reply)).to.equal(200)
    await Promise.all([world.drain(), world.drain()])
    await world.drain()
    const numbers = await sql<{ number: number }>(
      world.database.admin,
      `select number from receivable where book_id = ? order by number`,
      [a.bookId],
    )
    expect(numbers.map(({ number }) => number)).to.deep.equal(Array.from({ length: 50 }, (_, at) => at + 1))
    // A void document keeps its number, and none is given twice.
    await a.calm()
    await a.good(a.finance, 'POST', `${a.path}/receivables/${drafts[7]?.id}/void`, { reason: 'Entered twice' })
    await a.invoice({ customerId, issuedOn: a.on('06-02'), lines: [line] })
    await world.drain()
    expect(await a.customerNow(customerId)).to.include({ exposure: 50 * 1_001 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('issues of one customer at once take turns: each is made, and the exposure is their sum', async () => {
    const { id: customerId } = await a.customer({ creditLimit: 1_000_000 })
    const line = await a.line(1_003)
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        a.send(a.finance, 'POST', `${a.path}/receivables`, {
          bookId: a.bookId,
          customerId,
          issuedOn: a.on('08-02'),
          lines: [line],
          issue: at % 3 !== 0,
        }),
      ),
    )
    for (const [status, reply] of replies) expect(status, JSON.stringify(reply)).to.equal(201)
    expect(await a.customerNow(customerId)).to.include({ exposure: 20 * 1_003 })
    await world.drain()
    const [sum] = await sql<{ issued: number; drafts: number; numbers: number }>(
      world.database.admin,
      `select count(*) filter (where status = 'issued')::int as issued, count(*) filter (where status = 'draft')::int as drafts,
         count(distinct number)::int as numbers from receivable where customer_id = ?`,
      [customerId],
    )
    expect(sum).to.deep.equal({ issued: 20, drafts: 10, numbers: 20 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('tells a caller to come again where a customer is held for too long, and changes nothing', async () => {
    const { id: customerId } = await a.customer()
    const made = await a.invoice({ customerId, issuedOn: a.on('08-02'), lines: [await a.line(900)] })
    await world.drain()
    const credit = { receivableId: made.id, reason: 'An error' }
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`select id from customer where id = ? for update`, [customerId])
      const refused = await impatiently(() => a.refused(a.finance, 'POST', `${a.path}/credit-notes`, credit))
      expect(refused).to.deep.equal([409, 'receivable_busy'])
    })
    expect(
      await a.refused(a.finance, 'POST', `${a.path}/credit-notes`, {
        ...credit,
        amount: 500,
        lines: [{ accountId: await a.account('4.3.08'), amount: 499 }],
      }),
    ).to.deep.equal([422, 'lines_not_equal'])
    expect(await a.read(made.id)).to.include({ credited: 0, open: 900 })
    await a.good(a.finance, 'POST', `${a.path}/credit-notes`, credit)
    await world.drain()
  })

  it('keeps a period from closing while a document waits for its number', async () => {
    const { id: customerId } = await a.customer()
    await a.invoice({ customerId, issuedOn: a.on('01-10'), lines: [await a.line(5)] })
    const period = await a.periodOf(a.on('01-10'))
    const reply = await a.send(a.finance, 'POST', `financial/periods/${period}/soft-close`, {})
    expect([reply[0], reply[1].code]).to.deep.equal([422, 'checklist_not_clean'])
    expect(JSON.stringify(reply[1].errors)).to.include('documents_numbering')
    await world.drain()
    await a.good(a.finance, 'POST', `financial/periods/${period}/soft-close`, {})
  })

  it('is written off or voided once by two people at the same time', async () => {
    const { id: customerId } = await a.customer()
    const made = await a.invoice({ customerId, issuedOn: a.on('07-02'), lines: [await a.line(900)] })
    await world.drain()
    const one = `${a.path}/receivables/${made.id}`
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, () => a.send(a.finance, 'POST', `${one}/write-off`, { reason: 'Lost' })),
      ...Array.from({ length: 4 }, () => a.send(a.owner, 'POST', `${one}/void`, { reason: 'A mistake' })),
    ])
    for (const [status] of replies) expect([200, 409]).to.include(status)
    const now = await a.read(made.id)
    expect(['written_off', 'void']).to.include(now.status)
    expect(replies.filter(([status]) => status === 200)).to.have.length(4)
    expect(await a.customerNow(customerId)).to.include({ exposure: 0 })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })
})
