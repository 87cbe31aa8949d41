import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { openException } from '../../db/payment/exceptions.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { confirmGroup } from '../../db/reservations/group/status.ts'
import { transferLines } from '../../db/reservations/folio/transfer.ts'
import { makeLateHouse, makeStays, payAll } from '../night-audit/support.ts'
import { deskOf } from '../reservations/desk.ts'
import { useDatabase } from '../support/database.ts'
import { readStay } from '../night-audit/support.ts'

describe('the money of a refused capture that is moved between bookings of a group', () => {
  useDatabase()

  it('ends its exception once all of it is there', async () => {
    const house = await makeLateHouse(1, { units: 2 })
    const { propertyId, ratePlanId } = house
    const { folioOf } = deskOf(() => house)
    const [from = '', to = ''] = await makeStays(house, 2, { from: -1, nights: 2 })
    await house.inHouse(async (trx) => {
      const groupId = await createGroup(trx, {
        propertyId,
        code: 'WEDDING',
        name: 'Wedding of the year',
        arrival: house.day(-1),
        departure: house.day(2),
        ratePlanId,
      })
      await confirmGroup(trx, groupId)
      await sql(trx, `update booking set group_id = ?`, [groupId])
    })
    await payAll(house, from)
    const [source, target] = [await folioOf(from), await folioOf(to)]
    const [line] = await house.inHouse((trx) =>
      sql<{ id: string; amount: number; paymentId: string }>(
        trx,
        `select id, -amount as amount, payment_id from folio_line where folio_id = ? and kind = 'payment'`,
        [source.id],
      ),
    )
    const amount = line?.amount ?? 0
    const { bookingId } = await readStay(house, to)
    const id = randomUUID()
    // A twin of the payment, of the other booking, whose capture was refused.
    await house.inHouse(async (trx) => {
      await sql(
        trx,
        `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', :id::uuid, 'external_id', null, 'status', 'authorised', 'mode', 'authorise',
           'method', 'card', 'target_id', :bookingId::uuid, 'captured_amount', 0, 'allocated_amount', 0, 'captured_at', null, 'capture_refusals', 1))).*
         from payment p where p.id = :of`,
        { id, bookingId, of: line?.paymentId },
      )
      await openException(trx, 'capture_refused', { type: 'payment', id, propertyId, currency: 'BRL' }, amount, amount)
    })
    const move = (part: number) =>
      house.inHouse((trx) =>
        transferLines(trx, source.id, { toFolioId: target.id, lines: [{ lineId: line?.id ?? '', amount: part }] }),
      )
    const standing = () =>
      house.inHouse((trx) =>
        sql<{ status: string; automatic: boolean }>(
          trx,
          `select status, automatic from payment_exception where subject_id = ? and kind = 'capture_refused'`,
          [id],
        ),
      )
    await move(amount - 1)
    expect(await standing()).to.deep.equal([{ status: 'open', automatic: false }])
    await move(1)
    expect(await standing()).to.deep.equal([{ status: 'resolved', automatic: true }])
  })
})
