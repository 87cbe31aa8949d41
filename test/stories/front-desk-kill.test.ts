import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { ReservationRow } from '../../db/rows.ts'
import { makeLateHouse, makeStays, payAll, readStay } from '../night-audit/support.ts'
import { deskOf } from '../reservations/desk.ts'
import { clientOf } from '../support/client.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { startProcess } from '../support/processes.ts'
import { eventsOf } from '../support/stay.ts'

/** Commands of the desk, each with the endpoint that dies, the event of its fact, and the status that it leaves. */
const commands = [
  { name: 'check-in', id: 'reservations.checkIn', event: 'reservation.checked_in', to: 'checked_in' },
  { name: 'move', id: 'reservations.move', event: 'reservation.moved', to: 'checked_in' },
  { name: 'check-out', id: 'reservations.checkOut', event: 'reservation.checked_out', to: 'checked_out' },
  { name: 'no-show', id: 'reservations.noShow', event: 'reservation.no_show_recorded', to: 'no_show' },
] as const
type Command = (typeof commands)[number]

describe('A command of the desk whose process is killed', function () {
  this.timeout(240_000)
  useDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'pousada-desk-kill-'))
  let house: House
  let key = ''
  before(async () => {
    house = await makeLateHouse(1, {
      units: 12,
      settings: { frontDesk: { noShowFrom: '00:00', conditions: ['clean', 'inspected', 'dirty'] } },
    })
    await house.inHouse((trx) =>
      sql(trx, `update property set check_in_from = '00:00' where id = ?`, [house.propertyId]),
    )
    key = (await house.inHouse((trx) => createApiKey(trx, { name: 'desk', scopes: ['read', 'write'] }))).key
  })
  after(() => rmSync(folder, { recursive: true, force: true }))
  const { healthy, enter } = deskOf(() => house)

  const freeUnit = async (): Promise<string> => {
    const unit = await house.inHouse((trx) =>
      sqlOne<{ id: string }>(
        trx,
        `select u.id from unit u where u.property_id = ? and not exists (
           select from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status <> 'released') limit 1`,
        [house.propertyId],
      ),
    )
    return unit?.id ?? ''
  }
  /** A stay that the command is for, and its body. */
  const prepare = async ({ name }: Command): Promise<{ stay: ReservationRow; body: object }> => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1 })
    if (name === 'check-out') await payAll(house, id)
    if (name === 'check-out' || name === 'move') await enter(id, 'early_check_in', 'unit_condition')
    const body = name === 'move' ? { unitId: await freeUnit(), reason: 'maintenance' } : {}
    return { stay: await readStay(house, id), body }
  }
  const told = async ({ event }: Command, id: string) =>
    (await eventsOf(house, event)).filter(({ data }) => data['reservationId'] === id).length

  for (const command of commands)
    for (const point of ['api.writing', 'api.committed'] as const)
      it(`${command.name}, at ${point}: all of it or nothing, and once when it is sent again`, async () => {
        const { stay, body } = await prepare(command)
        const idempotencyKey = randomUUID()
        const send = (baseUrl: string) =>
          clientOf(baseUrl)('POST', `/api/tenants/${house.tenantId}/reservations/${stay.id}/${command.name}`, {
            body,
            key,
            idempotencyKey,
          })
        const dying = await startProcess('api', { CRASH_AT: `${point}/${command.id}@${join(folder, randomUUID())}` })
        await send(dying.baseUrl).then(
          ({ status, body: answer }) => expect.fail(`was answered ${status} ${JSON.stringify(answer)}`),
          () => null,
        )
        await dying.exited
        const isDone = point === 'api.committed'
        expect(await told(command, stay.id)).to.equal(isDone ? 1 : 0)
        const between = await readStay(house, stay.id)
        if (isDone) expect(between.status).to.equal(command.to)
        else expect(between).to.deep.equal(stay)
        const again = await startProcess('api')
        const reply = await send(again.baseUrl)
        await again.kill()
        expect([reply.status, reply.body.status], JSON.stringify(reply.body)).to.deep.equal([200, command.to])
        expect(await told(command, stay.id)).to.equal(1)
        const history = await house.inHouse((trx) =>
          sql(trx, `select 1 from reservation_event where reservation_id = ? and command = ?`, [
            stay.id,
            command.name.replace('-', '_'),
          ]),
        )
        expect(history).to.have.lengthOf(1)
        await healthy()
      })
})
