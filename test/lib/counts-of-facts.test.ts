import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { wrongTotals } from '../support/counts.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { makePayables } from '../support/payables.ts'
import type { Payables } from '../support/payables.ts'
import { makeReceivables } from '../support/receivables.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { idOf, makeRows } from './made-rows.ts'

/** Changes of a fact, and the table of the rows that have it. */
const changes: Readonly<Record<string, readonly [table: string, change: string]>> = {
  supplier_blocked: [
    'supplier',
    `payments_blocked = not payments_blocked, block_reason = case when payments_blocked then null else 'Late' end`,
  ],
  supplier_credit_available: ['supplier_credit', 'applied = case applied when 0 then amount else 0 end'],
  payable_held: ['payable', `on_hold = not on_hold, hold_reason = case when on_hold then null else 'Held' end`],
  customer_held: ['customer', `on_hold = not on_hold, hold_reason = case when on_hold then null else 'Held' end`],
  receipt_available: ['receipt', 'allocated = case allocated when 0 then amount else 0 end'],
  receipt_unidentified: ['receipt', 'customer_id = case when customer_id is null then :customerId::uuid end'],
  cash_movement_matched: ['cash_movement', 'matched = case matched when 0 then abs(amount) else 0 end'],
  payment_late: ['payment', 'late = not late'],
  payment_unallocated: [
    'payment',
    'allocated_amount = case allocated_amount when 0 then captured_amount - refund_reserved else 0 end',
  ],
}
/** Rows of these refer to none that is checked when the transaction ends, and are referred to by none. */
const removable = new Set(['supplier', 'customer', 'receipt'])

