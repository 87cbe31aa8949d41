import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { changeConnection, readConnection } from '../../db/channels/connections.ts'
import { forgetLeft, replaceMappings } from '../../db/channels/mappings.ts'
import { keepUp } from '../../db/channels/upkeep.ts'
import type { House } from '../support/factories.ts'
import { useShop } from './shop.ts'
import { connect, makeConnection, mappingsOf, newExternalId, receive, revisionOf, settle } from './support.ts'

describe('A mapping that is left out', function () {
  this.timeout(120_000)

  const shop = useShop()
  const { simulator } = shop
  let house: House
  before(() => void (house = shop.house))

  it('is told as closed', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await house.inHouse((trx) =>
      changeConnection(trx, id, {
        mappings: [
          {
            unitTypeId: house.unitTypeId,
            ratePlanId: house.ratePlanId,
            externalUnitTypeId: 'DBL',
            externalRatePlanId: 'BAR',
          },
        ],
      }),
    )
    await settle()
    const { days } = await account.look()
    expect(days[`STE||${house.day(2)}`]?.available).to.equal(0)
    expect(days[`DBL|NRF|${house.day(2)}`]?.restrictions?.stopSell).to.equal(true)
    expect(days[`DBL||${house.day(2)}`]?.available).to.equal(3)
  })

  it('is told by what its name means by now, as closed where it means nothing, until that has settled', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    const { unitTypeId, ratePlanId } = house
    const mappings = [
      { unitTypeId: house.suiteTypeId ?? '', ratePlanId, externalUnitTypeId: 'DBL', externalRatePlanId: 'SUI' },
      { unitTypeId, ratePlanId, externalUnitTypeId: 'DBX', externalRatePlanId: 'BAR' },
    ]
    await house.inHouse((trx) => changeConnection(trx, id, { mappings }))
    await settle()
    const { days } = await account.look()
    const day = house.day(2)
    const told = ['DBL', 'DBX', 'STE'].map((type) => days[`${type}||${day}`]?.available)
    expect(told).to.deep.equal([1, 3, 0])
    const stopped = ['DBL|SUI', 'DBX|BAR', 'DBL|BAR', 'DBL|NRF', 'STE|BAR'].map(
      (rate) => days[`${rate}|${day}`]?.restrictions?.stopSell,
    )
    expect(stopped).to.deep.equal([false, false, true, true, true])
    const read = await house.inHouse((trx) => readConnection(trx, id))
    expect(read.mappings).to.deep.equal(mappings.map((one) => ({ ...one, modifierRate: 0, enabled: true })))
    // Mappings that were read may be written back.
    await house.inHouse((trx) => changeConnection(trx, id, { mappings: read.mappings }))
    const kept = () =>
      house.inHouse((trx) =>
        sql(trx, `select left_at from channel_mapping where channel_connection_id = ? and left_at is not null`, [id]),
      )
    expect(await kept()).to.have.length(3)
    await settle()
    for (const left of [0, 3]) {
      await house.inHouse((trx) => sql(trx, `update channel_connection set resynced_on = null where id = ?`, [id]))
      await house.inHouse((trx) => keepUp(trx, id))
      expect(await kept()).to.have.length(3 - left)
      await settle()
      await house.inHouse((trx) =>
        sql(trx, `update channel_mapping set left_at = left_at - interval '8 days' where channel_connection_id = ?`, [
          id,
        ]),
      )
    }
  })

  it('is how a booking by it is changed all the same, while one of its guests is still to come', async () => {
    const own = await makeConnection(house, { name: 'left out', secret: 'x'.repeat(20) })
    const kept = () =>
      house.inHouse((trx) =>
        sql(trx, `select id from channel_mapping where channel_connection_id = ? and left_at is not null`, [own]),
      )
    const forget = () => house.inHouse((trx) => forgetLeft(trx, own))
    const externalId = newExternalId()
    const [stored] = await receive(house, own, revisionOf(house, { externalId, from: 10 }))
    const others = mappingsOf(house).slice(1)
    const connection = { id: own, propertyId: house.propertyId, lastPushAt: new Date() }
    await house.inHouse((trx) => replaceMappings(trx, connection, others))
    // It settles in an hour, and the channel has taken all that there was to say until then.
    await house.inHouse(async (trx) => {
      await sql(
        trx,
        `update channel_mapping set left_at = now() - interval '7 days' + interval '1 hour' where left_at is not null`,
      )
      await sql(trx, `update channel_connection set last_push_at = now() + interval '2 hours' where id = ?`, [own])
    })
    await forget()
    expect(await kept()).to.have.length(1)
    const [changed] = await receive(
      house,
      own,
      revisionOf(house, { externalId, revision: 2, kind: 'modified', from: 11 }),
    )
    expect(changed).to.include({ status: 'applied', bookingId: stored?.bookingId })
    await receive(house, own, revisionOf(house, { externalId, revision: 3, kind: 'cancelled', rooms: 0 }))
    await forget()
    expect(await kept()).to.deep.equal([])
  })
})
