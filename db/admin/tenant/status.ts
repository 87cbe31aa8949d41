import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { speakingQueues, suspendedWaitMs } from '../../../config/queues.ts'
import { tenantDeletionPlanned, tenantReactivated, tenantSuspended } from '../../../config/events/admin.ts'
import { audit } from '../../lib/audit.ts'
import { requestMarks } from '../../lib/channel-marks.ts'
import { enterTenant, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { bringForward } from '../../jobs/index.ts'
import { liveMoney } from '../../payment/index.ts'
import { purgeTenant } from '../../../jobs/admin.ts'
import { tellOwners } from '../notices.ts'
import { assertHere, hasMoved } from '../moving/moved.ts'
import { lockOperated, readOperatedTenant } from './operate.ts'
import type { OperatedTenant, TenantStatus } from './operate.ts'

/** Marks every house to be sent to its channels again: they may sell only while the tenant is active. */
const markHouses = async (trx: Trx): Promise<void> => {
  const houses = await sql<{ id: string }>(
    trx,
    `select p.id from property p where exists (select from channel_connection c where c.property_id = p.id and c.status <> 'disconnected') order by p.id`,
  )
  for (const { id: propertyId } of houses) await requestMarks(trx, { propertyId, kind: 'all' })
}

type Move = { to: TenantStatus; reason: string; deleteAfter?: string | null }

const move = async (trx: PlatformTrx, before: OperatedTenant, { to, reason, deleteAfter = null }: Move) => {
  await sql(
    trx,
    `update tenant set status = ?, reason = ?, delete_after = ?::date, version = version + 1 where id = ?`,
    [to, to === 'active' ? null : reason, deleteAfter, before.id],
  )
  await audit(trx, {
    tenantId: before.id,
    action: `tenant.${to === 'active' ? 'reactivate' : to === 'deleting' ? 'plan_deletion' : 'suspend'}`,
    subjectType: 'Tenant',
    subjectId: before.id,
    reason,
    changes: [
      { field: 'status', before: before.status, after: to },
      ...(deleteAfter === null ? [] : [{ field: 'deleteAfter', after: deleteAfter }]),
    ],
  })
}

const factOf = ({ id, version, status, deleteAfter }: OperatedTenant) => ({
  propertyId: null,
  id,
  version,
  data: { status, deleteAfter },
})

const refused = (status: string, verb: string) =>
  conflict('invalid_transition', `A tenant that is ${status} cannot be ${verb}`)

/** Stops the use of a tenant. One that is suspended stays so. */
export const suspendTenant = async (
  trx: PlatformTrx,
  tenantId: string,
  reason: string,
  expected: number | null = null,
): Promise<OperatedTenant> => {
  const before = await lockOperated(trx, tenantId, expected)
  if (before.status === 'suspended') return before
  if (before.status !== 'active') throw refused(before.status, 'suspended')
  await move(trx, before, { to: 'suspended', reason })
  const after = await readOperatedTenant(trx, tenantId)
  const inside = await enterTenant(trx, tenantId)
  const event = await emit(inside, tenantSuspended, factOf(after))
  await tellOwners(inside, 'tenant_suspended', event, {})
  await markHouses(inside)
  return after
}

/** Ends a suspension or a planned deletion. One that is active stays so. */
export const reactivateTenant = async (
  trx: PlatformTrx,
  tenantId: string,
  reason: string,
  expected: number | null = null,
): Promise<OperatedTenant> => {
  const before = await lockOperated(trx, tenantId, expected)
  if (before.status === 'active') return before
  if (before.status === 'deleted') throw refused(before.status, 'reactivated')
  await assertHere(trx, tenantId)
  if (before.status === 'deleting') {
    const begun = await sqlOne(trx, `select 1 from tenant_purge where tenant_id = ? limit 1`, [tenantId])
    if (begun) throw conflict('invalid_transition', 'The grace time is over: the data of the tenant are being deleted')
  }
  await move(trx, before, { to: 'active', reason })
  const after = await readOperatedTenant(trx, tenantId)
  const inside = await enterTenant(trx, tenantId)
  await emit(inside, tenantReactivated, factOf(after))
  // What waited for this waits no longer.
  await bringForward(inside, tenantId, { queues: speakingQueues, withinMs: suspendedWaitMs })
  await markHouses(inside)
  return after
}

/** 422 `tenant_has_live_money`, naming what is still on its way. Inside the tenant. */
const assertNoLiveMoney = async (trx: Trx): Promise<void> => {
  const found = await liveMoney(trx)
  if (found.length > 0)
    throw unprocessable(
      'tenant_has_live_money',
      'Money of the tenant is still on its way',
      found.map(({ what, count }) => ({ field: what, message: `${count} not settled` })),
    )
}

/** Plans the deletion of a tenant after its grace time. One that is planned stays as it is. */
export const planDeletion = async (
  trx: PlatformTrx,
  tenantId: string,
  { reason, confirmName, graceDays = 30 }: { reason: string; confirmName: string; graceDays?: number | undefined },
  expected: number | null = null,
): Promise<OperatedTenant> => {
  const before = await lockOperated(trx, tenantId, expected)
  if (before.status === 'deleted') throw refused(before.status, 'deleted')
  if (confirmName !== before.name)
    throw unprocessable('name_not_confirmed', 'The name is not that of the tenant', [
      { field: 'confirmName', message: 'must be the name of the tenant' },
    ])
  if (graceDays < 7 || graceDays > 90) throw invalid([{ field: 'graceDays', message: 'must be 7 to 90' }])
  if (before.status === 'deleting') return before
  const [day] = await sql<{ on: string }>(trx, `select ((now() at time zone 'UTC')::date + ?::int)::text as "on"`, [
    graceDays,
  ])
  const deleteAfter = day?.on ?? ''
  await move(trx, before, { to: 'deleting', reason, deleteAfter })
  const after = await readOperatedTenant(trx, tenantId)
  // The end of a tenant that has moved is not told, and its money is on its way elsewhere.
  if (await hasMoved(trx, tenantId)) return after
  const inside = await enterTenant(trx, tenantId)
  await assertNoLiveMoney(inside)
  const event = await emit(inside, tenantDeletionPlanned, factOf(after))
  await tellOwners(inside, 'tenant_deletion_planned', event, { day: deleteAfter })
  await markHouses(inside)
  return after
}

/** Tenants whose grace time is over: asks for the purge of each. */
export const askForPurges = async (trx: PlatformTrx): Promise<void> => {
  const due = await sql<{ tenantId: string }>(
    trx,
    `select id as tenant_id from tenant where status = 'deleting' and delete_after <= (now() at time zone 'UTC')::date order by delete_after, id limit 100`,
  )
  for (const { tenantId } of due) await enqueue(trx, purgeTenant, { tenantId }, { uniqueKey: tenantId })
}
