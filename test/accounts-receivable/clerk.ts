import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createCompany } from '../../db/guests/index.ts'
import { chargeFolio, openFolio } from '../../db/reservations/index.ts'
import { openBook } from '../financial/accountant.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import type { World } from '../support/world.ts'

const path = 'accounts-receivable'

/** A clerk of receivables at work over HTTP: an accountant with customers, invoices, and folios that customers pay. */
export const openReceivables = async (world: World) => {
  const a = await openBook(world)
  const { bookId, finance, house } = a
  const reception = await openDesk(world, house, 'receptionist')
  const send = async (desk: Desk, method: string, to: string, body?: object): Promise<[number, Parsed]> => {
    const reply = await desk.send(method, to, body, { idempotencyKey: randomUUID() })
    return [reply.status, reply.body]
  }
  const good = async (desk: Desk, method: string, to: string, body?: object): Promise<Parsed> => {
    const [status, reply] = await send(desk, method, to, body)
    expect(status, `${method} ${to} ${JSON.stringify(reply)}`).to.be.below(300)
    return reply
  }
  const refused = async (desk: Desk, method: string, to: string, body?: object): Promise<[number, string]> => {
    const [status, reply] = await send(desk, method, to, body)
    return [status, String(reply.code)]
  }
  const customer = (more: object = {}): Promise<Parsed> =>
    good(finance, 'POST', `${path}/customers`, {
      kind: 'company',
      legalName: `Cliente ${randomUUID().slice(0, 6)}`,
      currency: 'BRL',
      ...more,
    })
  const customerNow = (id: string) => good(finance, 'GET', `${path}/customers/${id}`)
  const read = (id: string) => good(finance, 'GET', `${path}/receivables/${id}`)
  const invoice = async (body: object): Promise<Parsed> =>
    good(finance, 'POST', `${path}/receivables`, { bookId, issue: true, ...body })
  const line = async (unitAmount: number, code = '4.3.08') => ({
    description: 'Hall',
    unitAmount,
    accountId: await a.account(code),
  })
  /** A folio of the house, open, that a firm of the customer pays. Amounts in minor units. */
  const folio = async (customerId: string | null, amount: number): Promise<string> =>
    house.inHouse(async (trx) => {
      const payerCompanyId = await createCompany(trx, {
        kind: 'company',
        legalName: `Firma ${randomUUID().slice(0, 6)}`,
        customerId,
      })
      const id = await openFolio(trx, { propertyId: house.propertyId, kind: 'house', payerCompanyId })
      await chargeFolio(trx, id, { category: 'other', description: 'A feast', unitAmount: amount })
      return id
    })
  const bill = (folioId: string, body: object = {}, desk = finance) =>
    send(desk, 'POST', `folios/${folioId}/invoice`, body)
  const fromFolios = (body: object, desk = finance) => send(desk, 'POST', `${path}/receivables/from-folios`, body)
  const folioNow = (id: string) => good(a.owner, 'GET', `folios/${id}`)
  const ageing = async (asOf: string, customerId: string, book = bookId): Promise<Record<string, number>> => {
    const { data } = await good(finance, 'GET', `${path}/ageing?bookId=${book}&asOf=${asOf}&limit=100`)
    const row = (data as Record<string, number>[]).find((one) => (one as Parsed).key === customerId)
    return Object.fromEntries(
      Object.entries(row ?? {}).filter(([name, value]) => !['key', 'name', 'total'].includes(name) && value !== 0),
    )
  }
  /** Names of the checks that fail in a book. */
  const failingIn = async (book: string): Promise<string[]> => {
    await good(finance, 'POST', 'financial/integrity-checks/run', { bookId: book })
    await world.drain({ kinds: ['ledger.check-integrity'] })
    const { run, data } = await good(finance, 'GET', `financial/integrity-checks?bookId=${book}&waitSeconds=5`)
    // A run that failed on its way keeps the results of an earlier one.
    expect(run.status).to.be.oneOf(['passed', 'failed'])
    return (data as { check: string; status: string }[]).flatMap(({ check, status }) =>
      status === 'failed' ? [check] : [],
    )
  }
  return {
    ...a,
    path,
    reception,
    send,
    good,
    refused,
    customer,
    customerNow,
    read,
    invoice,
    line,
    folio,
    bill,
    fromFolios,
    folioNow,
    ageing,
    failingIn,
  }
}
