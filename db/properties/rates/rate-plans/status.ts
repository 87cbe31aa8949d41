import { unprocessable } from '../../../../config/errors.ts'
import { ratePlanArchived, ratePlanRestored } from '../../../../config/events/rates.ts'
import { sql } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { emit } from '../../../lib/events.ts'
import { lockForChange } from '../../../lib/locked-property.ts'
import { changePortal } from '../../../lib/public-version.ts'
import { changeRow } from '../../../lib/records.ts'
import { refuseReferences } from './checks.ts'
import { RatePlan, readRatePlan, ratePlanLifecycle } from './read.ts'
import type { PlanRecord } from './read.ts'

const announce = async (trx: Trx, plan: PlanRecord, event: typeof ratePlanArchived, version: number) => {
  await changePortal(trx, plan.propertyId, { kind: 'all', closes: event === ratePlanArchived })
  await emit(trx, event, {
    propertyId: plan.propertyId,
    id: plan.id,
    version,
    data: { ratePlanId: plan.id, code: plan.code, parentId: plan.parentId },
  })
}

/** Stops selling a plan. 422 `in_use` names the active plans that derive from it. The caller holds its row. */
export const archiveRatePlan = async (trx: Trx, id: string): Promise<void> => {
  const plan = await readRatePlan(trx, id)
  await lockForChange(trx, plan.propertyId)
  if (!ratePlanLifecycle.isDue('archived', plan.status)) return
  const children = await sql<{ code: string }>(
    trx,
    `select code from rate_plan where parent_id = ? and status = 'active' order by code limit 50`,
    [id],
  )
  if (children.length > 0)
    throw unprocessable(
      'in_use',
      'Active plans derive from this one',
      children.map(({ code }) => ({ field: 'ratePlan', message: code })),
    )
  await announce(trx, plan, ratePlanArchived, await changeRow(trx, RatePlan, id, { status: 'archived' }))
}

/** Sells a plan again: 422 where its policies, its parent or what it includes are not active any more. The caller holds its row. */
export const restoreRatePlan = async (trx: Trx, id: string): Promise<void> => {
  const plan = await readRatePlan(trx, id)
  await lockForChange(trx, plan.propertyId)
  if (!ratePlanLifecycle.isDue('restored', plan.status)) return
  const { parentId, cancellationPolicyId, noShowPolicyId, depositPolicyId, includedExtras } = plan
  await refuseReferences(trx, plan.propertyId, {
    parentId,
    cancellationPolicyId,
    noShowPolicyId,
    depositPolicyId,
    includedExtras,
  })
  await announce(trx, plan, ratePlanRestored, await changeRow(trx, RatePlan, id, { status: 'active' }))
}
