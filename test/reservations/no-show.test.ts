import { expect } from 'chai'
import type { NoShowRules } from '../../config/policy-rules.ts'
import { sql } from '../../db/lib/connection.ts'
import { feeBase } from '../../db/reservations/rules/fee-base.ts'
import { nightsKept } from '../../db/reservations/rules/no-show.ts'
import { changeUnitType } from '../../db/units/unit-types/change.ts'
import { balanceOf } from '../financial/support.ts'
import { arrive, linesOf, makeLateHouse, makeStays, payAll, readStay, setDay } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'
import { blockersOf, deskOf } from './desk.ts'

describe('A guest who does not come', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 3 })
  })
  const { miss, change, folioOf, unitsOf, healthy } = deskOf(() => house)

  const rules = (noShow: NoShowRules, id: string) =>
    change(`update reservation set policies = jsonb_set(policies, '{noShow,rules}', ?::jsonb) where id = ?`, [
      JSON.stringify(noShow),
      id,
    ])
  const twoNights: NoShowRules = { fee: { type: 'nights', value: 2, of: 'room' }, releaseRemaining: false }

  it('is waited for until the hour of the house', async () => {
    await setDay(house, 2)
    const [id = ''] = await makeStays(house, 1, { from: 2 })
    expect(await blockersOf(miss(id))).to.deep.equal(['no_show_too_early'])
    const [later = ''] = await makeStays(house, 1, { from: 5 })
    expect(await blockersOf(miss(later))).to.deep.equal(['no_show_too_early'])
  })

  it('pays two nights, which stay sold, and frees the others and the unit', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 4 })
    await rules(twoNights, id)
    expect(await Promise.all([miss(id), miss(id)])).to.have.members(['no_show', 'already'])
    expect(await readStay(house, id)).to.include({ status: 'no_show', feeAmount: 40_000 })
    const nights = await house.inHouse((trx) =>
      sql<{ status: string }>(trx, `select status from reservation_night where reservation_id = ? order by date`, [id]),
    )
    expect(nights.map((one) => one.status)).to.deep.equal(['open', 'open', 'released', 'released'])
    expect((await linesOf(house, [id])).map((line) => [line.kind, line.category, line.amount])).to.deep.equal([
      ['fee', 'no_show', 40_000],
    ])
    expect((await unitsOf(id)).filter((one) => one.status !== 'released')).to.deep.equal([])
    expect(await folioOf(id)).to.include({ stage: 'guest' })
    await healthy()
    const pools = [{ poolId: house.poolId, quantity: 2 }]
    const repool = house.inHouse((trx) => changeUnitType(trx, house.unitTypeId, { pools }))
    expect((await refusal(repool)).code, 'of a type with a night that is paid for').to.equal('in_use')
  })

  it('whose fee is less than what was paid keeps the rest on the folio, as a deposit', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 3 })
    await rules(twoNights, id)
    await payAll(house, id)
    const paid = (await folioOf(id)).credits
    await miss(id)
    expect(await folioOf(id)).to.include({ stage: 'deposit', balance: 40_000 - paid })
    await healthy()
    expect(await balanceOf({ ...house }, 'deposits')).to.equal(paid - 40_000)
  })

  it('keeps the nights that the fee covers, at least the first', () => {
    const dates = ['a', 'b', 'c']
    const kept = (fee: NoShowRules['fee'], releaseRemaining = false) => [
      ...nightsKept({ fee, releaseRemaining }, dates),
    ]
    expect(kept({ type: 'full', value: 0, of: 'total' })).to.deep.equal(dates)
    expect(kept({ type: 'nights', value: 2, of: 'room' })).to.deep.equal(['a', 'b'])
    expect(kept({ type: 'percent', value: 5000, of: 'room' })).to.deep.equal(['a'])
    expect(kept({ type: 'none', value: 0, of: 'room' })).to.deep.equal(['a'])
    expect(kept({ type: 'full', value: 0, of: 'total' }, true)).to.deep.equal([])
  })

  it('pays a fee of what is not on a folio yet: nights that are charged, waived or given back are no part of it', () => {
    const nights = (['charged', 'open', 'open', 'waived', 'released'] as const).map((status) => ({
      status,
      amount: 100,
    }))
    expect(feeBase({ roomTotal: 300, total: 360, postedTotal: 120 }, nights)).to.deep.equal({
      nights: [100, 100],
      roomTotal: 200,
      total: 240,
    })
  })

  it('is not one who is here', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1 })
    await arrive(house, id)
    expect((await refusal(miss(id))).code).to.equal('invalid_transition')
  })
})
