import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { changeTaxRule, deleteTaxRule } from '../../db/properties/terms/tax-rules.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeFee } from '../support/taxes.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

describe('A tax of a booking that the desk is just making', () => {
  const world = useWorld()
  let house: House
  let desk: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 5, deposit: null })
    desk = await openDesk(world, house, 'owner')
  })

  const book = () => {
    const { propertyId, unitTypeId, ratePlanId, day } = house
    const room = { unitTypeId, ratePlanId, arrival: day(5), departure: day(6), adults: 2, childrenAges: [] }
    return desk.send('POST', 'bookings', { propertyId, source: 'phone', booker: { firstName: 'Bia' }, rooms: [room] })
  }
  const waiting = async (most: number) =>
    (
      await sql(
        world.database.admin,
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
    ).length >= most

  it('is not deleted', async () => {
    const id = await makeFee(house, 'KEPT')
    const holder = await world.database.admin.transaction()
    try {
      await sql(
        holder,
        `select 1 from pool_night n join unit_pool p on p.tenant_id = n.tenant_id and p.id = n.pool_id where p.property_id = ? for update of n`,
        [house.propertyId],
      )
      const made = book()
      await until(() => waiting(1))
      const deleted = house
        .inHouse((trx) => deleteTaxRule(trx, id))
        .then(
          () => 'deleted',
          (error: Error & { code?: string }) => error.code,
        )
      await until(() => waiting(2))
      await holder.commit()
      const { status, body } = await made
      expect([status, body.total], JSON.stringify(body)).to.deep.equal([201, 20_500])
      expect(await deleted).to.equal('in_use')
    } finally {
      if (!holder.isCompleted()) await holder.rollback()
    }
  })

  it('is taken as it is by then where it is being changed', async () => {
    const id = await makeFee(house, 'MOVED')
    let release: () => void = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let isChanged = false
    const changing = house.inHouse(async (trx) => {
      await changeTaxRule(trx, id, { amount: 700 })
      isChanged = true
      await released
    })
    await until(() => isChanged)
    const made = book()
    await until(() => waiting(1))
    release()
    await changing
    const { status, body } = await made
    expect([status, body.total], JSON.stringify(body)).to.deep.equal([201, 20_700])
  })
})
