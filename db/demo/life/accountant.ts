import { addDays } from '../../../config/time.ts'
import { createCredit } from '../../accounts-payable/index.ts'
import { askForChecks, createAccrual, createTemplate, defaultBook, setExchangeRates } from '../../financial/index.ts'
import { always } from '../../lib/conditions.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { suppress } from '../../ocp/index.ts'
import { createRateChange, setOverbooking } from '../../properties/index.ts'
import { sol } from '../ids.ts'
import { accountOf } from './money.ts'

const { propertyId } = sol

/** The accountant's work: insurance paid for a year, rent that comes each month, rates of the day, a credit note of a supplier, and a run of the checks. */
export const keepBooks = async (trx: Trx, today: string): Promise<void> => {
  const book = await defaultBook(trx)
  if (!book) throw new Error('the tenant has no book')
  const bookId = book.id
  await createAccrual(
    trx,
    {
      bookId,
      kind: 'prepaid',
      targetAccountId: await accountOf(trx, '6.7.03'),
      amount: 1_440_000,
      firstMonth: today.slice(0, 7),
      months: 12,
      propertyId,
      description: 'Seguro da casa',
    },
    always,
  )
  const rent = (accountId: string, side: 'debit' | 'credit') => ({ accountId, side, amount: 1_200_000, propertyId })
  await createTemplate(
    trx,
    {
      bookId,
      name: 'Aluguel',
      description: 'Aluguel do mês',
      lines: [rent(await accountOf(trx, '6.7.01'), 'debit'), rent(await accountOf(trx, '2.1.7.01'), 'credit')],
      schedule: { every: 1, unit: 'month', firstOn: addDays(today, 10), mode: 'draft' },
    },
    always,
  )
  await setExchangeRates(trx, addDays(today, -1), [
    { from: 'USD', to: book.currency, rate: '5.4210' },
    { from: 'EUR', to: book.currency, rate: '6.2875' },
  ])
  const water = await sqlOne<{ id: string; supplierId: string }>(
    trx,
    `select id, supplier_id from payable where number = ?`,
    ['88120'],
  )
  if (!water) throw new Error('the demo has no bill of water')
  await createCredit(
    trx,
    { supplierId: water.supplierId, payableId: water.id, number: 'NC-14', issuedOn: today, amount: 4_300 },
    { features: ['suppliers'] },
  )
  await askForChecks(trx, bookId)
}

/** Dearer weekends, a room more than there is of one type, and a guest who wants no offers. */
export const tuneSales = async (trx: Trx, today: string): Promise<void> => {
  const [from, to] = [addDays(today, 120), addDays(today, 180)]
  await createRateChange(trx, {
    propertyId,
    note: 'Fins de semana',
    items: [{ ratePlanIds: [sol.flexible], from, to, weekDays: [5, 6], adjust: { type: 'percent', value: 1_000 } }],
  })
  const pool = await sqlOne<{ id: string }>(
    trx,
    `select unit_pool_id as id from unit_type_pool where unit_type_id = ? limit 1`,
    [sol.standard],
  )
  if (!pool) throw new Error('the demo has no pool of units')
  await setOverbooking(trx, {
    propertyId,
    unitPoolId: pool.id,
    from,
    to: addDays(from, 6),
    quantity: 1,
    reason: 'Many cancel',
  })
  await suppress(trx, {
    kind: 'email',
    address: 'nestor.braga@guests.example',
    scope: 'marketing',
    cause: 'unsubscribe',
    messageId: null,
  })
}
