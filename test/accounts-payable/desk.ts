import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createCashAccount } from '../../db/cash/index.ts'
import { openBook } from '../financial/accountant.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import type { World } from '../support/world.ts'

/** A clerk of payables at work over HTTP: an accountant with a bank account, suppliers and bills. */
export const openPayables = async (world: World) => {
  const a = await openBook(world)
  const { bookId, finance, owner } = a
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
  const bank = (amount: number, on: string): Promise<string> =>
    a.house.inHouse((trx) =>
      createCashAccount(trx, {
        bookId,
        kind: 'bank',
        code: randomUUID().slice(0, 8).toUpperCase(),
        name: 'Banco',
        ...(amount > 0 ? { opening: { amount, on } } : {}),
      }),
    )
  const supplier = (more: object = {}): Promise<Parsed> =>
    good(finance, 'POST', 'accounts-payable/suppliers', {
      legalName: `Fornecedor ${randomUUID().slice(0, 6)}`,
      ...more,
    })
  /** A bill that finance submits and the owner approves. */
  const bill = async (body: object): Promise<Parsed> => {
    const { id } = await good(finance, 'POST', 'accounts-payable/payables', {
      bookId,
      kind: 'bill',
      submit: true,
      ...body,
    })
    return good(owner, 'POST', `accounts-payable/payables/${id}/approve`, {})
  }
  const read = (id: string) => good(finance, 'GET', `accounts-payable/payables/${id}`)
  const ageing = async (asOf: string, key: string | null): Promise<Record<string, number>> => {
    const { data } = await good(finance, 'GET', `accounts-payable/ageing?bookId=${bookId}&asOf=${asOf}&limit=100`)
    const row = (data as Record<string, number>[]).find((one) => (one as Parsed).key === key)
    return Object.fromEntries(
      Object.entries(row ?? {}).filter(
        ([name, value]) => !['key', 'name', 'total', 'credits'].includes(name) && value !== 0,
      ),
    )
  }
  return { ...a, send, good, refused, bank, supplier, bill, read, ageing }
}
