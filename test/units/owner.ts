import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { recountNights } from '../../db/units/recount.ts'
import { useOwner } from '../properties/support.ts'
import type { Owned } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { countersOf, makeHold, readBooking } from '../support/stay.ts'

const unitsOf = ({ house, owner }: Owned) => {
  let names = 0
  const make = async (more: object = {}) => {
    const body = { propertyId: house().propertyId, unitTypeId: house().unitTypeId, name: `N${(names += 1)}`, ...more }
    const made = await owner().send('POST', 'units', body)
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    return made.body as { id: string; name: string; version: number; [field: string]: unknown }
  }
  const patch = (id: string, body: object, version?: number): Promise<Reply> =>
    owner().send('PATCH', `units/${id}`, body, version === undefined ? {} : { headers: { 'if-match': `"${version}"` } })
  const archive = (id: string) => owner().send('POST', `units/${id}/archive`)
  const answer = ({ status, body }: Reply) => [status, (body as { code?: string }).code]
  const capacity = async (day: number, poolId = house().poolId) => (await countersOf(house(), day, poolId)).capacity
  const miscounts = () =>
    house().inHouse((trx) => recountNights(trx, house().propertyId, house().today, house().day(731)))
  const setRow = (unitId: string, reservationId: string, status: string, from: number, to: number) =>
    house().inHouse((trx) =>
      sql(
        trx,
        `insert into unit_assignment (unit_id, reservation_id, during, status) values (?, ?, daterange(?::date, ?::date), ?)`,
        [unitId, reservationId, house().day(from), house().day(to), status],
      ),
    )
  const endRow = (unitId: string) =>
    house().inHouse((trx) => sql(trx, `update unit_assignment set status = 'released' where unit_id = ?`, [unitId]))
  /** A confirmed stay without a unit. */
  const stay = async (from: number, nights: number, more: object = {}) => {
    const bookingId = await makeHold(house(), { from, nights, ...more })
    await house().inHouse((trx) => confirmBooking(trx, bookingId))
    return (await readBooking(house(), bookingId)).rooms[0]?.id ?? ''
  }

  return { make, patch, archive, answer, capacity, miscounts, setRow, endRow, stay }
}

/** A house whose owner makes and changes units, and what becomes of their capacity. */
export const useUnits = () =>
  useOwner(
    { units: 3, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } },
    { anew: false, more: unitsOf },
  )
