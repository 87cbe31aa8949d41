import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { provisionParts } from '../../db/admin/provisions.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { eraseFiscalJob } from '../../jobs/fiscal.ts'
import { newCpf } from '../guests/support.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('The erasure of a guest who is a customer', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceivables>>
  before(async () => {
    a = await openReceivables(world)
  })
  beforeEach(() => a.calm())

  const person = async (lastName: string): Promise<{ guestId: string; customerId: string; document: string }> => {
    const document = newCpf()
    const names = { firstName: 'Zenobia', lastName, email: `${lastName}@people.example` }
    const { id: guestId } = await a.good(a.owner, 'POST', 'guests', names)
    const { id: customerId } = await a.customer({
      kind: 'person',
      legalName: `Zenobia ${lastName}`,
      document,
      guestId,
      email: `bills.${lastName}@people.example`,
      phone: '+5531955554444',
    })
    return { guestId, customerId, document }
  }
  const ask = (guestId: string): Promise<Parsed> =>
    a.good(a.owner, 'POST', 'privacy-requests', { guestId, kind: 'erasure', channel: 'in_person' })
  const blockers = ({ plan }: Parsed) => (plan.blockers as { code: string }[]).map(({ code }) => code)
  const erase = async (request: Parsed): Promise<Parsed> => {
    await a.good(a.owner, 'POST', `privacy-requests/${request.id}/approve`, {
      identityMethod: 'document',
      planHash: request.plan.hash,
    })
    await world.drain()
    return a.good(a.owner, 'GET', `privacy-requests/${request.id}`)
  }
  const rowOf = async (id: string) => {
    const [row] = await sql<{ text: string; sealed: Buffer | null; status: string }>(
      world.database.admin,
      `select c::text as text, sealed, status from customer c where id = ?`,
      [id],
    )
    return row
  }

  it('empties and archives one who was never billed', async () => {
    const { guestId, customerId, document } = await person('Karamazov')
    const request = await ask(guestId)
    expect(blockers(request)).to.deep.equal([])
    expect((request.plan.items as { table: string }[]).map(({ table }) => table)).to.include('customer')
    const done = await erase(request)
    expect(done.status).to.equal('completed')
    expect(done.certificate.erased).to.deep.include({ table: 'customer', rows: 1 })
    const row = await rowOf(customerId)
    expect(row).to.include({ sealed: null, status: 'archived' })
    for (const trace of ['Karamazov', 'karamazov', document]) expect(row?.text).not.to.include(trace)
    expect(await a.customerNow(customerId)).to.include({ status: 'archived', legalName: 'erased', email: null })
  })

  it('is found by a profile that was merged into the survivor, and by the survivor', async () => {
    const { guestId, customerId } = await person('Myshkin')
    const { id: survivor } = await a.good(a.owner, 'POST', 'guests', { firstName: 'Zenobia', lastName: 'Myshkina' })
    await a.good(a.owner, 'POST', `guests/${survivor}/merge`, { mergedGuestId: guestId, reason: 'One person' })
    for (const of of [guestId, survivor]) {
      const { data } = await a.good(a.owner, 'GET', `accounts-receivable/customers?guestId=${of}`)
      expect((data as Parsed[]).map(({ id }) => id)).to.deep.equal([customerId])
    }
  })

  it('waits while something is open, and keeps the name and number that stand on the documents sealed', async () => {
    const { guestId, customerId, document } = await person('Rasputin')
    const { id } = await a.invoice({ customerId, lines: [await a.line(10_000)] })
    await world.drain()
    const waiting = await ask(guestId)
    expect(blockers(waiting)).to.deep.equal(['open_receivable'])
    expect(
      await a.refused(a.owner, 'POST', `privacy-requests/${waiting.id}/approve`, {
        identityMethod: 'document',
        planHash: waiting.plan.hash,
      }),
    ).to.deep.equal([422, 'erasure_blocked'])
    expect((await rowOf(customerId))?.status).to.equal('active')
    await a.good(a.finance, 'POST', `${a.path}/credit-notes`, { receivableId: id, reason: 'An error' })
    await world.drain()
    const free = await a.good(a.owner, 'GET', `privacy-requests/${waiting.id}`)
    expect(blockers(free)).to.deep.equal([])
    expect((await erase(free)).status).to.equal('completed')
    const row = await rowOf(customerId)
    expect(row).to.include({ sealed: null, status: 'archived' })
    for (const trace of ['Rasputin', 'rasputin', document, 'people.example']) expect(row?.text).not.to.include(trace)
    // Only roles that see personal data read what the law keeps.
    const kept = { legalName: 'Zenobia Rasputin', document, status: 'archived', email: null }
    expect(await a.customerNow(customerId)).to.include(kept)
    expect(await a.good(a.reception, 'GET', `${a.path}/customers/${customerId}`)).to.include({
      legalName: 'erased',
      document: null,
    })
    // An earlier release kept them plain: the provision of the tenant seals them.
    await world.database.admin.transaction(async (trx) => {
      await sql(
        trx,
        `update customer set identity = null, legal_name = 'Zenobia Rasputin', document = ?, search = 'zenobia rasputin' where id = ?`,
        [document, customerId],
      )
    })
    await a.house.inHouse(provisionParts)
    expect((await rowOf(customerId))?.text).not.to.include('asputin')
    expect(await a.customerNow(customerId)).to.include(kept)
    // An erased customer is billed no more, and no other guest becomes that customer.
    const [status, reply] = await a.send(a.finance, 'POST', `${a.path}/receivables`, {
      customerId,
      lines: [await a.line(1)],
      issue: true,
    })
    expect([status, reply.code]).to.deep.equal([409, 'customer_archived'])
    // Eleven years after the last document the law wants name and number no more.
    const forget = async () => {
      await inPlatform((trx) => enqueue(trx, eraseFiscalJob, {}))
      await world.drain({ kinds: ['maintenance.erase-fiscal'] })
      return (await rowOf(customerId))?.text
    }
    const age = (by: string) =>
      world.database.admin.transaction(async (trx) => {
        await sql(trx, `set local session_replication_role = replica`)
        await sql(
          trx,
          `update receivable set posting_on = current_date - ?::interval, updated_at = now() - ?::interval where customer_id = ?`,
          [by, by, customerId],
        )
      })
    await age('10 years 11 months')
    await forget()
    expect(await a.customerNow(customerId)).to.include(kept)
    await age('11 years 2 days')
    const forgotten = await forget()
    expect(forgotten).not.to.include('asputin')
    expect(await a.customerNow(customerId)).to.include({ legalName: 'erased', document: null })
    const again = { kind: 'person', legalName: randomUUID(), currency: 'BRL', guestId }
    expect((await a.send(a.finance, 'POST', `${a.path}/customers`, again))[0]).to.be.within(400, 499)
  })
})
