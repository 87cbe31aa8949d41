import { addMembership } from '../../db/auth/members/create.ts'
import { sql } from '../../db/lib/connection.ts'
import { assignUnits } from '../../db/reservations/assign.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { occupy, vacate } from '../../db/units/assignments/occupy.ts'
import { generateTasks } from '../../db/units/daily-tasks.ts'
import type { Task } from '../../db/units/housekeeping-tasks/read.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import type { House } from '../support/factories.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import type { StayOptions } from '../support/stay.ts'
import type { World } from '../support/world.ts'

export type Worker = Desk & { userId: string }

/** A member with a role, signed in, whom tasks can be given to. */
export const hire = async (
  world: World,
  house: House,
  role: string,
  propertyIds: string[] | null = null,
): Promise<Worker> => {
  const person = await makeUser()
  await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role, propertyIds }))
  return { ...deskOf(world, house.tenantId, (await signIn(world, person)).token), userId: person.userId }
}

/** The business date, `n` days from today, without what its beginning does. */
export const putDate = (house: House, n: number) =>
  house.inHouse((trx) =>
    sql(trx, `update property set business_date = ? where id = ?`, [house.day(n), house.propertyId]),
  )

/** The night before day `n` is over. */
export const beginDay = async (house: House, n: number) => {
  const businessDate = house.day(n)
  for (let done = false; !done;)
    ({ done } = await house.inHouse((trx) => generateTasks(trx, { propertyId: house.propertyId, businessDate })))
  await putDate(house, n)
}

export type Stay = { reservationId: string; unitId: string }

/** A confirmed stay with its unit. */
export const book = async (house: House, options: StayOptions = {}): Promise<Stay> => {
  const { rooms } = await readBooking(house, await makeHold(house, options))
  const [room] = rooms
  if (!room) throw new Error('the booking has a room')
  return house.inHouse(async (trx) => {
    await confirmBooking(trx, room.bookingId)
    await assignUnits(trx, room.id)
    const [row] = await sql<Stay>(trx, `select reservation_id, unit_id from unit_assignment where reservation_id = ?`, [
      room.id,
    ])
    if (!row) throw new Error('the stay has a unit')
    return row
  })
}

export const moveIn = (house: House, stay: Stay, n = 0) =>
  house.inHouse((trx) => occupy(trx, stay.reservationId, { businessDate: house.day(n) }))
export const moveOut = (house: House, stay: Stay, n: number) =>
  house.inHouse((trx) => vacate(trx, stay.reservationId, { businessDate: house.day(n) }))

export const setUnit = (house: House, unitId: string, columns: Record<string, unknown>) =>
  house.inHouse((trx) => trx('unit').where({ id: unitId }).update(columns))

/** Tasks of a house as they are stored, the oldest day first. */
export const tasksOf = (house: House, unitId?: string): Promise<Task[]> =>
  house.inHouse((trx) =>
    sql<Task>(
      trx,
      `select * from housekeeping_task where property_id = ? and (?::uuid is null or unit_id = ?) order by date, unit_id, created_at, kind`,
      [house.propertyId, unitId ?? null, unitId ?? null],
    ),
  )

/** Each task of a unit as text: its date, kind, status, and the reason where it was skipped. */
export const summary = async (house: House, unitId: string): Promise<string[]> =>
  (await tasksOf(house, unitId)).map(({ date, kind, status, skipReason }) =>
    [date, kind, status, ...(skipReason ? [skipReason] : [])].join(' '),
  )

export const changeSettings = (house: House, settings: object) =>
  house.inHouse((trx) =>
    sql(trx, `update property set settings = settings || ?::jsonb where id = ?`, [
      JSON.stringify(settings),
      house.propertyId,
    ]),
  )

/** The house as on its first morning: every unit dirty and empty, nothing planned, on the business date of today. */
export const tidy = async (world: World, house: House) => {
  await forgetLimits(world)
  const { admin } = world.database
  await admin.raw(`delete from housekeeping_task; delete from housekeeping_sheet; delete from unit_assignment`)
  await admin.raw(
    `update unit set condition = 'dirty', do_not_disturb = false, make_up_requested = false, service_refused = null, observed_occupancy = null,
       discrepancy_on = null, rolled_on = null, notes = ''`,
  )
  await changeSettings(house, { housekeeping: {} })
  await putDate(house, 0)
}

/** A task for today by a person; a departure, unless `more` says otherwise. Answers its id. */
export const plan = async (house: House, by: Worker, unitId: string, more: object = {}): Promise<string> => {
  const { status, body } = await by.send('POST', 'housekeeping/tasks', {
    unitId,
    date: house.day(0),
    kind: 'departure',
    ...more,
  })
  if (status !== 201) throw new Error(`the task was not made: ${status} ${body.code}`)
  return body.id
}

/** Starts, completes, inspects or skips a task, of the version that was read. */
export const act = (by: Worker, id: string, verb: string, body: object = {}, version?: number) =>
  by.send(
    'POST',
    `housekeeping/tasks/${id}/${verb}`,
    body,
    version === undefined ? {} : { headers: { 'if-match': `"${version}"` } },
  )

/** Status and code of a reply, or the status of the task that it is. */
export const outcome = ({ status, body }: Reply) => [status, status < 300 ? body.status : body.code]
