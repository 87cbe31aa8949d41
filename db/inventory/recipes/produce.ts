import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { businessDay } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import type { Trx } from '../../lib/connection.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { holdActiveItems } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import { dateOf, refuseBeforeCount } from '../movements/dates.ts'
import { noteCosts, putLine, refuseElsewhere, takeAll } from '../movements/record.ts'
import { explode } from '../rules/explode.ts'
import { largestQuantity } from '../rules/quantity.ts'
import { settleShortages } from '../shortages.ts'
import { holdStock } from '../stock/hold.ts'
import { postProduced } from '../stock/post.ts'
import { writeMovement } from '../stock/write.ts'
import type { Line } from '../stock/write.ts'
import { holdRecipes, readRecipeFacts } from './facts.ts'

export type Production = {
  kind: 'production'
  propertyId: string
  recipeId: string
  locationId: string
  outputLocationId?: string | undefined
  /** So many times what the recipe makes. */
  batches: number
  occurredOn?: string | undefined
  reference?: string | undefined
  note?: string | undefined
}

/** Makes a preparation: its components leave stock, and what they were worth comes in with what was made (R10). Answers the id of the movement. */
export const recordProduction = async (trx: Trx, given: Production): Promise<string> => {
  const { propertyId, recipeId, locationId, outputLocationId = locationId, batches } = given
  await refuseArchived(trx, propertyId)
  const occurredOn = dateOf(await businessDay(trx, propertyId), given.occurredOn)
  const places = await holdLocations(trx, [
    { id: locationId, field: 'locationId' },
    { id: outputLocationId, field: 'outputLocationId' },
  ])
  for (const [field, id] of Object.entries({ locationId, outputLocationId })) {
    const place = places.get(id)
    if (place) refuseElsewhere(place, propertyId, field)
  }
  const place = places.get(locationId)
  if (!place) throw new Error('a location was not held')
  const held = (await holdRecipes(trx, [{ id: recipeId, field: 'recipeId' }])).get(recipeId)
  const outputId = held?.outputItemId ?? null
  if (outputId === null)
    throw unprocessable('rule_violated', 'Only a preparation is made for stock', [
      { field: 'recipeId', message: 'is no preparation' },
    ])
  const recipes = await readRecipeFacts(trx, [recipeId])
  const own = recipes.get(recipeId)
  if (!own) throw new Error('the recipe is gone')
  const made = own.yield * batches
  if (made > largestQuantity) throw invalid([{ field: 'batches', message: 'make more than can be kept' }])
  const used = explode(
    [{ recipeId, locationId, amount: [BigInt(made), 1n], field: 'batches' }],
    new Map(recipes).set(recipeId, { ...own, outputItemId: null }),
  )
  const items = await holdActiveItems(trx, [
    { id: outputId, field: 'recipeId' },
    ...used.map(({ itemId }) => ({ id: itemId, field: 'recipeId' })),
  ])
  const output = { itemId: outputId, locationId: outputLocationId }
  const shelf = await holdStock(trx, [output, ...used])
  refuseBeforeCount(shelf.all(), occurredOn)
  const values = takeAll(shelf, used, items)
  const lines: Line[] = used.map(({ itemId, locationId: from, quantity }, index) => ({
    itemId,
    locationId: from,
    quantity: -quantity,
    value: 0 - (values[index] ?? 0),
  }))
  const arrived: Line = { ...output, quantity: made, value: sum(values) }
  putLine(shelf, arrived)
  const id = randomUUID()
  await writeMovement(
    trx,
    {
      id,
      kind: 'production',
      propertyId,
      occurredOn,
      recipeVersionId: own.versionId,
      reference: given.reference ?? null,
      note: given.note ?? null,
    },
    [...lines, arrived],
    { shelf, items },
  )
  await noteCosts(trx, [arrived])
  await postProduced(trx, { propertyId, bookId: place.bookId, movementId: id, occurredOn }, items, {
    inputs: lines.map(({ itemId, value }) => ({ itemId, value: 0 - value })),
    outputs: [arrived],
  })
  await settleShortages(trx, { shelf, items, spots: [output] })
  return id
}
