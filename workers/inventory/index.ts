import { enqueue } from '../../db/lib/enqueue.ts'
import {
  consumeKitsOf,
  consumeMealsOf,
  propertiesWithStock,
  settleMore,
  verifyStockOf,
} from '../../db/inventory/index.ts'
import * as jobs from '../../jobs/inventory.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { askForAll } from '../lib/sweep.ts'

export const processors: readonly Processor[] = [
  onDatabase(jobs.settleShortagesJob, (trx, { locationId, itemId }) => settleMore(trx, { locationId, itemId })),
  onDatabase(jobs.consumeKits, (trx, { eventId }) => consumeKitsOf(trx, eventId)),
  onDatabase(jobs.consumeMeals, (trx, { eventId }) => consumeMealsOf(trx, eventId)),
  onDatabase(jobs.verifyStock, async (trx, { propertyId }) => {
    await verifyStockOf(trx, propertyId)
  }),
  processor(jobs.requestStockChecks, (context) =>
    askForAll(
      context,
      propertiesWithStock,
      (one) => one.propertyId,
      (trx, { tenantId, propertyId }) =>
        enqueue(trx, jobs.verifyStock, { tenantId, propertyId }, { uniqueKey: propertyId }),
    ),
  ),
]
