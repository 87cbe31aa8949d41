import type { Random } from '../chaos/random.ts'
import type { Parsed } from '../support/client.ts'
import type { SimulatedHouse } from './house.ts'

/** Coins and notes of an amount of centavos. */
const coins = (amount: number): Record<string, number> => {
  const count: Record<string, number> = {}
  let left = amount
  for (const value of [10_000, 5_000, 1_000, 500, 100, 10, 1]) {
    const pieces = Math.floor(left / value)
    if (pieces > 0) count[value] = pieces
    left -= pieces * value
  }
  return count
}

const float = 20_000

/** The drawer of the day, which begins with what the one before left in it. */
export const openDrawer = async (house: SimulatedHouse): Promise<string | null> => {
  const opened = await house.group.hand.post(house.cashier, 'cash/sessions', {
    registerId: house.registerId,
    count: coins(float),
  })
  return opened?.id ?? null
}

/** Counts the drawer, at times a coin short, and takes what is above the float to the safe. */
export const closeDrawer = async (house: SimulatedHouse, id: string, taken: number, random: Random) => {
  const short = random.chance(0.1) ? 100 : 0
  const counted = float + taken - (taken >= short ? short : 0)
  const drop = counted - float
  await house.group.hand.post(house.cashier, `cash/sessions/${id}/close`, {
    count: coins(counted),
    ...(drop > 0 ? { drop: { amount: drop } } : {}),
  })
}

/** Petty cash of the drawer. Answers what it took from it. */
export const buyFlowers = async (house: SimulatedHouse, random: Random): Promise<number> => {
  if (!random.chance(0.3)) return 0
  const { hand, ids } = house.group
  const paid = await hand.post(house.cashier, 'cash/movements', {
    cashAccountId: house.registerId,
    amount: -500,
    accountId: ids.expenseAccountId,
    description: 'Flowers for the lobby',
  })
  return paid ? 500 : 0
}

/** Bills of suppliers, approved by a second person, and paid when they are due. */
export const payBills = async (house: SimulatedHouse, random: Random): Promise<void> => {
  const { group, propertyId, inn } = house
  const { hand, finance, tenant, ids } = group
  if (random.chance(0.3)) {
    const bill = await hand.post(finance, 'accounts-payable/payables', {
      bookId: ids.bookId,
      propertyId,
      supplierId: ids.supplierId,
      kind: 'bill',
      // A bill of a day to come is refused, and business days are ahead of the calendar here.
      issuedOn: inn.D,
      lines: [
        { description: 'Laundry', accountId: ids.expenseAccountId, amount: random.between(5_000, 90_000) },
        { description: 'Ironing', accountId: ids.expenseAccountId, amount: random.between(100, 9_000) },
      ],
      submit: true,
    })
    if (bill && bill.status !== 'approved')
      await hand.post(tenant.owner, `accounts-payable/payables/${bill.id}/approve`)
  }
  if (!random.chance(0.3)) return
  const { data } = await hand.read(
    finance,
    `accounts-payable/payables?propertyId=${propertyId}&status=approved&limit=5`,
  )
  for (const { id } of (data as Parsed[]).slice(0, 2)) {
    const { installments } = await hand.read(finance, `accounts-payable/payables/${id}`)
    await hand.post(finance, 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: ids.bankId,
      items: (installments as Parsed[]).map((one) => ({ installmentId: one.id })),
    })
  }
}

/** Stock comes in, breaks and is counted. */
export const keepStock = async (house: SimulatedHouse, random: Random): Promise<void> => {
  const { group, propertyId, locationId } = house
  const { hand, stock, tenant, ids } = group
  const line = (quantity: number) => ({ itemId: ids.itemId, quantity: String(quantity), measure: 'l' })
  if (random.chance(0.3))
    await hand.post(stock, 'inventory/movements', {
      kind: 'receipt',
      propertyId,
      locationId,
      lines: [{ ...line(random.between(2, 9)), value: random.between(1_000, 9_999) }],
    })
  if (random.chance(0.1))
    await hand.post(stock, 'inventory/consumptions', {
      propertyId,
      kind: 'waste',
      reason: 'broken',
      locationId,
      lines: [{ itemId: ids.itemId, quantity: '70', measure: 'cl' }],
    })
  if (!random.chance(0.05)) return
  const count = await hand.post(stock, 'inventory/counts', { locationId })
  if (!count) return
  await hand.send(stock, 'PUT', `inventory/counts/${count.id}/lines`, {
    lines: [{ ...line(10), counted: '10.123' }].map(({ itemId, measure, counted }) => ({ itemId, measure, counted })),
  })
  await hand.post(tenant.owner, `inventory/counts/${count.id}/approve`)
}

