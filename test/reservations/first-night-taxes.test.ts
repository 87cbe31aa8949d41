import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeFirstNightFees } from '../support/taxes.ts'
import { miscounted } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { drift } from '../units/stays.ts'

type Night = { date: string; status: string; taxes: { code: string; amount: number }[] }
type Stay = {
  id: string
  total: number
  taxTotal: number
  nights: Night[]
  amendmentId: string
  fees: { cancelNow: number }
}

describe('Taxes that are taken once a stay, or of its first nights', () => {
  const world = useWorld()
  let house: House
  let manager: Desk

  beforeEach(async () => {
    house = await makeHouse({ units: 2, deposit: null, settings: { frontDesk: { noShowFrom: '00:00' } } })
    manager = await openDesk(world, house, 'manager')
    await makeFirstNightFees(house)
  })
  afterEach(async () => {
    expect(await miscounted(house)).to.deep.equal([])
    expect(await drift(house)).to.deep.equal([])
  })

  const send = async (id: string, verb: string, body: object = {}): Promise<Stay> => {
    const reply = await manager.send('POST', `reservations/${id}/${verb}`, body)
    expect(reply.status, JSON.stringify(reply.body)).to.be.oneOf([200, 201])
    return reply.body as Stay
  }
  const book = async (): Promise<string> => {
    const { unitTypeId, ratePlanId, propertyId } = house
    const days = { arrival: house.day(0), departure: house.day(3) }
    const { status, body } = await manager.send('POST', 'bookings', {
      propertyId,
      source: 'phone',
      booker: { firstName: 'Bia' },
      rooms: [{ unitTypeId, ratePlanId, ...days, adults: 2, childrenAges: [] }],
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.reservations[0].id as string
  }
  const taxesOf = ({ nights }: Stay) =>
    nights.map(({ status, taxes }) => [
      status,
      taxes
        .map(({ code, amount }) => `${code} ${amount}`)
        .sort()
        .join(),
    ])
  const both = 'FIRST 100,STAY 777'
  const lines = async (id: string) => {
    const { body } = await manager.get(`folios?reservationId=${id}`)
    const { totals } = (await manager.get(`folios/${body.data[0].id}`)).body
    return (totals as { category: string; amount: number }[]).find(({ category }) => category === 'tax')?.amount
  }
  /** Brings a guest who came in to the end of the stay, paid later. */
  const leave = async (id: string) => {
    await send(id, 'check-in', { override: { rules: ['early_check_in', 'unit_condition'], reason: 'the guest waits' } })
    await setDay(house, 3)
    await send(id, 'check-out', { override: { rules: ['balance'], reason: 'pays later' } })
  }
  /** The fee of a no-show is that of so many nights, which stay sold. */
  const coveringNights = (id: string, value: number) =>
    house.inHouse((trx) =>
      sql(trx, `update reservation set policies = jsonb_set(policies, '{noShow,rules}', ?::jsonb) where id = ?`, [
        JSON.stringify({ fee: { type: 'nights', value, of: 'room' }, releaseRemaining: false }),
        id,
      ]),
    )

  it('are those of the first night that is charged where the guest comes a day late, and are charged once', async () => {
    const id = await book()
    await send(id, 'no-show')
    await setDay(house, 1)
    const back = await send(id, 'reinstate', { reason: 'a late bus' })
    expect(taxesOf(back)).to.deep.equal([
      ['released', both],
      ['open', both],
      ['open', 'FIRST 100'],
    ])
    expect([back.total, back.taxTotal]).to.deep.equal([2 * 20_000 + 977, 977])
    const { amendmentId } = await send(id, 'amendments', { changes: { adults: 1, departure: house.day(4) } })
    const longer = await send(id, `amendments/${amendmentId}/accept`)
    expect(taxesOf(longer)).to.deep.equal([
      ['released', both],
      ['open', both],
      ['open', 'FIRST 100'],
      ['open', ''],
    ])
    expect(longer.taxTotal).to.equal(977)
    const shorter = await send(id, 'amendments', { changes: { departure: house.day(3) } })
    await send(id, `amendments/${shorter.amendmentId}/accept`)
    await leave(id)
    expect(await lines(id)).to.equal(977)
  })

  it('follow the first night that a kept fee has not paid for, and go back where that fee is given up', async () => {
    const id = await book()
    await coveringNights(id, 1)
    await send(id, 'no-show')
    const kept = await send(id, 'reinstate', { reason: 'a late bus', fee: 'keep' })
    expect(taxesOf(kept)).to.deep.equal([
      ['waived', both],
      ['open', both],
      ['open', 'FIRST 100'],
    ])
    expect(kept.taxTotal).to.equal(977)
    await send(id, 'cancel', { reason: 'changed_plans', acceptedFee: kept.fees.cancelNow })
    const whole = await send(id, 'reinstate', { reason: 'changed plans again', fee: 'reverse' })
    expect(taxesOf(whole)).to.deep.equal([
      ['open', both],
      ['open', 'FIRST 100'],
      ['open', ''],
    ])
    expect(whole.taxTotal).to.equal(977)
    await leave(id)
    expect(await lines(id)).to.equal(977)
  })

  it('stay with a night that is charged already', async () => {
    const id = await book()
    await setDay(house, 1)
    await send(id, 'check-in', { override: { rules: ['early_check_in', 'unit_condition'], reason: 'the guest waits' } })
    await send(id, 'revert-check-in', { reason: 'the wrong guest' })
    await send(id, 'no-show')
    const back = await send(id, 'reinstate', { reason: 'a late bus' })
    expect(taxesOf(back)).to.deep.equal([
      ['charged', both],
      ['open', 'FIRST 100'],
      ['open', ''],
    ])
  })
})
