import { sampleDay, sampleId } from '../../config/samples.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import { createGuest } from '../../db/guests/index.ts'
import { makeFiscal } from './fiscal.ts'
import type { Fiscal } from './fiscal.ts'
import { makePayables } from './payables.ts'
import type { Payables } from './payables.ts'
import { makeReceivables } from './receivables.ts'
import type { Receivables } from './receivables.ts'
import { makeTemplate } from '../ocp/records.ts'
import type { House } from './factories.ts'
import { makeHold } from './stay.ts'
import { makeMoney } from './money.ts'
import type { Money } from './money.ts'
import { makeReceipts } from './receipts.ts'
import type { Receipts } from './receipts.ts'
import { makeStore } from './stock.ts'
import type { Store } from './stock.ts'

/** Ids of records that are there, by the names that examples have for them. */
export type Records = Readonly<Record<string, string>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const daysAhead = new Map(Array.from({ length: 800 }, (_, ahead) => [sampleDay(ahead), ahead]))

/** An example with records and days of a house in the places of samples. Throws where it names a record that `records` does not have. */
export const placed = (example: unknown, records: Records, house: Pick<House, 'day'>): unknown => {
  const byId = new Map(Object.entries(records).map(([name, id]) => [sampleId(name), id]))
  const put = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(put)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, put(inside)]))
    if (typeof value !== 'string') return value
    // An instant of a day keeps its time.
    const ahead = daysAhead.get(value.slice(0, 10))
    if (ahead !== undefined && /^.{10}(T.*)?$/.test(value)) return house.day(ahead) + value.slice(10)
    const id = byId.get(value)
    if (id === undefined && uuid.test(value))
      throw new Error(`no record stands for a sample of ${JSON.stringify(example)}`)
    return id ?? value
  }
  return put(example)
}

/** Fields of which no two records have the same. */
const unique = ['code', 'sku', 'key', 'slug', 'name', 'url', 'email', 'externalPropertyId']

const joint = (value: string) =>
  /^[0-9A-Z]+(\.[0-9A-Z]+)+$/.test(value) ? '' : /^[a-z0-9]+(_[a-z0-9]+)+$/.test(value) ? '_' : '-'

/** An example for another record: the texts that must not stand twice end with a number, addresses before the `@`; codes with a dot take the digits alone. */
export const numbered = (example: unknown, number: number): unknown =>
  Object.fromEntries(
    Object.entries(example as object).map(([field, value]: [string, unknown]) => [
      field,
      // A file that is kept once.
      field === 'content' && typeof value === 'string'
        ? Buffer.from(`${Buffer.from(value, 'base64').toString()}\n${number}`).toString('base64')
        : unique.includes(field) && typeof value === 'string'
          ? value.replace(/(?=@)|(?<!@.*)$/, `${joint(value)}${number}`)
          : value,
    ]),
  )

/** Records of a house that examples of every module may name. */
export const recordsOf = async (
  house: House,
  given?: Store,
  payables?: Payables,
  money?: Money,
  fiscal?: Fiscal,
  receipts?: Receipts,
  receivables?: Receivables,
): Promise<Records> => {
  const { billedReceivableId } = fiscal ?? (await makeFiscal(house))
  const received = receipts ?? (await makeReceipts(house))
  const owed = payables ?? (await makePayables(house))
  const { customerId: billedCustomerId, incomeAccountId, billedFolioId } = receivables ?? (await makeReceivables(house))
  const { userId: _, ...store } = given ?? (await makeStore(house))
  const { userId: __, ...accounts } = money ?? (await makeMoney(house))
  const policies = await house.inHouse((trx) =>
    sqlOne<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    ),
  )
  if (!policies) throw new Error('the house has no plan')
  const payableBookingId = await makeHold(house, { from: 50 })
  const guestId = await house.inHouse((trx) =>
    createGuest(trx, { firstName: 'Rui', lastName: 'Barbosa', language: 'pt-BR', source: 'staff' }),
  )
  const ledger = await house.inHouse((trx) =>
    sqlOne<
      Record<
        | 'accountId'
        | 'expenseAccountId'
        | 'liabilityAccountId'
        | 'paymentId'
        | 'periodId'
        | 'fiscalYearId'
        | 'issueCategoryId',
        string
      >
    >(
      trx,
      `select (select id from account where book_id = ? and role = 'revenue_room_group') as account_id,
         (select id from account where book_id = ? and role = 'service_tax_payable') as liability_account_id,
         (select id from account where book_id = ? and code = '5.1.09') as expense_account_id, gen_random_uuid() as payment_id,
         (select id from issue_category where code = 'noise') as issue_category_id,
         p.id as period_id, p.fiscal_year_id from fiscal_period p where p.book_id = ? and p.number = 1 order by p.starts_on limit 1`,
      [house.bookId, house.bookId, house.bookId, house.bookId],
    ),
  )
  const templates = await house.inHouse(async (trx) => ({
    publishedTemplateId: await makeTemplate(trx, { context: 'reservation' }),
    marketingTemplateId: await makeTemplate(trx, { marketing: true }),
  }))
  return {
    ...store,
    ...accounts,
    ...ledger,
    ...templates,
    ...policies,
    payableBookingId,
    guestId,
    gatewayAccountId: house.gatewayAccountId,
    customerId: received.customerId,
    receivableId: received.receivableId,
    receivableInstallmentId: received.receivableInstallmentId,
    receiptAllocationId: received.receiptAllocationId,
    billedCustomerId,
    incomeAccountId,
    billedFolioId,
    supplierId: owed.supplierId,
    billedReceivableId,
    payableId: owed.draft,
    installmentId: owed.installmentId,
    cashAccountId: owed.cashAccountId,
    tenantId: house.tenantId,
    propertyId: house.propertyId,
    bookId: house.bookId,
    unitTypeId: house.unitTypeId,
    unitPoolId: house.poolId,
    unitId: house.unitIds[0] ?? '',
    ratePlanId: house.ratePlanId,
  }
}
