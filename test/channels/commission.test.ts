import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { businessDay } from '../../db/financial/index.ts'
import { chargeNights } from '../../db/reservations/charge-nights.ts'
import { postCharged } from '../../db/reservations/folio/write.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import { makeConnection, receive, revisionOf, staysOf } from './support.ts'

describe('The commission of a channel', function () {
  this.timeout(120_000)
  useDatabase()

  it('is accrued with each night that is charged, once, and comes to what the channel said', async () => {
    const house = await makeHouse({ units: 1 })
    const id = await makeConnection(house, { name: 'commission', secret: 'x'.repeat(20) })
    const [stored] = await receive(house, id, revisionOf(house, { from: 0, nights: 3, commission: 10_001 }))
    const stays = await staysOf(house, stored?.bookingId ?? null)
    const charge = (days: number) =>
      house.inHouse(async (trx) => {
        const businessDate = await businessDay(trx, house.propertyId)
        const charged = await chargeNights(trx, { businessDate, stays, through: house.day(days) })
        await postCharged(trx, house.propertyId, charged)
      })
    await charge(1)
    await charge(1)
    await charge(2)
    const accrued = await house.inHouse((trx) =>
      sql<{ amount: number; connection: string }>(
        trx,
        `select (payload -> 'amounts' ->> 'amount')::int as amount, payload -> 'context' ->> 'channelConnectionId' as connection
         from posting_event where event = 'properties.channel_commission_accrued' order by source_seq`,
      ),
    )
    expect(accrued).to.deep.equal([3_334, 3_334, 3_333].map((amount) => ({ amount, connection: id })))
  })
})
