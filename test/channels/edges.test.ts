import { expect } from 'chai'
import { sql } from '../../db/connection.ts'
import type { House } from '../support/factories.ts'
import { useShop } from './shop.ts'
import { makeConnection, newExternalId, receive, revisionOf, staysOf } from './support.ts'

describe('What a channel says that is out of the common', function () {
  this.timeout(30_000)
  const shop = useShop()
  let house: House
  let id: string
  before(() => void (house = shop.house))
  beforeEach(async () => {
    id = await makeConnection(house, { name: newExternalId(), secret: 'x'.repeat(20) })
  })
  const revision = (given: Parameters<typeof revisionOf>[1] = {}) => revisionOf(house, { from: 40, ...given })

  it('of a booking of which a guest has left leaves his room alone, and takes no other for it', async () => {
    const externalId = newExternalId()
    const [stored] = await receive(house, id, revision({ externalId, rooms: 2 }))
    const [first, second] = await staysOf(house, stored?.bookingId ?? null)
    for (const moved of [
      `status = 'checked_in', actual_check_in_at = now(), check_in_business_date = arrival`,
      `status = 'checked_out', actual_check_out_at = now(), check_out_business_date = departure`,
    ])
      await house.inHouse((trx) => sql(trx, `update reservation set ${moved} where id = ?`, [first?.id]))
    const said = revision({ externalId, revision: 2, kind: 'modified', rooms: 2 })
    const longer = revision({ nights: 3 }).rooms
    const [changed] = await receive(house, id, { ...said, rooms: [said.rooms[0]!, longer[0]!], total: 5 * 17_333 })
    expect(changed).to.include({ status: 'applied', error: null })
    expect(
      (await staysOf(house, stored?.bookingId ?? null)).map((stay) => [stay.id, stay.status, stay.departure]),
    ).to.deep.equal([
      [first?.id, 'checked_out', house.day(42)],
      [second?.id, 'confirmed', house.day(43)],
    ])
    const [over] = await receive(house, id, revision({ externalId, revision: 3, kind: 'modified', rooms: 1 }))
    expect((await staysOf(house, stored?.bookingId ?? null)).map((stay) => stay.status)).to.deep.equal([
      'checked_out',
      'cancelled',
    ])
    const [late] = await receive(
      house,
      id,
      revision({ externalId, revision: 4, kind: 'modified', rooms: 1, amount: 1 }),
    )
    expect([over?.status, late?.status]).to.deep.equal(['applied', 'applied'])
    expect(await staysOf(house, stored?.bookingId ?? null), 'nobody comes again').to.have.length(2)
    const missedId = newExternalId()
    const [missed] = await receive(house, id, revision({ externalId: missedId }))
    await house.inHouse((trx) =>
      sql(trx, `update reservation set status = 'no_show' where booking_id = ?`, [missed?.bookingId]),
    )
    const moved = (given: object) => receive(house, id, revision({ externalId: missedId, kind: 'modified', ...given }))
    const [same] = await moved({ revision: 2, amount: 9_000 })
    const [other] = await moved({ revision: 3, from: 41 })
    expect([same?.status, other?.status]).to.deep.equal(['applied', 'failed'])
    expect(other?.error).to.contain('transition_blocked')
  })
})
