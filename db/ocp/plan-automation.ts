import { messagesPlanAutomation } from '../../jobs/ocp.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'

/** Has the dated messages of all stays made to match an automation as it stands. */
export const planAutomation = (trx: Trx, automationId: string): Promise<unknown> =>
  enqueue(trx, messagesPlanAutomation, { tenantId: contextOf(trx).tenantId ?? '', automationId, cursor: null })

/** Plans anew what the automations of a template send. */
export const planTemplate = async (trx: Trx, templateId: string): Promise<void> => {
  for (const { id } of await sql<{ id: string }>(
    trx,
    `select id from automation where template_id = ? and enabled and trigger->>'anchor' is not null`,
    [templateId],
  ))
    await planAutomation(trx, id)
}
