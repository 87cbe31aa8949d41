import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { retryMessage } from '../../db/ocp/index.ts'
import { confirmBooking } from '../../db/reservations/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { deliverAll, messagesOf, useMailPeer } from '../support/messages.ts'
import { makeHold } from '../support/stay.ts'

describe('mails of portal bookings that nothing proves', function () {
  this.timeout(120_000)
  const world = useDatabase()
  useMailPeer()
  let house: House
  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs; delete from provider_gate')
    house = await makeHouse({ units: 20, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    await house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
    await house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    )
  })

  const booked = async (address: string): Promise<string> => {
    const bookingId = await makeHold(house, { from: 5, nights: 1, address })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    return bookingId
  }
  const confirmations = async () =>
    (await messagesOf(house))
      .filter(({ eventId, origin }) => eventId !== null && origin === 'automation')
      .map(({ id, status, reason }) => ({ id, told: reason === null ? status : `${status} ${reason}` }))
  const counted = async () => {
    const sums: Record<string, number> = {}
    for (const { told } of await confirmations()) sums[told] = (sums[told] ?? 0) + 1
    return sums
  }

  it('are ten an hour for one client, and no fewer for others', async () => {
    const ids: string[] = []
    for (let one = 0; one < 12; one += 1) ids.push(await booked('198.51.100.7'))
    await booked('198.51.100.8')
    await deliverAll()
    expect(await counted()).to.deep.equal({ sent: 11, 'suppressed stranger_limit': 2 })
    // Those of a booking whose guest proved the e-mail are no stranger's any more.
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_access_code (id, booking_id, expires_at, used_at) select ?, b.id, now() + interval '10 minutes', now() from booking b where b.id = ?`,
        [randomUUID(), ids[0]],
      ),
    )
    const [refused] = (await confirmations()).filter(({ told }) => told.startsWith('suppressed'))
    await house.inHouse((trx) => retryMessage(trx, refused?.id ?? '', undefined))
    await deliverAll()
    expect(await counted()).to.deep.equal({ sent: 12, 'suppressed stranger_limit': 1 })
  })
})
