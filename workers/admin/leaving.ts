import {
  beginExport,
  beginPurge,
  closeStep,
  endExport,
  endPurge,
  exportParts,
  failExport,
  noteExport,
  purgeSome,
  putExportPart,
  unlinkRows,
} from '../../db/admin/index.ts'
import { isUnreachable } from '../../db/lib/connection.ts'
import { exportTenant, purgeTenant } from '../../jobs/admin.ts'
import { processor } from '../lib/processor.ts'

const triesOfExport = 5

/** Reads in one long snapshot, and writes each part as it is full. A start that was lost begins anew. */
export const exportProcessor = processor(exportTenant, async (context) => {
  const { tenantId, tenantExportId } = context.payload
  if (!(await context.effect((trx) => beginExport(trx, tenantExportId)))) return context.finish()
  try {
    const written = await exportParts(tenantId, {
      part: async (number, bytes) => {
        await context.effect((trx) => putExportPart(trx, tenantExportId, number, bytes))
      },
      progress: async (progress) => {
        await context.effect((trx) => noteExport(trx, tenantExportId, progress))
      },
      signal: context.signal,
    })
    return await context.finish((trx) => endExport(trx, tenantExportId, written))
  } catch (error) {
    const isOurs = error instanceof Error && !isUnreachable(error) && error.name !== 'FenceLost'
    if (!isOurs || context.attempt < triesOfExport) throw error
    context.log.error({ err: error }, 'an export failed')
    await context.finish(async (trx) => void (await failExport(trx, tenantExportId, error.message)))
  }
})

const mostRounds = 50

/**
 * Deletes a tenant, some rows in a transaction. What is done stays done, whenever it is interrupted. Tables whose rows refer to each other take
 * several rounds; where a round finds nothing that is free, they let go of each other.
 */
export const purgeProcessor = processor(purgeTenant, async (context) => {
  const { tenantId } = context.payload
  const steps = await context.effect((trx) => beginPurge(trx, tenantId))
  if (steps === null) return context.finish()
  let left = steps.filter(({ isDone }) => !isDone).map(({ table }) => table)
  for (let round = 0; ; round += 1) {
    if (left.length === 0)
      left = await context.finishWhere(
        (trx) => endPurge(trx, tenantId),
        (again) => again.length === 0,
      )
    if (left.length === 0) return
    if (round === mostRounds) throw new Error(`rows of ${left.join(', ')} do not go`)
    let gone = 0
    const waiting: string[] = []
    for (const table of left) {
      if (context.signal.aborted) throw new Error('the purge was interrupted; it goes on where it was')
      for (;;) {
        const some = await context.effect((trx) => purgeSome(trx, tenantId, table))
        gone += some
        if (some === 0) break
      }
      if (!(await context.effect((trx) => closeStep(trx, tenantId, table)))) waiting.push(table)
    }
    if (gone === 0) for (const table of waiting) await context.effect((trx) => unlinkRows(trx, tenantId, table))
    left = waiting
  }
})
