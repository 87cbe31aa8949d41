import { addDays } from '../../../config/time.ts'
import {
  approveOrder,
  approvePayable,
  createOrder,
  createPayable,
  createPayment,
  createRecurring,
  createSupplier,
  decideBankDetails,
  lockSupplier,
  proposeBankDetails,
  readPayable,
  submitPayable,
} from '../../accounts-payable/index.ts'
import { defaultBook } from '../../financial/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { sol } from '../ids.ts'
import { accountOf, cashAccountOf } from './money.ts'

const { propertyId } = sol
const making = { features: ['suppliers', 'pos'] }

/** Bills of the house by their numbers, with the days until they are due. */
const bills = [
  { number: 'NF-2201', supplier: 'Ondas', code: '5.1.02', what: 'Lavanderia da semana', amount: 186_000, due: 12 },
  { number: 'NF-2208', supplier: 'Ondas', code: '5.1.02', what: 'Enxoval novo', amount: 412_000, due: 25 },
  { number: '88120', supplier: 'Águas', code: '6.5.02', what: 'Água e esgoto', amount: 74_300, due: -1 },
  { number: '7781', supplier: 'Bebidas', code: '5.2.02', what: 'Cervejas e refrigerantes', amount: 93_600, due: 7 },
  { number: '7790', supplier: 'Bebidas', code: '5.2.02', what: 'Sucos', amount: 21_400, due: 14 },
] as const
/** Their states: the first is paid, another in part, one is overdue, one waits for its approval, and the last stays a draft. */
const [paid, awaiting, partly] = ['NF-2201', 'NF-2208', '7781'] as const

/** Three suppliers, their bills as finance records them, water that recurs each month, and an order of drinks for the bar. */
export const recordBills = async (trx: Trx, today: string): Promise<void> => {
  const book = await defaultBook(trx)
  if (!book) throw new Error('the tenant has no book')
  const supplierId = {
    Ondas: await createSupplier(trx, { legalName: 'Lavanderia Ondas Ltda', tradeName: 'Ondas', termDays: 15 }),
    Águas: await createSupplier(trx, { legalName: 'Águas de Paraty S.A.', tradeName: 'Águas', termDays: 10 }),
    Bebidas: await createSupplier(trx, {
      legalName: 'Distribuidora Serra do Mar Ltda',
      tradeName: 'Bebidas',
      email: 'pedidos@serradomar.example',
      termDays: 14,
    }),
  }
  await proposeBankDetails(trx, await lockSupplier(trx, supplierId.Ondas), {
    details: { keyType: 'email', key: 'contas@ondas.example' },
  })
  await proposeBankDetails(trx, await lockSupplier(trx, supplierId.Bebidas), {
    details: { keyType: 'email', key: 'financeiro@serradomar.example' },
  })
  for (const { number, supplier, code, what, amount, due } of bills) {
    const id = await createPayable(
      trx,
      {
        bookId: book.id,
        propertyId,
        supplierId: supplierId[supplier],
        kind: 'bill',
        number,
        issuedOn: addDays(today, -2),
        lines: [{ description: what, accountId: await accountOf(trx, code), amount, propertyId }],
        installments: [{ dueOn: addDays(today, due), amount }],
      },
      making,
    )
    if (number !== '7790') await submitPayable(trx, id, null)
  }
  await createRecurring(
    trx,
    {
      bookId: book.id,
      propertyId,
      name: 'Internet da casa',
      template: {
        payeeName: 'Rede Paraty Telecom',
        kind: 'bill',
        lines: [{ description: 'Internet', accountId: await accountOf(trx, '6.2.02'), amount: 29_900 }],
      },
      unit: 'month',
      firstOn: addDays(today, 20),
    },
    making,
  )
  const water = await sqlOne<{ id: string }>(trx, `select id from inventory_item where sku = 'AGUA'`)
  const bar = await sqlOne<{ id: string }>(trx, `select id from inventory_location where code = 'BAR'`)
  await createOrder(
    trx,
    {
      supplierId: supplierId.Bebidas,
      propertyId,
      locationId: bar?.id ?? null,
      expectedOn: addDays(today, 3),
      lines: [{ inventoryItemId: water?.id ?? '', measure: 'un', quantity: '48', unitPrice: 210 }],
    },
    making,
  )
}

const payableOf = async (trx: Trx, number: string): Promise<string> => {
  const found = await sqlOne<{ id: string }>(trx, `select id from payable where number = ?`, [number])
  if (!found) throw new Error(`the demo has no bill ${number}`)
  return found.id
}

/** The owner approves the bank details of one supplier, all bills that wait but one, and the order. */
export const approveBills = async (trx: Trx): Promise<void> => {
  const asked = { role: 'owner', expectedVersion: null }
  const proposed = await sqlOne<{ id: string }>(trx, `select id from supplier where trade_name = 'Ondas'`)
  await decideBankDetails(trx, proposed?.id ?? '', { number: 1, decision: 'approve' }, null)
  const waiting = await sql<{ id: string; number: string }>(
    trx,
    `select id, number from payable where status = 'awaiting_approval' order by number`,
  )
  for (const { id, number } of waiting) if (number !== awaiting) await approvePayable(trx, id, asked, null)
  const order = await sqlOne<{ id: string }>(trx, `select id from purchase_order where status = 'draft'`)
  if (order) await approveOrder(trx, order.id, { ...asked, notify: false })
}

/** Finance pays one bill whole and another one in part, by transfers that left the bank today. */
export const payBills = async (trx: Trx): Promise<void> => {
  const cashAccountId = await cashAccountOf(trx, 'BANCO')
  for (const [number, principal] of [
    [paid, 186_000],
    [partly, 40_000],
  ] as const) {
    const { installments } = await readPayable(trx, await payableOf(trx, number))
    const items = [{ installmentId: installments[0]?.id ?? '', principal }]
    await createPayment(trx, { method: 'manual', cashAccountId, items, reference: `TED ${number}` }, making)
  }
}
