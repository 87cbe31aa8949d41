import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { seal } from '../../db/lib/sealing/index.ts'
import { openBook } from '../financial/accountant.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import type { World } from '../support/world.ts'

export const paulista = {
  line1: 'Av. Paulista 1000',
  city: 'São Paulo',
  region: 'SP',
  postalCode: '01310-100',
  countryCode: 'BR',
}

export type CustomerInput = {
  email?: string | null
  phone?: string | null
  address?: object | null
  kind?: string
  exempt?: boolean
  language?: string
}

/** A clerk of receivables: a book of its own, customers, and documents that are issued, whatever makes them. */
export const openReceivables = async (world: World) => {
  const a = await openBook(world)
  const { bookId, house, finance, owner } = a
  const path = 'accounts-receivable'
  const send = async (desk: Desk, method: string, to: string, body?: object): Promise<[number, Parsed]> => {
    const reply = await desk.send(method, `${path}/${to}`, body, { idempotencyKey: randomUUID() })
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
  const set = (body: object, desk = owner) => good(desk, 'PUT', `settings?bookId=${bookId}`, body)

  const customer = (more: CustomerInput = {}): Promise<string> =>
    inTenant(house.tenantId, async (trx) => {
      const id = randomUUID()
      const contacts = {
        email: more.email === undefined ? 'ok@firma.example' : more.email,
        phone: more.phone ?? null,
        address: more.address === undefined ? paulista : more.address,
        contacts: [],
        invoiceEmails: [],
      }
      await sql(
        trx,
        `insert into customer (id, kind, legal_name, country_code, document, search, sealed, currency, dunning_exempt, language)
         values (?, ?, 'Firma Ltda', 'BR', ?, 'firma', ?, 'BRL', ?, ?)`,
        [
          id,
          more.kind ?? 'company',
          (more.kind ?? 'company') === 'person' ? null : randomUUID().replace(/-/g, '').slice(0, 14).toUpperCase(),
          await seal(trx, 'tenant', { table: 'customer', rowId: id, purpose: 'contacts' }, contacts),
          more.exempt ?? false,
          more.language ?? 'pt-BR',
        ],
      )
      return id
    })
  let numbers = 0
  /** An issued document as it stands in the record, with one installment for each due day. */
  const issued = (
    customerId: string,
    installments: readonly [dueOn: string, amount: number][],
    more: { pausedUntil?: string } = {},
  ): Promise<string> =>
    inTenant(house.tenantId, async (trx) => {
      const id = randomUUID()
      numbers += 1
      const total = installments.reduce((sum, [, amount]) => sum + amount, 0)
      const account = await sqlOne<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code = '4.2.04'`,
        [bookId],
      )
      await sql(
        trx,
        `insert into receivable (id, book_id, customer_id, kind, series, number, issued_on, posting_on, currency, total, status, posted_at, dunning_paused_until)
         values (?, ?, ?, 'invoice', '2000', ?, '2020-01-01', '2020-01-01', 'BRL', ?, 'issued', now(), ?)`,
        [id, bookId, customerId, numbers, total, more.pausedUntil ?? null],
      )
      await sql(
        trx,
        `insert into receivable_line (receivable_id, line_no, description, unit_amount, amount, account_id) values (?, 1, 'Diárias', ?, ?, ?)`,
        [id, total, total, account?.id ?? null],
      )
      for (const [index, [dueOn, amount]] of installments.entries())
        await sql(trx, `insert into receivable_installment (receivable_id, seq, due_on, amount) values (?, ?, ?, ?)`, [
          id,
          index + 1,
          dueOn,
          amount,
        ])
      return id
    })
  const day = (offset: number) => house.day(offset)
  return { ...a, path, send, good, refused, set, customer, issued, day, finance, owner }
}
export type Receivables = Awaited<ReturnType<typeof openReceivables>>
