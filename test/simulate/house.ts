import { randomUUID } from 'node:crypto'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { openInn } from '../stories/inn.ts'
import type { Inn, Tenant } from '../stories/inn.ts'
import type { Hand } from './hand.ts'

/** The people and the records that all properties of a group share. */
export const openGroup = async (tenant: Tenant, hand: Hand) => {
  const { world, tenantId, inHouse } = tenant
  const desk = (role: string) => openDesk(world, { tenantId, inHouse }, role)
  const [finance, stock] = [await desk('finance'), await desk('stock')]
  const made = async (who: Desk, path: string, body: object): Promise<Parsed> => {
    const reply = await hand.post(who, path, body)
    if (reply === null) throw new Error(`POST ${path} is refused: ${JSON.stringify(hand.last())}`)
    return reply
  }
  const accountOf = async (code: string): Promise<string> => {
    const { data } = await hand.read(finance, `financial/chart-of-accounts?q=${code}&limit=100`)
    const found = (data as { id: string; code: string }[]).find((one) => one.code === code)
    if (!found) throw new Error(`no account ${code}`)
    return found.id
  }
  const { data: books } = await hand.read(finance, 'financial/books')
  const bookId = books[0].id as string
  const bankId = (await made(tenant.owner, 'cash/accounts', { bookId, kind: 'bank', code: 'BANK', name: 'Bank' })).id
  const customer = await made(finance, 'accounts-receivable/customers', {
    kind: 'company',
    legalName: 'Engenharia do Mar S.A.',
    currency: 'BRL',
    termDays: 15,
  })
  const company = await made(tenant.manager, 'companies', {
    kind: 'company',
    legalName: 'Engenharia do Mar',
    customerId: customer.id,
  })
  const supplier = await made(finance, 'accounts-payable/suppliers', {
    legalName: 'Lavanderia Ondas Ltda',
    termDays: 10,
  })
  const category = await made(tenant.owner, 'issues/categories', {
    code: 'sim_noise',
    name: { en: 'Noise', 'pt-BR': 'Barulho' },
    kind: 'complaint',
    team: 'receptionist',
  })
  await hand.send(stock, 'PUT', 'inventory/categories', {
    categories: [{ code: 'DRINKS', name: 'Drinks', expenseGroup: 'beverage' }],
  })
  const { data: categories } = await hand.read(stock, 'inventory/categories')
  const item = await made(stock, 'inventory/items', {
    sku: 'TONIC',
    name: 'Tonic water',
    categoryId: categories[0].id,
    base: 'ml',
  })
  const expenseAccountId = await accountOf('6.1.10')
  const ids = {
    bookId,
    bankId: bankId as string,
    customerId: customer.id as string,
    companyId: company.id as string,
    supplierId: supplier.id as string,
    categoryId: category.id as string,
    itemId: item.id as string,
    expenseAccountId,
  }
  return { tenant, hand, finance, stock, made, ids }
}
export type Group = Awaited<ReturnType<typeof openGroup>>

/** A property of a group, with a drawer, a bar and what it sells. */
export const openHouse = async (group: Group) => {
  const { tenant, hand, made, ids } = group
  const inn: Inn = await openInn(tenant)
  // A person has one drawer open at most.
  const cashier = await openDesk(tenant.world, { tenantId: tenant.tenantId, inHouse: tenant.inHouse }, 'owner')
  const { propertyId } = inn
  const code = randomUUID().slice(0, 6).toUpperCase()
  const safe = await made(tenant.owner, 'cash/accounts', { propertyId, kind: 'safe', code: `S-${code}`, name: 'Safe' })
  const register = await made(tenant.owner, 'cash/accounts', {
    propertyId,
    kind: 'register',
    code: `R-${code}`,
    name: 'Reception',
    safeAccountId: safe.id,
    opening: { amount: 20_000, on: inn.D },
  })
  const terminal = await made(tenant.owner, 'cash/accounts', {
    propertyId,
    kind: 'acquirer',
    code: `T-${code}`,
    name: 'Card terminal',
  })
  const set = async (path: string, body: object): Promise<{ id: string; code: string }[]> => {
    await hand.send(tenant.owner, 'PUT', path, body)
    return (await hand.read(tenant.owner, `${path}?propertyId=${propertyId}`)).data
  }
  const locations = await set('inventory/locations', {
    propertyId,
    locations: [{ code: 'BAR', name: 'Bar', kind: 'bar' }],
  })
  const locationId = locations[0]?.id ?? ''
  const outlets = await set('inventory/outlets', {
    propertyId,
    outlets: [{ code: 'BAR', name: 'Bar', kind: 'bar', locationId, roomCharge: true, serviceChargeRate: 1_000 }],
  })
  const outletId = outlets[0]?.id ?? ''
  await hand.send(tenant.owner, 'PUT', `inventory/outlets/${outletId}/prices`, {
    prices: [
      { code: 'TONIC', name: 'Tonic', itemId: ids.itemId, quantity: '350', amount: 1_200, revenueGroup: 'beverage' },
    ],
  })
  await made(group.stock, 'inventory/movements', {
    kind: 'receipt',
    propertyId,
    locationId,
    lines: [{ itemId: ids.itemId, quantity: '20', measure: 'l', value: 20_000 }],
  })
  const cash = { registerId: register.id as string, safeId: safe.id as string, terminalId: terminal.id as string }
  return { group, inn, propertyId, cashier, ...cash, locationId, outletId, date: inn.D }
}
export type SimulatedHouse = Awaited<ReturnType<typeof openHouse>>
