import fc from 'fast-check'
import { insertTasks } from '../../db/units/housekeeping-tasks/create.ts'
import { completeTask } from '../../db/units/housekeeping-tasks/moves.ts'
import { publishSheet, shareOutDay } from '../../db/units/housekeeping-sheets.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Tasks in each state, and a sheet: what is moved again is answered as it is. */
export const ofHousekeeping = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const { propertyId, tenantId } = house
  const [unitId = ''] = house.unitIds
  const date = house.day(0)
  const { userId } = await makeUser({ [tenantId]: 'housekeeper' })
  const task = { unitId, date, kind: 'other' as const }
  const [open, begun, done, inspected, skipped, shared] = await house.inHouse((trx) =>
    insertTasks(
      trx,
      Array.from({ length: 6 }, () => task),
      false,
    ),
  )
  await inTenant(tenantId, (trx) => completeTask(trx, inspected?.id ?? '', {}), { actor: { type: 'user', id: userId } })
  const attendants = [{ userId, maxCredits: 1 }]
  // Of another day than that of the examples: sharing out takes the place of drafts.
  const { sheets } = await house.inHouse((trx) => shareOutDay(trx, { propertyId, date: house.day(1), attendants }))
  // One that no sharing out takes away, however many days are shared out.
  const told = await house.inHouse(async (trx) => {
    const day = await shareOutDay(trx, { propertyId, date: house.day(2), attendants })
    await publishSheet(trx, day.sheets[0]?.id ?? '')
    return day.sheets[0]?.id
  })
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    known: {
      housekeepingTaskId: one(open?.id, shared?.id),
      housekeepingSheetId: one(sheets[0]?.id, told),
      assigneeId: one(userId, null),
      attendantId: one(userId),
      attendants: one(attendants),
      dueAt: one(null, `${date}T18:00:00.000Z`),
      'housekeepingTasks.start housekeepingTaskId': one(begun?.id),
      'housekeepingTasks.complete housekeepingTaskId': one(done?.id),
      'housekeepingTasks.inspect housekeepingTaskId': one(inspected?.id),
      'housekeepingTasks.skip housekeepingTaskId': one(skipped?.id),
    },
    examples: {
      'housekeeping.board': [
        { propertyId, date },
        { propertyId, date, condition: 'dirty', q: '1' },
      ],
      'housekeeping.setConditions': [{ propertyId, items: [{ unitId, condition: 'clean', note: 'aired' }] }],
      'housekeepingTasks.list': [{}, { propertyId, date, status: 'open', kind: 'other' }],
      'housekeepingTasks.create': [task, { ...task, kind: 'maintenance', assigneeId: userId, priority: 1 }],
      'housekeepingTasks.update': [{ priority: 2 }, { assigneeId: userId }, { note: 'two beds' }],
      'housekeepingTasks.complete': [{}, { minutes: 20 }],
      'housekeepingSheets.list': [{}, { propertyId, date, include: 'tasks' }],
      'housekeepingSheets.create': [{ propertyId, date, attendants }],
      'units.observe': [{ occupancy: 'vacant' }, { serviceRefused: { until: house.day(2), evidence: 'a note' } }],
    },
  }
}
