import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { forgetLimits, makeKey, makeUser, signIn } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('Lists of stays and guests', () => {
  const world = useWorld()
  let house: House
  let key: string
  const numbers: string[] = []

  const stays = (query = '', options: { key?: string; token?: string } = { key }) =>
    world.request('GET', `/api/tenants/${house.tenantId}/reservations${query}`, options)
  const people = (query = '', options: { key?: string; token?: string } = { key }) =>
    world.request('GET', `/api/tenants/${house.tenantId}/guests${query}`, options)
  const ids = (reply: { body: { data: { bookingId: string }[] } }) => reply.body.data.map((one) => one.bookingId)
  const bookings: string[] = []

  before(async () => {
    house = await makeHouse({ units: 20, deposit: null })
    key = (await makeKey(house.tenantId, ['read'])).key
    const names = ['João da Silva', 'Maria Conceição', 'Peter Müller', 'Ann O’Neil']
    for (const [index, name] of names.entries()) {
      const [firstName = '', ...rest] = name.split(' ')
      const id = await makeHold(house, {
        from: 10 + index * 10,
        nights: 2 + index,
        words: {
          booker: {
            firstName,
            lastName: rest.join(' '),
            email: `${index}@example.com`,
            phone: `+55249999900${index}1`,
            document: { type: 'passport', number: `PA-77${index}` },
          },
        },
      })
      if (index < 3) await house.inHouse((trx) => confirmBooking(trx, id))
      bookings.push(id)
      numbers.push((await readBooking(house, id)).number)
    }
  })
  beforeEach(() => forgetLimits(world))

  it('pages through the stays, newest first, in a stable order', async () => {
    const first = await stays('?limit=3')
    expect(first.status).to.equal(200)
    expect(first.body.meta).to.deep.equal({ page: 1, limit: 3, total: 4, totalPages: 2 })
    expect(ids(first)).to.deep.equal([bookings[3], bookings[2], bookings[1]])
    expect(ids(await stays('?limit=3&page=2'))).to.deep.equal([bookings[0]])
    expect(first.body.data[1]).to.deep.include({
      number: `${numbers[2]}-1`,
      status: 'confirmed',
      source: 'portal',
      unitTypeName: 'Quarto',
      adults: 2,
    })
    expect(first.body.data[1].primaryGuest.name).to.equal('Peter Müller')
    expect(first.body.data[0]).to.include({ status: 'held', primaryGuest: null, balance: null })
    expect(first.body.data[0].holdExpiresAt).to.be.a('string')
    expect(JSON.stringify(first.body)).to.not.contain('example.com')
  })

  it('filters by status and by dates, both included', async () => {
    expect(ids(await stays('?status=confirmed'))).to.have.length(3)
    expect(ids(await stays('?status=confirmed,held'))).to.have.length(4)
    expect((await stays('?status=paid')).status).to.equal(400)
    const { arrival, departure } = (await readBooking(house, bookings[0]!)).rooms[0]!
    // The night of departure is not spent.
    expect(ids(await stays(`?startDate=${departure}&endDate=${departure}`))).to.deep.equal([])
    expect(ids(await stays(`?startDate=${arrival}&endDate=${arrival}`))).to.deep.equal([bookings[0]])
    expect(ids(await stays(`?startDate=${house.day(11)}&endDate=${house.day(20)}`))).to.deep.equal([
      bookings[1],
      bookings[0],
    ])
    expect(ids(await stays(`?dateField=departure&startDate=${departure}&endDate=${departure}`))).to.deep.equal([
      bookings[0],
    ])
    expect(ids(await stays(`?dateField=created&startDate=2001-01-01&endDate=2001-01-02`))).to.deep.equal([])
    expect((await stays(`?startDate=${house.day(2)}&endDate=${house.day(1)}`)).status).to.equal(400)
    expect((await stays('?startDate=2026-02-30')).status).to.equal(400)
    expect(ids(await stays('?sort=arrival'))).to.deep.equal(bookings)
    expect(ids(await stays('?sort=-number,arrival'))).to.have.length(4)
    expect((await stays('?sort=requests')).status).to.equal(400)
  })

  it('finds a stay by its number and by the words of a name', async () => {
    expect(ids(await stays(`?q=${numbers[1]}`))).to.deep.equal([bookings[1]])
    expect(ids(await stays(`?q=${numbers[1]?.toLowerCase()}-1`))).to.deep.equal([bookings[1]])
    expect(ids(await stays(`?q=${numbers[1]}-2`))).to.deep.equal([])
    expect(ids(await stays(`?q=${encodeURIComponent('silva joao')}`))).to.deep.equal([bookings[0]])
    expect(ids(await stays('?q=muller'))).to.deep.equal([bookings[2]])
    expect(ids(await stays(`?q=${encodeURIComponent('%%%')}`))).to.deep.equal([])
    expect(ids(await stays(`?q=${encodeURIComponent("'; drop table booking; --")}`))).to.deep.equal([])
  })

  it('hides amounts from who may not read folios, and other properties from who has one', async () => {
    const owner = await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))
    expect((await stays('', { token: owner.token })).body.data[0].total).to.be.above(0)
    const relations = await signIn(world, await makeUser({ [house.tenantId]: 'relations' }))
    const seen = await stays('', { token: relations.token })
    expect(seen.status, JSON.stringify(seen.body)).to.equal(200)
    expect(seen.body.data[0]).to.not.have.any.keys('total', 'roomTotal', 'balance', 'feeAmount')
    const other = await makeHouse({ tenantId: house.tenantId })
    const limited = await makeKey(house.tenantId, ['read'], { propertyIds: [other.propertyId] })
    expect((await stays('', { key: limited.key })).body.meta.total).to.equal(0)
    expect((await stays(`?propertyId=${house.propertyId}`, { key: limited.key })).status).to.equal(403)
  })

  it('shows guests masked, and finds them by e-mail, phone, document and name', async () => {
    const all = await people('?sort=createdAt')
    expect(all.status, JSON.stringify(all.body)).to.equal(200)
    expect(all.body.meta.total).to.equal(3)
    expect(all.body.data[0]).to.deep.include({
      firstName: 'João',
      lastName: 'da Silva',
      email: '0***@e***.com',
      phone: '***0001',
      masked: ['email', 'phone'],
      blocked: 'none',
    })
    expect(all.body.data[0].nextArrival).to.equal(house.day(10))
    const found = async (query: string) =>
      (await people(query)).body.data.map((one: { firstName: string }) => one.firstName)
    expect(await found('?q=1@EXAMPLE.com')).to.deep.equal(['Maria'])
    expect(await found('?email=1@example.com')).to.deep.equal(['Maria'])
    expect(await found(`?phone=${encodeURIComponent('+55 24 99999-0021')}`)).to.deep.equal(['Peter'])
    expect(await found('?q=9021')).to.deep.equal([])
    expect(await found('?q=0021')).to.deep.equal(['Peter'])
    expect(await found('?document=pa770')).to.deep.equal(['João'])
    expect(await found('?q=conceicao')).to.deep.equal(['Maria'])
    expect(await found(`?q=${encodeURIComponent('silva joao')}`)).to.deep.equal(['João'])
    expect(await found('?q=zzz')).to.deep.equal([])
    expect((await people('?q=zz')).status).to.equal(400)
  })

  it('answers a merged profile by its survivor', async () => {
    await house.inHouse(async (trx) => {
      const rows = await sql<{ id: string }>(trx, `select id from guest order by created_at`)
      await sql(trx, `update guest set status = 'merged', merged_into_id = ? where id = ?`, [rows[0]?.id, rows[1]?.id])
    })
    const reply = await people('?q=1@example.com')
    expect(reply.body.data.map((one: { firstName: string }) => one.firstName)).to.deep.equal(['João'])
    expect((await people('')).body.meta.total).to.equal(2)
    expect((await people('?status=merged')).body.meta.total).to.equal(1)
  })

  it('shows one tenant nothing of another', async () => {
    const other = await makeHouse()
    const theirs = (await makeKey(other.tenantId, ['read'])).key
    expect((await stays('', { key: theirs })).status).to.equal(403)
    expect(
      (await world.request('GET', `/api/tenants/${other.tenantId}/guests?q=1@example.com`, { key: theirs })).body.meta
        .total,
    ).to.equal(0)
    const names = await inTenant(other.tenantId, (trx) => sql(trx, `select id from guests_named(array['%silva%'], 10)`))
    expect(names).to.deep.equal([])
  })
})