/** A company has dinner on its account, and is billed for it. */
export const billCompany = async (house: SimulatedHouse, random: Random): Promise<void> => {
  if (!random.chance(0.2)) return
  const { hand, tenant, ids } = house.group
  const folio = await hand.post(tenant.owner, 'folios', {
    propertyId: house.propertyId,
    kind: 'house',
    label: 'Dinner',
    payerCompanyId: ids.companyId,
  })
  if (!folio) return
  await hand.post(tenant.owner, `folios/${folio.id}/charges`, {
    category: 'other',
    description: 'A dinner',
    unitAmount: random.between(5_000, 50_000),
  })
  await hand.post(tenant.owner, `folios/${folio.id}/invoice`)
}

/** Customers pay their invoices, in whole or in part. */
export const collect = async (house: SimulatedHouse, random: Random): Promise<void> => {
  const { hand, finance, ids } = house.group
  if (!random.chance(0.2)) return
  const { data } = await hand.read(
    finance,
    `accounts-receivable/receivables?propertyId=${house.propertyId}&status=issued&limit=5`,
  )
  const open = (data as Parsed[])[0]
  if (!open) return
  await hand.post(finance, 'accounts-receivable/receipts', {
    customerId: ids.customerId,
    cashAccountId: ids.bankId,
    method: 'bank',
    amount: random.chance(0.5) ? open.total : Math.max(1, Math.floor(open.total / 3)),
    receivedOn: house.inn.D,
    reference: 'TED',
    auto: true,
  })
}

/** Disputes of all houses are contested or accepted, and some money goes back. */
export const settleDisputes = async (house: SimulatedHouse, random: Random): Promise<void> => {
  const { hand, tenant } = house.group
  const { data } = await hand.read(tenant.owner, 'payments/disputes?status=needs_response&limit=100')
  for (const { id } of data as Parsed[])
    await hand.post(
      tenant.owner,
      `payments/disputes/${id}/respond`,
      random.chance(0.7)
        ? { action: 'contest', evidence: { explanation: 'The guest stayed all nights.' } }
        : { action: 'accept' },
    )
}

/** Words to guests, complaints, and rooms made ready. */
export const keepHouse = async (house: SimulatedHouse, random: Random): Promise<void> => {
  const { group, propertyId, inn } = house
  const { hand, tenant, ids } = group
  const { data } = await hand.read(
    tenant.manager,
    `housekeeping/board?propertyId=${propertyId}&date=${house.date}&limit=100`,
  )
  const items = (data as Parsed[])
    .filter((one) => one.condition === 'dirty')
    .map((one) => ({ unitId: one.unit.id ?? one.unit.unitId, condition: 'clean' }))
  if (items.length > 0) await hand.post(tenant.manager, 'housekeeping/conditions', { propertyId, items })
  if (random.chance(0.2)) {
    const issue = await hand.post(tenant.reception, 'issues', {
      propertyId,
      categoryId: ids.categoryId,
      title: 'Loud music next door',
      unitId: inn.id('101'),
    })
    if (issue && random.chance(0.8))
      await hand.post(tenant.manager, `issues/${issue.id}/resolve`, { resolution: 'A word was had', cause: 'guest' })
  }
  if (random.chance(0.3))
    await hand.post(tenant.reception, 'ocp/messages', {
      propertyId,
      recipient: { name: 'Ana Souza', email: 'ana@example.com' },
      text: { subject: 'Your question', text: 'Yes, breakfast is from seven to ten.' },
    })
}
