import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { decideSending } from '../../db/ocp/index.ts'
import { confirmBooking } from '../../db/reservations/index.ts'
import { runDue } from '../../workers/lib/run-due.ts'
import { makeHouse } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { statementsIn } from '../support/statements.ts'
import { roundTrips } from '../support/trips.ts'
import { useWorld } from '../support/world.ts'

describe('the sending of a message', function () {
  this.timeout(120_000)
  useWorld()

  it('is decided in six round trips, and reads channels and suppressions of its whole plan at once', async () => {
    const house = await makeHouse({ units: 3, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    await house.inHouse(async (trx) => {
      const messages = { quietFrom: '00:00', quietUntil: '00:00' }
      await sql(trx, `update property set settings = settings || cast(? as jsonb)`, [JSON.stringify({ messages })])
      await sql(trx, `update message_channel set enabled = true`)
    })
    for (const [from, email] of [
      [5, 'ana@example.com'],
      [8, 'bia@example.com'],
      [9, 'eva@example.com'],
    ] as const) {
      const booker = { firstName: 'Ana', lastName: 'Souza', email, phone: `+552499000000${from}` }
      const bookingId = await makeHold(house, { from, nights: 1, address: randomUUID(), words: { booker } })
      await house.inHouse((trx) => confirmBooking(trx, bookingId))
    }
    await runDue({ kinds: ['messages.trigger'] })
    const due = await house.inHouse((trx) =>
      sql<{ id: string; turn: number; steps: number }>(
        trx,
        `select id, turn, jsonb_array_length(plan) as steps from message where status = 'queued' and reservation_id is not null order by id limit 3`,
      ),
    )
    expect(due).to.have.length(3)
    const [first, second, third] = due as [(typeof due)[0], (typeof due)[0], (typeof due)[0]]
    expect(first.steps).to.be.greaterThan(1)
    const decide = async ({ id, turn }: { id: string; turn: number }) =>
      expect(await house.inHouse((trx) => decideSending(trx, id, turn))).to.have.property('send')
    // The first of a day counts what the channel has sent.
    await decide(first)
    expect(await roundTrips(() => decide(second))).to.be.at.most(6)
    const statements = await statementsIn(() => decide(third))
    for (const table of ['message_channel', 'suppression'])
      expect(
        statements.filter((text) => text.includes(`from ${table}`)),
        table,
      ).to.have.length(1)
  })
})