describe('Counts of facts', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let made: Payables
  let customerId: string

  const rows = <Row = Record<string, unknown>>(text: string, values: Record<string, unknown> = {}) =>
    sql<Row>(world.database.admin, text, { tenantId: house.tenantId, customerId, ...values })
  const expectRight = async () => expect(await rows(wrongTotals)).to.deep.equal([])

  before(async () => {
    house = await makeHouse({ units: 4, deposit: null })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
    await pay(house, await makeHold(house, {}), 'all')
    await world.drain({ starts: 2_000 })
    made = await makePayables(house)
    ;({ customerId } = await makeReceivables(house))
    const money = { cashAccountId: made.cashAccountId, method: 'bank', amount: 900, receivedOn: house.today }
    for (const owned of [{}, { customerId }])
      done(
        await owner.send(
          'POST',
          'accounts-receivable/receipts',
          { ...money, ...owned },
          { idempotencyKey: randomUUID() },
        ),
        201,
      )
    await world.drain({ starts: 2_000 })
    const ofHouse = (growing: string[] = []) => ({
      tenantId: house.tenantId,
      from: 1,
      until: 41,
      of: {},
      growing: new Set(growing),
    })
    const copied = (table: string, changed = {}, original = 'true', growing: string[] = []) =>
      world.database.admin.transaction((trx) => makeRows(trx, table, { ...ofHouse(growing), changed, original }))
    await copied('supplier', { country_code: 'one.country_code' })
    await copied('customer', { guest_id: 'null', country_code: 'one.country_code' })
    await copied('payable', { source: 'one.source', payee_key: 'one.payee_key' }, `status = 'draft'`)
    await copied('payable_installment', {}, 'settled = 0', ['payable'])
    const issued = `status = 'issued' and settled + credited + written_off = 0`
    await world.database.admin.transaction(async (trx) => {
      await makeRows(trx, 'receivable', { ...ofHouse(), original: issued })
      await makeRows(trx, 'receivable_installment', {
        ...ofHouse(['receivable']),
        original: `receivable_id in (select id from receivable where ${issued})`,
      })
    })
    await copied('supplier_credit', { payee_key: 'one.payee_key', number: `'N' || n` })
    await copied('receipt', { source_type: 'one.source_type' }, 'customer_id is not null')
    await copied('payment', { cash_account_id: 'one.cash_account_id' })
    await copied(
      'cash_movement',
      { cash_account_id: 'one.cash_account_id', source_type: 'one.source_type' },
      'reverses_id is null',
    )
  })

  for (const [list, [table, change]] of Object.entries(changes))
    it(`are those of ${list}, while rows change and go at once and changes are added up`, async () => {
      const half = (which: number) =>
        house.inHouse((trx) =>
          sql(
            trx,
            `update ${table} set ${change} where id in (select id from ${table} where abs(hashtext(id::text)) % 3 in (:which, 2) order by id for update)`,
            { customerId, which },
          ),
        )
      const fold = () => inPlatform((trx) => sql(trx, `select fold_list_counts(1)`))
      const lists = Object.keys(changes).filter((one) => changes[one]?.[0] === table)
      // Five of the rows that were made, and others for each list of the table.
      const last = 40 - 5 * lists.indexOf(list)
      const first = removable.has(table)
        ? rows(
            `delete from ${table} where tenant_id = :tenantId and id in (select id from ${table} where tenant_id = :tenantId
               and id in (select ${idOf(table, 'n')} from generate_series(${last - 4}, ${last}) n) order by id for update) returning id`,
          )
        : null
      const [, , , removed] = await Promise.all([half(0), half(1), fold(), first])
      if (removable.has(table)) expect(removed).to.have.length(5)
      await expectRight()
      await Promise.all([half(0), fold()])
      await expectRight()
      const [kept] = await rows<{ n: number }>(
        `select sum(n)::int as n from list_count where tenant_id = :tenantId and list = :list`,
        { list },
      )
      expect(kept?.n).to.be.above(0)
    })

  it('tell how many rows have facts and have not, also beside other filters', async () => {
    const each = (table: string) =>
      `from (select id, row_number() over (order by id) as n from ${table} where tenant_id = :tenantId) x where t.id = x.id`
    await rows(
      `update receipt t set customer_id = case when n % 2 = 0 then :customerId::uuid end, allocated = case when n % 4 < 2 then amount else 0 end ${each('receipt')}`,
    )
    await rows(
      `update payment t set late = n % 2 = 0, allocated_amount = case when n % 4 < 2 then captured_amount else 0 end ${each('payment')}`,
    )
    await expectRight()
    const payables = 'accounts-payable/payables'
    const asked: readonly (readonly [path: string, table: string, condition: string])[] = [
      ['accounts-payable/suppliers?blocked=true', 'supplier', 'payments_blocked'],
      [
        'accounts-payable/suppliers?blocked=false&status=active',
        'supplier',
        `not payments_blocked and status = 'active'`,
      ],
      ['accounts-payable/credits?available=true', 'supplier_credit', `available > 0 and status = 'open'`],
      ['accounts-payable/credits?available=false', 'supplier_credit', `not (available > 0 and status = 'open')`],
      [`${payables}?onHold=true&status=draft`, 'payable', `on_hold and status = 'draft'`],
      [`${payables}?onHold=false&propertyId=${house.propertyId}`, 'payable', 'not on_hold'],
      [`${payables}?onHold=false&supplierId=${made.supplierId}`, 'payable', 'not on_hold'],
      [`${payables}?onHold=true&awaitingMe=false`, 'payable', `on_hold and status <> 'awaiting_approval'`],
      ['accounts-receivable/customers?onHold=true', 'customer', 'on_hold'],
      ['accounts-receivable/customers?onHold=false&kind=company', 'customer', 'not on_hold'],
      ['accounts-receivable/receipts?unidentified=true', 'receipt', 'customer_id is null'],
      [
        'accounts-receivable/receipts?unidentified=false&available=true',
        'receipt',
        'customer_id is not null and available > 0',
      ],
      [
        'accounts-receivable/receipts?unidentified=true&available=false',
        'receipt',
        'customer_id is null and available = 0',
      ],
      [
        'accounts-receivable/receipts?unidentified=false&available=false',
        'receipt',
        'customer_id is not null and available = 0',
      ],
      ['cash/movements?unmatched=true', 'cash_movement', 'matched < abs(amount)'],
      ['cash/movements?unmatched=false', 'cash_movement', 'matched = abs(amount)'],
      ['payments?late=true', 'payment', 'late'],
      ['payments?late=false&status=captured', 'payment', `not late and status = 'captured'`],
      ['payments?unallocated=true&late=false', 'payment', 'not late and allocated_amount < captured_amount'],
      ['payments?unallocated=false&late=false', 'payment', 'not late and allocated_amount = captured_amount'],
      ['payments?unallocated=false&late=true', 'payment', 'late and allocated_amount = captured_amount'],
    ]
    for (const [path, table, condition] of asked) {
      const [found] = await rows<{ n: number }>(
        `select count(*)::int as n from ${table} where tenant_id = :tenantId and ${condition}`,
      )
      await forgetLimits(world)
      const { meta, data } = done(await owner.get(`${path}&limit=100`))
      expect([meta.total, data.length], path).to.deep.equal([found?.n, found?.n])
      expect(found?.n, path).to.be.above(0)
    }
  })

  for (const [document, statuses] of Object.entries({ payable: ['draft'], receivable: ['issued'] }))
    it(`of installments are those of ${document}s, while they are settled, voided and moved to a house at once`, async () => {
      const table = `${document}_installment`
      const those = (which: number) =>
        `tenant_id = :tenantId and status in ('${statuses.join(`', '`)}') and abs(hashtext(id::text)) % 3 in (${which}, 2)`
      /** Commands hold a document before they change anything of it. */
      const change = (which: number, text: string) =>
        house.inHouse(async (trx) => {
          const held = await sql<{ id: string }>(
            trx,
            `select id from ${document} where ${those(which)} order by id for no key update`,
            { tenantId: house.tenantId },
          )
          await sql(trx, text, { ids: held.map(({ id }) => id), propertyId: house.propertyId, today: house.today })
        })
      const settle = (which: number) =>
        change(
          which,
          `update ${table} set settled = case settled when 0 then amount else 0 end where ${document}_id = any(:ids)`,
        )
      const move = (which: number) =>
        change(
          which,
          `update ${document} set property_id = case when property_id is null then :propertyId::uuid end where id = any(:ids)`,
        )
      const fold = () => inPlatform((trx) => sql(trx, `select fold_list_counts(1)`))
      await Promise.all([settle(0), move(1), settle(1), move(0), fold()])
      await expectRight()
      const voided = `status = 'void', voided_on = :today, void_reason = 'A mistake'`
      await Promise.all([
        settle(0),
        change(1, `update ${document} set ${voided} where id = any(:ids) and abs(hashtext(id::text)) % 3 = 1`),
        fold(),
      ])
      await expectRight()
      await change(0, `update ${document} set property_id = :propertyId where id = any(:ids)`)
      await expectRight()
      const path = document === 'payable' ? 'accounts-payable/installments' : 'accounts-receivable/installments'
      for (const [query, condition] of [
        ['open=false', 'i.open = 0'],
        ['open=true', 'i.open > 0'],
        ['open=false&overdue=false', 'i.open = 0'],
        [`open=false&propertyId=${house.propertyId}`, 'i.open = 0 and d.property_id is not null'],
        [`open=true&propertyId=${house.propertyId}`, 'i.open > 0 and d.property_id is not null'],
      ]) {
        const [found] = await rows<{ n: number }>(
          `select count(*)::int as n from ${table} i join ${document} d on d.tenant_id = i.tenant_id and d.id = i.${document}_id
           where i.tenant_id = :tenantId and d.status not in ('void'${document === 'payable' ? '' : `, 'draft', 'unbilled'`}) and ${condition}`,
        )
        await forgetLimits(world)
        const { meta, data } = done(await owner.get(`${path}?${query}&limit=100`))
        expect([meta.total, data.length], query).to.deep.equal([found?.n, found?.n])
        expect(found?.n, query).to.be.above(0)
      }
    })

  it('of what is overdue are those whose day has passed where the book is', async () => {
    const overdue = `i.open > 0 and i.due_on < :today and d.status in ('issued', 'partly_paid')`
    await rows(
      `update receivable_installment i set due_on = due_on - 60 from receivable d
       where d.tenant_id = i.tenant_id and d.id = i.receivable_id and i.tenant_id = :tenantId and abs(hashtext(i.id::text)) % 3 > 0`,
    )
    const of = (column: string) =>
      `(select d.${column} from receivable d join receivable_installment i on i.tenant_id = d.tenant_id and i.receivable_id = d.id
        where d.tenant_id = :tenantId and ${overdue})`
    for (const [path, table, column] of [
      ['accounts-receivable/receivables', 'receivable', 'id'],
      ['accounts-receivable/customers', 'customer', 'customer_id'],
    ] as const)
      for (const is of [true, false]) {
        const [found] = await rows<{ n: number }>(
          `select count(*)::int as n from ${table} where tenant_id = :tenantId and ${is ? '' : 'not '}id in ${of(column)}`,
          { today: house.today },
        )
        await forgetLimits(world)
        const { meta, data } = done(await owner.get(`${path}?overdue=${is}&limit=100`))
        expect([meta.total, data.length], `${path} ${is}`).to.deep.equal([found?.n, found?.n])
        expect(found?.n, `${path} ${is}`).to.be.above(0)
      }
  })
})
