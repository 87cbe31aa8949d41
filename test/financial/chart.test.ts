import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { createTenant } from '../../db/admin/index.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { inPlatform, inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { businessDay, openBusinessDay, provisionBook, raisePosting } from '../../db/financial/index.ts'
import { useWorld } from '../support/world.ts'
import { planOf } from './plans.ts'
import { addProperty, post } from './support.ts'
import type { House } from './support.ts'

type Account = {
  id: string
  code: string
  name: string
  side: string
  parentId: string | null
  postable: boolean
  role: string | null
  balance?: number
  children?: Account[]
}

const makeTenant = async (country = 'BR', locale = 'pt-BR', currency = 'BRL'): Promise<House & { key: string }> => {
  const made = await inPlatform((trx) =>
    createTenant(trx, {
      name: 'Casa',
      country,
      currency,
      timeZone: 'America/Sao_Paulo',
      locale,
      billingEmail: 'casa@example.com',
      plan: 'Enterprise',
    }),
  )
  const { tenantId, bookId } = made
  return inTenant(tenantId, async (trx) => {
    const propertyId = currency === 'BRL' ? await addProperty(trx, bookId) : ''
    const today = propertyId ? await businessDay(trx, propertyId) : ''
    if (propertyId) await openBusinessDay(trx, propertyId, today)
    const { key } = await createApiKey(trx, { name: 'reader', scopes: ['read'] })
    return { tenantId, bookId, propertyId, today, key }
  })
}

const capture = (house: House, propertyId: string, amount: number, payment = randomUUID()) =>
  inTenant(house.tenantId, (trx) =>
    raisePosting(trx, {
      event: 'payment.payment_captured',
      source: { id: payment },
      propertyId,
      payload: { amounts: { amount }, documents: { payment }, context: { money: 'gateway' } },
    }),
  )

