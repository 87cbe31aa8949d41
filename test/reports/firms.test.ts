import { expect } from 'chai'
import { up } from '../../db/migrations/0951_firms_of_facts.ts'
import { createCompany } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { report, verifyFacts } from '../../db/reports/index.ts'
import { arrive, closeOpenDay, makeLateHouse, makeStays } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { sumDays } from './recounts.ts'

type Row = { key: string; bookings: number; unitNights: number; roomRevenue: number; otherRevenue: number }

describe('production by firm and by agency', () => {
  const world = useWorld()
  let house: House
  let firm: string
  let agency: string
  let stays: string[]

  const told = (by: 'company' | 'agency') =>
    house.inHouse(async (trx) => {
      const asked = { propertyId: [house.propertyId], startDate: house.day(-2), endDate: house.day(-2), by }
      const { rows } = await report('production').open(trx, asked, { propertyIds: null }, null)
      return Object.fromEntries(
        [...(rows as Iterable<Row>)].map(({ key, bookings, unitNights }) => [key, [bookings, unitNights]]),
      )
    })

  before(async () => {
    house = await makeLateHouse(2, { units: 4 })
    stays = await makeStays(house, 3, { from: -2, nights: 2 })
    const make = (kind: 'company' | 'agency', legalName: string) =>
      house.inHouse((trx) => createCompany(trx, { kind, legalName }))
    firm = await make('company', 'Firma')
    agency = await make('agency', 'Agência')
    await house.inHouse((trx) =>
      sql(
        trx,
        `update booking set company_id = ?, agency_id = ? where id = (select booking_id from reservation where id = ?)`,
        [firm, agency, stays[0] ?? ''],
      ),
    )
    await house.inHouse((trx) => sql(trx, `select record_on_the_books(?::uuid[])`, [stays]))
    for (const id of stays) await arrive(house, id)
  })

  it('tells the same of a day while it is open and when it has closed', async () => {
    const open = { company: await told('company'), agency: await told('agency') }
    expect(open).to.deep.equal({
      company: { [firm]: [1, 1], none: [2, 2] },
      agency: { [agency]: [1, 1], none: [2, 2] },
    })
    await closeOpenDay(house)
    expect({ company: await told('company'), agency: await told('agency') }).to.deep.equal(open)
    await sumDays(house)
    expect({ company: await told('company'), agency: await told('agency') }).to.deep.equal(open)
  })

  it('is mended for the days that closed without firms', async () => {
    const known = await told('company')
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(`update night_fact set company_id = null, agency_id = null`)
      await trx.raw(`delete from stay_sum_day`)
      await trx.raw(`delete from night_sum where dimension in ('company', 'agency') and key = ''`)
      await trx.raw(`update night_sum set key = '' where dimension in ('company', 'agency')`)
    })
    expect(Object.keys(await told('company'))).to.deep.equal(['none'])
    await world.database.admin.transaction(up)
    expect(await told('company')).to.deep.equal(known)
    await sumDays(house)
    expect(await told('company')).to.deep.equal(known)
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })

  it('counts a booking once in all, whose firm and whose guest are others from one night to the next', async () => {
    const late = await makeLateHouse(2, { units: 2 })
    const [id = ''] = await makeStays(late, 1, { from: -2, nights: 2 })
    const set = (text: string, values: unknown[]) =>
      late.inHouse((trx) =>
        sql(trx, text.replace('THIS', 'id = (select booking_id from reservation where id = ?)'), values),
      )
    const [first, second] = [
      await late.inHouse((trx) => createCompany(trx, { kind: 'company', legalName: 'Uma' })),
      await late.inHouse((trx) => createCompany(trx, { kind: 'company', legalName: 'Outra' })),
    ]
    const lives = (country: string) =>
      set(`update guest set residence_country = ? where id = (select booker_guest_id from booking where THIS)`, [
        country,
        id,
      ])
    await set(`update booking set company_id = ? where THIS`, [first, id])
    await lives('PT')
    await arrive(late, id)
    await closeOpenDay(late)
    await set(`update booking set company_id = ? where THIS`, [second, id])
    await lives('UY')
    await closeOpenDay(late)
    for (const [by, keys] of [
      ['company', [first, second]],
      ['country', ['PT', 'UY']],
    ] as const) {
      const { rows, totals } = await late.inHouse(async (trx) => {
        const asked = { propertyId: [late.propertyId], startDate: late.day(-2), endDate: late.day(-1), by }
        const read = await report('production').open(trx, asked, { propertyIds: null }, null)
        return { rows: [...(read.rows as Iterable<Row>)], totals: read.totals() as Row }
      })
      const told = Object.fromEntries(rows.map((row) => [row.key, [row.bookings, row.unitNights]]))
      expect(told, by).to.deep.equal(Object.fromEntries(keys.map((key) => [key, [1, 1]])))
      expect([totals.bookings, totals.unitNights], by).to.deep.equal([1, 2])
    }
  })

  it('counts a booking once among the others, whose nights are of several of them, of closed days and of days to come', async () => {
    const late = await makeLateHouse(2, { units: 4 })
    const stay = async (nights: number) => (await makeStays(late, 1, { from: -2, nights }))[0] ?? ''
    const [one, two, moved, plain] = [await stay(4), await stay(4), await stay(4), await stay(1)]
    const firms = await Promise.all(
      ['Uma', 'Outra', 'Terceira', 'Quarta'].map((legalName) =>
        late.inHouse((trx) => createCompany(trx, { kind: 'company', legalName })),
      ),
    )
    const set = (id: string, company: string | undefined) =>
      late.inHouse((trx) =>
        sql(trx, `update booking set company_id = ? where id = (select booking_id from reservation where id = ?)`, [
          company ?? null,
          id,
        ]),
      )
    const [first, second, third, fourth] = firms
    for (const [id, company] of [
      [one, first],
      [two, first],
      [moved, second],
      [plain, third],
    ] as const)
      await set(id, company)
    for (const id of [one, two, moved, plain]) await arrive(late, id)
    const others = async (to: number, top: number) => {
      const { rows } = await late.inHouse((trx) => {
        const asked = {
          propertyId: [late.propertyId],
          startDate: late.day(-2),
          endDate: late.day(to),
          by: 'company',
          top,
        }
        return report('production').open(trx, asked, { propertyIds: null }, null)
      })
      const all = [...(rows as Iterable<Row>)]
      return [all[0]?.key === first, all.at(-1)?.key, all.at(-1)?.bookings, all.at(-1)?.unitNights]
    }
    expect(await others(-2, 1)).to.deep.equal([true, 'others', 2, 2])
    await closeOpenDay(late)
    await set(moved, third)
    await closeOpenDay(late)
    await set(moved, fourth)
    expect(await others(-2, 1)).to.deep.equal([true, 'others', 2, 2])
    expect(await others(-1, 1)).to.deep.equal([true, 'others', 2, 3])
    expect(await others(1, 1)).to.deep.equal([true, 'others', 2, 5])
  })
})
