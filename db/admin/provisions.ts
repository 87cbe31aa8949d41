import { createHash } from 'node:crypto'
import { shippedCategories } from '../../config/issues.ts'
import { builtInTemplates } from '../../config/message-texts/templates.ts'
import { builtInAutomations } from '../../config/message-texts/texts.ts'
import { sealForgottenCustomers } from '../accounts-receivable/index.ts'
import { provisionTenant } from '../../jobs/admin.ts'
import { sealBookDocuments } from '../financial/index.ts'
import { provisionIssues } from '../issues/index.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { provisionMessages } from '../ocp/index.ts'

/** Names what this release gives a tenant to start with. Another release that gives more has another mark. */
export const provisionMark = createHash('sha256')
  .update(
    JSON.stringify([
      builtInTemplates.map(({ key }) => key),
      builtInAutomations.map(({ name }) => name),
      shippedCategories.map(({ code }) => code),
      'documents of books are sealed',
      'erased customers are sealed',
    ]),
  )
  .digest('hex')
  .slice(0, 16)

/** Gives the transaction's tenant the records that modules start it with, each part once by its key. Parts that the tenant has, changed or archived, stay. */
export const provisionParts = async (trx: Trx): Promise<void> => {
  await provisionMessages(trx)
  await provisionIssues(trx)
  await sealBookDocuments(trx)
  await sealForgottenCustomers(trx)
  await sql(trx, `update tenant set provisioned = ? where id = ? and provisioned is distinct from ?`, [
    provisionMark,
    contextOf(trx).tenantId,
    provisionMark,
  ])
}

const atOnce = 500

/** Asks for what tenants of an earlier release lack. */
export const askForProvisions = async (trx: PlatformTrx): Promise<void> => {
  const lacking = await sql<{ tenantId: string }>(
    trx,
    `select id as tenant_id from tenant where status <> 'deleted' and provisioned is distinct from ? order by id limit ${atOnce}`,
    [provisionMark],
  )
  for (const { tenantId } of lacking) await enqueue(trx, provisionTenant, { tenantId }, { uniqueKey: tenantId })
}
