import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createCashAccount } from '../../db/cash/index.ts'
import { addDays } from '../../config/time.ts'
import { openBook } from '../financial/accountant.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { makeCustomer, makeInvoice } from '../support/receipts.ts'
import type { IssuedInvoice } from '../support/receipts.ts'
import type { World } from '../support/world.ts'

/** A clerk of receipts at work over HTTP: an accountant with a bank account, customers and issued invoices; `ofHouse`, in the book of the house. */
export const openReceipts = async (world: World, { ofHouse = false } = {}) => {
  const a = await openBook(world)
  const { finance, house } = a
  const bookId = ofHouse ? house.bookId : a.bookId
  const send = async (desk: Desk, method: string, path: string, body?: object): Promise<[number, Parsed]> => {
    const reply = await desk.send(method, path, body, { idempotencyKey: randomUUID() })
    return [reply.status, reply.body]
  }
  const good = async (desk: Desk, method: string, path: string, body?: object): Promise<Parsed> => {
    const [status, reply] = await send(desk, method, path, body)
    expect(status, `${method} ${path} ${JSON.stringify(reply)}`).to.be.below(300)
    return reply
  }
  const refused = async (desk: Desk, method: string, path: string, body?: object): Promise<[number, string]> => {
    const [status, reply] = await send(desk, method, path, body)
    return [status, String(reply.code)]
  }
  const bank = (amount = 0, on = ofHouse ? house.today : a.on('01-01')): Promise<string> =>
    a.house.inHouse((trx) =>
      createCashAccount(trx, {
        bookId,
        kind: 'bank',
        code: randomUUID().slice(0, 8).toUpperCase(),
        name: 'Banco',
        ...(amount > 0 ? { opening: { amount, on } } : {}),
      }),
    )
  const customer = (kind = 'company'): Promise<string> => house.inHouse((trx) => makeCustomer(trx, kind))
  const invoice = (given: Omit<IssuedInvoice, 'bookId'>) =>
    house.inHouse((trx) => makeInvoice(trx, { bookId, ...given }))
  const taxCode = (kind: string, code: string, more: object): Promise<string> =>
    good(finance, 'POST', 'financial/tax-codes', {
      bookId,
      kind,
      code,
      name: code,
      validFrom: a.on('01-01'),
      ...more,
    }).then(({ id }) => id as string)
  const path = 'accounts-receivable/receipts'
  const receipt = (body: object): Promise<Parsed> => good(finance, 'POST', path, { method: 'bank', ...body })
  const read = (id: string): Promise<Parsed> => good(finance, 'GET', `${path}/${id}`)
  const document = async (id: string): Promise<Parsed> => {
    const [row] = await a.rows(
      `select status, settled, credited, written_off as "writtenOff", open from receivable where id = :id`,
      {
        id,
      },
    )
    return row ?? {}
  }
  const account = async (code: string): Promise<string> => {
    const [row] = await a.rows<{ id: string }>(`select id from account where book_id = :book and code = :code`, {
      book: bookId,
      code,
    })
    return row?.id ?? ''
  }
  /** An invoice of rooms in equal parts, one a month from May on; of a house's book today, due day after day. */
  const plain = async (customerId: string, amounts: readonly number[], more: Partial<IssuedInvoice> = {}) =>
    invoice({
      customerId,
      issuedOn: ofHouse ? house.today : a.on('05-02'),
      lines: [
        {
          description: 'Rooms',
          unitAmount: amounts.reduce((sum, one) => sum + one, 0),
          accountId: await account('4.3.08'),
        },
      ],
      installments: amounts.map((amount, index) => ({
        amount,
        dueOn: ofHouse ? house.day(index) : addDays(a.on('06-01'), index),
      })),
      ...more,
    })
  /** Runs the checks over HTTP and answers the names of those that fail. */
  const failing = async (): Promise<string[]> => {
    await good(finance, 'POST', 'financial/integrity-checks/run', { bookId })
    await world.drain({ kinds: ['ledger.check-integrity'] })
    const { run, data } = await good(finance, 'GET', `financial/integrity-checks?bookId=${bookId}&waitSeconds=5`)
    // A run that failed on its way keeps the results of an earlier one.
    expect(run.status).to.be.oneOf(['passed', 'failed'])
    return (data as { check: string; status: string }[]).flatMap(({ check, status }) =>
      status === 'failed' ? [check] : [],
    )
  }
  return {
    ...a,
    bookId,
    account,
    send,
    good,
    refused,
    bank,
    customer,
    invoice,
    plain,
    taxCode,
    path,
    receipt,
    read,
    document,
    failing,
  }
}
