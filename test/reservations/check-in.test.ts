import { expect } from 'chai'
import { sqlOne } from '../../db/lib/connection.ts'
import type { OverrideRule } from '../../db/reservations/rules/blockers.ts'
import { balanceOf } from '../financial/support.ts'
import { linesOf, makeLateHouse, makeStays, payAll, readStay, setDay } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { refusal } from '../support/refusals.ts'
import { blockersOf, deskOf } from './desk.ts'

describe('At check-in', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 3 })
  })
  const { enter, leave, change, folioOf, unitsOf, owe, bar, healthy } = deskOf(() => house)

  const blocked: [string, () => Promise<string>, OverrideRule | null][] = [
    ['business_date_before_arrival', async () => (await makeStays(house, 1, { from: 0 }))[0]!, null],
    ['business_date_after_departure', async () => (await makeStays(house, 1, { from: -4 }))[0]!, null],
    [
      'early_check_in',
      async () => {
        await setDay(house, 2)
        return (await makeStays(house, 1, { from: 2 }))[0]!
      },
      'early_check_in',
    ],
    [
      'unit_not_assigned',
      async () => {
        const [id = ''] = await makeStays(house, 1, { from: -1 })
        await change(`update unit set status = 'archived' where property_id = ?`, [house.propertyId])
        return id
      },
      null,
    ],
    [
      'unit_condition_not_allowed',
      async () => {
        const [id = ''] = await makeStays(house, 1, { from: -1 })
        await change(`update unit set condition = 'dirty'`)
        return id
      },
      'unit_condition',
    ],
    [
      'guest_barred',
      async () => {
        const [id = ''] = await makeStays(house, 1, { from: -1 })
        await bar(id)
        return id
      },
      'barred_guest',
    ],
    [
      'deposit_missing',
      async () => {
        const [id = ''] = await makeStays(house, 1, { from: -1 })
        await owe(id)
        return id
      },
      'deposit',
    ],
  ]
  for (const [code, arrange, rule] of blocked)
    it(`${code} stands in the way${rule ? ', and can be waived' : ' whatever is waived'}`, async () => {
      const id = await arrange()
      const found = await blockersOf(enter(id))
      expect(found).to.include(code)
      expect((await readStay(house, id)).status).to.equal('confirmed')
      if (!rule)
        return expect(
          await blockersOf(enter(id, 'early_check_in', 'unit_condition', 'barred_guest', 'deposit')),
        ).to.include(code)
      expect(await enter(id, rule)).to.include({ outcome: 'checked_in' })
      const event = await house.inHouse((trx) =>
        sqlOne<{ override: object }>(
          trx,
          `select override from reservation_event where reservation_id = ? and transition = 'T13'`,
          [id],
        ),
      )
      return expect(event?.override).to.deep.equal({ rules: [rule], reason: 'the guest waits' })
    })

  it('the guest before who has not left stands in the way', async () => {
    house = await makeLateHouse(2, { units: 1 })
    await makeStays(house, 1, { from: -2, nights: 1, checkedIn: true })
    await setDay(house, -1)
    const [id = ''] = await makeStays(house, 1, { from: -1 })
    expect(await blockersOf(enter(id))).to.deep.equal(['unit_occupied'])
  })

  it('all that stands in the way is told at once, and nothing remains of the attempt', async () => {
    await setDay(house, 2)
    const [id = ''] = await makeStays(house, 1, { from: 3 })
    await change(`update unit set condition = 'dirty'`)
    await bar(id)
    await owe(id)
    expect(await blockersOf(enter(id))).to.deep.equal(
      ['business_date_before_arrival', 'deposit_missing', 'early_check_in', 'guest_barred', 'unit_not_assigned'].sort(),
    )
    expect(await unitsOf(id)).to.deep.equal([])
  })

  it('deposits become payments of the stay, nights before the business date are charged, and a repeat changes nothing', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 3 })
    await payAll(house, id)
    expect((await folioOf(id)).stage).to.equal('deposit')
    const total = (await folioOf(id)).credits
    const asked = await Promise.all([enter(id), enter(id), enter(id)])
    expect(asked.map(({ outcome }) => outcome)).to.have.members(['already', 'already', 'checked_in'])
    expect(await folioOf(id)).to.include({ stage: 'guest', credits: total, charges: 20_600 })
    expect(
      (await linesOf(house, [id])).filter((line) => line.category === 'room').map((line) => line.key.slice(0, 10)),
    ).to.deep.equal([house.day(-2)])
    expect(await unitsOf(id)).to.deep.include({ status: 'occupied', condition: 'inspected', name: '101' })
    expect(await eventsOf(house, 'reservation.checked_in')).to.have.lengthOf(1)
    await healthy()
    expect(await balanceOf({ ...house }, 'deposits')).to.equal(0)
    expect(await balanceOf({ ...house }, 'guest_ledger')).to.equal(20_600 - total)
  })

  it('only a confirmed stay comes in', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, checkedIn: true })
    await change(`update folio set locked = false`)
    await leave(id, true, 'balance')
    expect((await refusal(enter(id))).code).to.equal('invalid_transition')
  })
})
