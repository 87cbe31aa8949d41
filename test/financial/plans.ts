import { randomUUID } from 'node:crypto'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { accountFor } from '../../db/financial/index.ts'
import type { House } from './support.ts'

export type Plan = Record<string, unknown>

/** The fields of a well-formed entry of 100.00 between cash and income. Each test bends them. */
export const planOf = (house: House): Promise<{ entry: Plan; debit: Plan; credit: Plan }> =>
  inTenant(house.tenantId, async (trx) => {
    const period = await sqlOne<{ id: string }>(
      trx,
      `select id from fiscal_period where book_id = ? and kind = 'regular' and ?::date between starts_on and ends_on`,
      [house.bookId, house.today],
    )
    const journal = await sqlOne<{ id: string }>(trx, `select id from journal where book_id = ? and kind = 'general'`, [
      house.bookId,
    ])
    const entry = {
      id: randomUUID(),
      book_id: house.bookId,
      journal_id: journal?.id,
      period_id: period?.id,
      posting_date: house.today,
      currency: 'BRL',
      source_type: 'payment.payment_captured',
      source_id: randomUUID(),
      total: 10_000,
      description: 'Test',
      sequence: 0,
      created_xid: '1',
    }
    const line = {
      entry_id: entry.id,
      book_id: house.bookId,
      period_id: entry.period_id,
      posting_date: house.today,
      property_id: house.propertyId,
    }
    return {
      entry,
      debit: {
        ...line,
        line_no: 1,
        account_id: await accountFor(trx, house.bookId, 'doubtful_allowance'),
        debit: 10_000,
      },
      credit: { ...line, line_no: 2, account_id: await accountFor(trx, house.bookId, 'revenue_other'), credit: 10_000 },
    }
  })

/** Closes every period up to today's, this one included unless `butNot` names it. */
export const closeUntil = (house: House, status: 'soft_closed' | 'closed', { butNot = '' } = {}) =>
  inTenant(house.tenantId, async (trx) => {
    const periods = await trx('fiscal_period')
      .where({ bookId: house.bookId, kind: 'regular' })
      .andWhere('startsOn', '<=', house.today)
      .andWhereNot(butNot ? { id: butNot } : { id: randomUUID() })
      .orderBy('startsOn')
    const steps = status === 'closed' ? ['soft_closed', 'closed'] : ['soft_closed']
    for (const step of steps) {
      for (const period of periods) {
        if (period.status === step || (step === 'soft_closed' && period.status === 'closed')) continue
        await trx('fiscal_period').where({ id: period.id }).update({ status: step })
        period.status = step
      }
    }
  })

export const raiseOne = (house: House) =>
  inTenant(house.tenantId, (trx) =>
    trx('posting_event').insert({
      seq: 0,
      bookId: house.bookId,
      propertyId: house.propertyId,
      periodId: randomUUID(),
      event: 'payment.payment_captured',
      sourceId: randomUUID(),
      dated: 'day',
      postingDate: house.today,
    }),
  )
