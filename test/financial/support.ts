import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { inTenant, makeKnex, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { businessDay, openBusinessDay, provisionBook, raisePosting } from '../../db/financial/index.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import type { Database } from '../support/database.ts'

export type House = { tenantId: string; bookId: string; propertyId: string; today: string }

/** A tenant with a book and one property of it, open for business. */
export const makeHouse = async ({ countryCode = 'BR', locale = 'pt-BR', open = true } = {}): Promise<House> => {
  const tenantId = randomUUID()
  const house = await inTenant(tenantId, async (trx) => {
    const bookId = await provisionBook(trx, {
      name: 'Casa',
      countryCode,
      currency: 'BRL',
      timeZone: 'America/Sao_Paulo',
      locale,
    })
    const propertyId = await addProperty(trx, bookId)
    return { tenantId, bookId, propertyId, today: await businessDay(trx, propertyId) }
  })
  if (open) await inTenant(tenantId, (trx) => openBusinessDay(trx, house.propertyId, house.today))
  return house
}

export const addProperty = async (trx: Trx, bookId: string): Promise<string> => {
  const propertyId = randomUUID()
  const slug = `casa-${propertyId.slice(0, 8)}`
  await sql(
    trx,
    `insert into property (id, code, slug, name, kind, timezone, currency, locales, book_id)
     values (?, ?, ?, 'Casa', 'inn', 'America/Sao_Paulo', 'BRL', '{pt-BR}', ?)`,
    [propertyId, propertyId.slice(0, 8).toUpperCase(), slug, bookId],
  )
  return propertyId
}

export const post = (house: House) => postWaiting(house.bookId, (work) => inTenant(house.tenantId, work))

/** Balance of the account of a role, on its normal side. */
export const balanceOf = (house: House, role: string): Promise<number> =>
  inTenant(house.tenantId, async (trx) => {
    const row = await sqlOne<{ balance: string }>(
      trx,
      `select coalesce(sum(case when a.side = 'debit' then b.debit - b.credit else b.credit - b.debit end), 0) as balance
       from account a left join account_balance b on b.tenant_id = a.tenant_id and b.account_id = a.id where a.book_id = ? and a.role = ?`,
      [house.bookId, role],
    )
    return Number(row?.balance)
  })

export const stateOf = (error: unknown): string => {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return String(error)
}

/** The code of what a statement is refused with; 'done' when it passes. */
export const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => stateOf(error),
  )

export type Role = 'service' | 'owner'
type Isolation = 'read committed' | 'repeatable read'

/** Plain SQL in one transaction, as a role, with the application passed by. */
export const asRole = async <T>(
  database: Database,
  role: Role,
  tenantId: string,
  work: (trx: Knex.Transaction) => Promise<T>,
  isolationLevel: Isolation = 'read committed',
): Promise<T> => {
  const knex = makeKnex(role === 'service' ? database.url : database.ownerUrl, 1)
  try {
    return await knex.transaction(
      async (trx) => {
        await trx.raw(`select set_config('app.tenant_id', ?, true), set_config('lock_timeout', '4s', true)`, [tenantId])
        return work(trx)
      },
      { isolationLevel },
    )
  } finally {
    await knex.destroy()
  }
}

/** Captures and allocations in turn, amounts from 100 on, spread over the properties. */
export const raiseMany = (house: House, count: number, propertyIds = [house.propertyId]) =>
  inTenant(house.tenantId, async (trx) => {
    for (let n = 0; n < count; n += 1) {
      const payment = randomUUID()
      await raisePosting(trx, {
        event: n % 2 === 0 ? 'payment.payment_captured' : 'payment.payment_allocated',
        source: { id: payment },
        propertyId: propertyIds[n % propertyIds.length] ?? house.propertyId,
        payload: {
          amounts: { amount: 100 + n },
          documents: { payment, booking: payment },
          context: { target: 'booking' },
        },
      })
    }
  })