describe('the chart of accounts', () => {
  const world = useWorld()
  let house: House & { key: string }
  let other = ''
  let path = ''
  const payment = randomUUID()
  before(async () => {
    house = await makeTenant()
    path = `/api/tenants/${house.tenantId}/financial`
    other = await inTenant(house.tenantId, (trx) => addProperty(trx, house.bookId))
    await capture(house, house.propertyId, 700, payment)
    await capture(house, other, 300)
    await post(house)
    await capture(house, house.propertyId, 50)
  })
  const get = (query = '', key = house.key) =>
    world.request<{ data: Account[]; meta: Record<string, number>; [field: string]: unknown }>(
      'GET',
      `${path}/chart-of-accounts${query}`,
      { key },
    )

  it('comes in pages, by code, in the language of the tenant', async () => {
    const first = await get()
    expect(first.status).to.equal(200)
    expect(first.body.meta).to.deep.equal({ page: 1, limit: 20, total: 231, totalPages: 12 })
    expect(first.body.data).to.have.length(20)
    expect(first.body.data[0]).to.include({ code: '1', name: 'Ativo', postable: false, parentId: null, side: 'debit' })
    const last = await get('?page=12')
    expect(last.body.data).to.have.length(11)
    expect((await get('?page=13')).body.data).to.deep.equal([])
  })

  it('comes whole as a tree', async () => {
    const { body } = await get('?view=tree&page=3&limit=5')
    expect(body.data.map(({ code }) => code)).to.deep.equal(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
    const count = (nodes: Account[]): number => nodes.reduce((sum, node) => sum + 1 + count(node.children ?? []), 0)
    expect(count(body.data)).to.equal(231)
    expect(body.meta).to.deep.equal({ page: 1, limit: 9, total: 9, totalPages: 1 })
  })

  it('is found by class, role, control, status, code and part of the name', async () => {
    const found = async (query: string) => (await get(`?limit=100&${query}`)).body.data.map(({ code }) => code)
    expect(await found('role=deposits')).to.deep.equal(['2.1.5.01'])
    expect(await found('control=receivable')).to.deep.equal(['1.1.3.02', '1.1.3.03'])
    expect(await found('q=1.1.1.0')).to.deep.equal(['1.1.1.01', '1.1.1.02', '1.1.1.03'])
    expect(await found('q=ESTACIONAMENTO')).to.deep.equal(['4.3.03', '5.3.03'])
    expect(await found('class=equity&q=Capital')).to.deep.equal(['3.1', '3.1.01', '3.1.02'])
    expect(await found('status=archived')).to.deep.equal([])
    expect(await found('q=%25')).to.deep.equal([])
    const tree = await get('?view=tree&role=deposits')
    expect(tree.body.data).to.have.length(1)
    expect(tree.body.data[0]?.children?.[0]?.children?.[0]?.children?.map(({ role }) => role)).to.deep.equal([
      'deposits',
    ])
  })

  it('carries balances on the normal side where a day or property is given, and says what is not in them', async () => {
    const of = async (query: string) => {
      const { body } = await get(`?limit=100&${query}`)
      return [
        body.data.find(({ code }) => code === '1.1.4.01')?.balance,
        body.data.find(({ code }) => code === '1')?.balance,
        body['pendingEvents'],
      ]
    }
    expect(await of('')).to.deep.equal([undefined, undefined, undefined])
    expect(await of(`asOf=${house.today}`)).to.deep.equal([1000, 1000, 1])
    expect(await of(`asOf=${addDays(house.today, -1)}`)).to.deep.equal([0, 0, 1])
    expect(await of(`asOf=${addDays(house.today, 400)}`)).to.deep.equal([1000, 1000, 1])
    expect(await of(`propertyId=${other}`)).to.deep.equal([300, 300, 1])
    const { body } = await get(`?role=unallocated_receipts&asOf=${house.today}`)
    expect(body.data[0]?.balance).to.equal(1000)
    expect(body['ledgerSequence']).to.be.greaterThan(0)
    expect(body['currency']).to.equal('BRL')
  })

  it('shows a key with chosen properties the balances and entries of those alone', async () => {
    const { key } = await inTenant(house.tenantId, (trx) =>
      createApiKey(trx, { name: 'one', scopes: ['read'], propertyIds: [other] }),
    )
    const mine = await get(`?role=gateway_clearing&asOf=${house.today}`, key)
    expect(mine.body.data[0]?.balance).to.equal(300)
    expect((await get(`?propertyId=${house.propertyId}`, key)).status).to.equal(403)
    const entries = await world.request('GET', `${path}/ledger-entries`, { key })
    expect(entries.body.data.map(({ total }: { total: number }) => total)).to.deep.equal([300])
    const all = await world.request('GET', `${path}/ledger-entries?sourceId=${payment}`, { key: house.key })
    expect((await world.request('GET', `${path}/ledger-entries/${all.body.data[0].id}`, { key })).status).to.equal(404)
  })

  it('shows of an entry of several properties the lines and the total of one’s own, in filters too', async () => {
    const shared = await makeTenant()
    const second = await inTenant(shared.tenantId, (trx) => addProperty(trx, shared.bookId))
    const { entry, debit, credit } = await planOf(shared)
    await inTenant(shared.tenantId, async (trx) => {
      await trx('journal_entry').insert(entry)
      await trx('journal_line').insert([
        debit,
        { ...credit, credit: 7_000 },
        { ...credit, line_no: 3, credit: 3_000, property_id: second },
      ])
    })
    const totals = async (propertyIds: string[] | null, query = '') => {
      const { key } = await inTenant(shared.tenantId, (trx) =>
        createApiKey(trx, { name: randomUUID(), scopes: ['read'], propertyIds }),
      )
      const address = `/api/tenants/${shared.tenantId}/financial/ledger-entries`
      const list = await world.request('GET', `${address}${query}`, { key })
      const [first] = list.body.data
      if (!first) return null
      const { body } = await world.request('GET', `${address}/${first.id}`, { key })
      return [first.total, body.total, body.lines.length]
    }
    expect(await totals(null)).to.deep.equal([10_000, 10_000, 3])
    expect(await totals([shared.propertyId])).to.deep.equal([10_000, 10_000, 2])
    expect(await totals([second])).to.deep.equal([3_000, 3_000, 1])
    expect(await totals([second], '?minTotal=3001')).to.equal(null)
    expect(await totals([second], '?maxTotal=3000')).to.deep.equal([3_000, 3_000, 1])
  })

  it('lists the entries of a source, and shows one with its lines', async () => {
    const list = await world.request('GET', `${path}/ledger-entries?sourceId=${payment}`, { key: house.key })
    expect(list.status).to.equal(200)
    expect(list.body.meta.total).to.equal(1)
    expect(list.body.data[0]).to.include({
      sourceType: 'payment.payment_captured',
      total: 700,
      currency: 'BRL',
      postingDate: house.today,
      kind: 'standard',
      number: null,
    })
    const read = await world.request('GET', `${path}/ledger-entries/${list.body.data[0].id}`, { key: house.key })
    expect(
      read.body.lines.map((line: Record<string, unknown>) => [
        line['lineNo'],
        line['accountCode'],
        line['debit'],
        line['credit'],
        line['documentId'],
      ]),
    ).to.deep.equal([
      [1, '1.1.4.01', 700, 0, payment],
      [2, '2.1.5.04', 0, 700, payment],
    ])
    for (const [query, total] of [
      [`from=${house.today}&to=${house.today}`, 2],
      [`to=${addDays(house.today, -1)}`, 0],
      [`documentType=payment&documentId=${payment}`, 1],
      ['documentType=refund', 0],
      ['minTotal=301', 1],
      ['maxTotal=300&kind=standard&late=false', 1],
      [`propertyId=${other}`, 1],
      ['sourceType=payment.payment_captured', 2],
    ] as const) {
      const found = await world.request('GET', `${path}/ledger-entries?${query}`, { key: house.key })
      expect(found.body.meta.total, query).to.equal(total)
    }
  })

  it('refuses what it does not know, and hides what belongs to others', async () => {
    for (const query of [
      '?view=x',
      '?limit=0',
      '?limit=101',
      '?page=0',
      '?asOf=2026-02-30',
      '?class=cash',
      '?role=nobody',
      '?control=x',
      '?colour=red',
      '?propertyId=1',
      `?q=${'x'.repeat(121)}`,
    ]) {
      expect((await get(query)).status, query).to.equal(400)
    }
    expect((await get(`?bookId=${randomUUID()}`)).status).to.equal(404)
    expect((await get(`?propertyId=${randomUUID()}`)).status).to.equal(404)
    const stranger = await makeTenant()
    expect((await get(`?bookId=${stranger.bookId}`)).status).to.equal(404)
    expect((await world.request('GET', `${path}/chart-of-accounts`, { key: stranger.key })).status).to.equal(403)
    expect((await world.request('GET', `${path}/chart-of-accounts`)).status).to.equal(401)
    const theirs = `/api/tenants/${stranger.tenantId}/financial/ledger-entries`
    const [entry] = await inTenant(house.tenantId, (trx) =>
      sql<{ id: string }>(trx, 'select id from journal_entry limit 1'),
    )
    expect((await world.request('GET', `${theirs}/${entry?.id ?? ''}`, { key: stranger.key })).status).to.equal(404)
  })

  it('asks which book where a tenant has several', async () => {
    const two = await makeTenant()
    await inTenant(two.tenantId, (trx) =>
      provisionBook(trx, {
        name: 'Two',
        countryCode: 'PT',
        currency: 'EUR',
        timeZone: 'Europe/Lisbon',
        locale: 'pt-PT',
      }),
    )
    const at = `/api/tenants/${two.tenantId}/financial/chart-of-accounts`
    const without = await world.request('GET', at, { key: two.key })
    expect([without.status, without.body.errors?.[0]?.field]).to.deep.equal([400, 'bookId'])
    expect((await world.request('GET', `${at}?bookId=${two.bookId}`, { key: two.key })).status).to.equal(200)
    const books = await inTenant(two.tenantId, (trx) =>
      sqlOne<{ count: number }>(trx, 'select count(*) as count from book where is_default'),
    )
    expect(books?.count).to.equal(1)
  })

  it('outside Brazil has English names and no taxes of Brazil', async () => {
    const abroad = await makeTenant('PT', 'pt-PT', 'EUR').catch(() => makeTenant('US', 'en-US', 'USD'))
    const { body } = await world.request(
      'GET',
      `/api/tenants/${abroad.tenantId}/financial/chart-of-accounts?limit=100&q=2.1.3`,
      { key: abroad.key },
    )
    expect(body.data.map(({ code }: Account) => code)).to.deep.equal([
      '2.1.3',
      '2.1.3.05',
      '2.1.3.06',
      '2.1.3.07',
      '2.1.3.10',
      '2.1.3.12',
    ])
    expect(body.data.find(({ code }: Account) => code === '2.1.3.10')?.name).to.equal('Income tax payable')
  })
})
