import { expect } from 'chai'
import { daysIn } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { businessDay } from '../../db/financial/index.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import { chargeNights } from '../../db/reservations/charge-nights.ts'
import { postCharged } from '../../db/reservations/folio/write.ts'
import { markNoShow } from '../../db/reservations/no-show.ts'
import { reinstate } from '../../db/reservations/reinstate.ts'
import type { ReservationNightRow } from '../../db/rows.ts'
import { setDay } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeFirstNightFees } from '../support/taxes.ts'
import { makeConnection, newExternalId, receive, revisionOf, staysOf } from './support.ts'

type Tax = { code: string; amount: number }

describe('A booking that its channel modifies, whose guest came a day late', function () {
  this.timeout(120_000)
  useDatabase()
  let house: House
  let connection: string

  beforeEach(async () => {
    house = await makeHouse({ units: 2, deposit: null, settings: { frontDesk: { noShowFrom: '00:00' } } })
    await makeFirstNightFees(house)
    connection = await makeConnection(house, { name: 'late', secret: 'x'.repeat(20) })
    await house.inHouse((trx) => sql(trx, `update channel_connection set status = 'paused' where id = ?`, [connection]))
  })

  /** The taxes of a stay of three nights in the channel's total. */
  const onTop = 777 + 2 * 100
  const saying = (externalId: string, revision: number, amount: number, total = 3 * amount + onTop) => {
    const [arrival, departure] = [house.day(0), house.day(3)]
    const nights = daysIn(arrival, departure).map((date) => ({ date, amount }))
    const room = { externalUnitTypeId: 'DBL', externalRatePlanId: 'BAR', adults: 2, childrenAges: [] }
    return revisionOf(house, {
      externalId,
      revision,
      kind: revision === 1 ? 'new' : 'modified',
      collectedBy: 'property',
      total,
      rooms: [{ ...room, arrival, departure, nights }],
    })
  }
  const book = async (total?: number) => {
    const externalId = newExternalId()
    const [stored] = await receive(house, connection, saying(externalId, 1, 10_000, total))
    const bookingId = stored?.bookingId ?? null
    const [stay] = await staysOf(house, bookingId)
    const id = stay?.id ?? ''
    const modify = async (revision: number, amount: number, of?: number) => {
      const [applied] = await receive(house, connection, saying(externalId, revision, amount, of))
      expect(applied).to.include({ status: 'applied', error: null })
      return (await staysOf(house, bookingId))[0]
    }
    return { id, modify, stays: () => staysOf(house, bookingId) }
  }
  const comesLate = async (id: string, fee: 'keep' | 'reverse' = 'reverse') => {
    await house.inHouse((trx) => markNoShow(trx, id))
    if (fee === 'reverse') await setDay(house, 1)
    await house.inHouse((trx) => reinstate(trx, id, { reason: 'a late bus', fee }))
  }
  const nightsOf = async (id: string) => {
    const rows = await house.inHouse((trx) =>
      sql<ReservationNightRow>(trx, `select * from reservation_night where reservation_id = ? order by date`, [id]),
    )
    return rows
      .filter(({ status }) => status !== 'released')
      .map(({ status, amount, taxes }) => {
        const codes = (taxes as Tax[]).map((tax) => `${tax.code} ${tax.amount}`).sort()
        return [status, amount, ...codes]
      })
  }
  const both = ['FIRST 100', 'STAY 777']

  it('keeps the taxes of its first nights on those that the guest pays for', async () => {
    const { id, modify } = await book()
    await comesLate(id)
    expect(await nightsOf(id)).to.deep.equal([
      ['open', 10_000, ...both],
      ['open', 10_000, 'FIRST 100'],
    ])
    const stay = await modify(2, 11_000)
    expect(await nightsOf(id)).to.deep.equal([
      ['open', 11_000, ...both],
      ['open', 11_000, 'FIRST 100'],
    ])
    expect(stay).to.include({ taxTotal: onTop, total: 22_000 + onTop })
  })

  it('comes to what the channel says of the nights that are left where one of them is charged', async () => {
    const { id, modify, stays } = await book()
    await comesLate(id)
    await house.inHouse(async (trx) => {
      const businessDate = await businessDay(trx, house.propertyId)
      const charged = await chargeNights(trx, { businessDate, stays: await stays(), through: house.day(1) })
      await postCharged(trx, house.propertyId, charged)
    })
    const stay = await modify(2, 10_000)
    expect(await nightsOf(id)).to.deep.equal([
      ['charged', 10_000, ...both],
      ['open', 10_000, 'FIRST 100'],
    ])
    expect(stay).to.include({ total: 20_000 + onTop })
  })

  it('keeps them beside a night that a fee has paid for', async () => {
    const { id, modify } = await book()
    await house.inHouse((trx) =>
      sql(trx, `update reservation set policies = jsonb_set(policies, '{noShow,rules}', ?::jsonb) where id = ?`, [
        JSON.stringify({ fee: { type: 'nights', value: 1, of: 'room' }, releaseRemaining: false }),
        id,
      ]),
    )
    await comesLate(id, 'keep')
    const stay = await modify(2, 11_000)
    expect(await nightsOf(id)).to.deep.equal([
      ['waived', 10_000, ...both],
      ['open', 11_000, ...both],
      ['open', 11_000, 'FIRST 100'],
    ])
    expect(stay).to.include({ total: 22_000 + onTop })
  })

  it('gains no tax that the price of the channel leaves out where the desk moves its arrival', async () => {
    const { id, stays } = await book(30_000)
    await house.inHouse((trx) => amendReservation(trx, id, { arrival: house.day(1), departure: house.day(3) }))
    expect(await nightsOf(id)).to.deep.equal([
      ['open', 10_000],
      ['open', 10_000],
    ])
    expect((await stays())[0]).to.include({ taxTotal: 0, total: 20_000 })
  })

  it('gains no tax that the price of the channel leaves out', async () => {
    const { id, modify } = await book(30_000)
    await comesLate(id)
    const stay = await modify(2, 11_000, 33_000)
    expect(await nightsOf(id)).to.deep.equal([
      ['open', 11_000],
      ['open', 11_000],
    ])
    expect(stay).to.include({ taxTotal: 0, total: 22_000 })
  })
})
