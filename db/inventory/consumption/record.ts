import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import type { recordedUses, WasteReason } from '../../../config/inventory.ts'
import { businessDay } from '../../financial/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { holdActiveItems, holdItems } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import { dateOf, refuseBeforeCount } from '../movements/dates.ts'
import { refuseElsewhere } from '../movements/record.ts'
import { holdRecipes, readRecipeFacts } from '../recipes/facts.ts'
import { explode } from '../rules/explode.ts'
import type { Wanted } from '../rules/explode.ts'
import { decimalOf, enteredSome } from '../rules/quantity.ts'
import { holdStock } from '../stock/hold.ts'
import { consume } from './consume.ts'

/** Quantities are decimals of the measure; of a recipe its portions, or a measure of what it makes. */
type UseLine = {
  itemId?: string | undefined
  recipeId?: string | undefined
  quantity: string
  measure?: string | undefined
}
export type NewUse = {
  propertyId: string
  kind: (typeof recordedUses)[number]
  locationId: string
  occurredOn?: string | undefined
  reason?: WasteReason | undefined
  costCenterId?: string | undefined
  reservationId?: string | undefined
  unitId?: string | undefined
  lines: UseLine[]
}

/** Refuses a stay, unit or cost centre that the property does not have. */
const refuseStrange = async (trx: Trx, { propertyId, ...given }: NewUse): Promise<void> => {
  const found = await sqlOne<{ reservation: boolean; unit: boolean; center: boolean }>(
    trx,
    `select (cast(:reservationId as uuid) is null or exists (select from reservation where id = :reservationId and property_id = :propertyId)) as reservation,
       (cast(:unitId as uuid) is null or exists (select from unit where id = :unitId and property_id = :propertyId)) as unit,
       (cast(:costCenterId as uuid) is null or exists (select from cost_center c join property p on p.tenant_id = c.tenant_id and p.book_id = c.book_id
          where c.id = :costCenterId and p.id = :propertyId and c.active)) as center`,
    {
      propertyId,
      reservationId: given.reservationId ?? null,
      unitId: given.unitId ?? null,
      costCenterId: given.costCenterId ?? null,
    },
  )
  const errors: FieldError[] = [
    ...(found?.reservation ? [] : [{ field: 'reservationId', message: 'is no stay of the property' }]),
    ...(found?.unit ? [] : [{ field: 'unitId', message: 'is no unit of the property' }]),
    ...(found?.center ? [] : [{ field: 'costCenterId', message: 'is no active cost centre of the property' }]),
  ]
  if (errors.length > 0) throw unprocessable('reference_not_found', 'The property does not have this', errors)
}

const wantedOf = async (trx: Trx, { lines, locationId }: NewUse): Promise<Wanted[]> => {
  lines.forEach(({ itemId, recipeId }, index) => {
    if ((itemId === undefined) === (recipeId === undefined))
      throw invalid([{ field: `lines.${index}.itemId`, message: 'exactly one of itemId and recipeId is given' }])
  })
  const recipes = await holdRecipes(
    trx,
    lines.flatMap(({ recipeId }, index) => (recipeId ? [{ id: recipeId, field: `lines.${index}.recipeId` }] : [])),
  )
  const items = await holdActiveItems(
    trx,
    lines.flatMap(({ itemId, recipeId }, index) => {
      const id = itemId ?? recipes.get(recipeId ?? '')?.outputItemId
      return id ? [{ id, field: `lines.${index}.itemId` }] : []
    }),
  )
  return lines.map(({ itemId, recipeId, quantity, measure }, index): Wanted => {
    const field = `lines.${index}`
    const made = itemId ?? recipes.get(recipeId ?? '')?.outputItemId ?? ''
    const item = items.get(made) ?? { base: 'un' as const, packages: [] }
    const amount = BigInt(enteredSome(item, quantity, measure ?? item.base, field).quantity)
    const common = { locationId, amount: [amount, 1n] as const, field: `${field}.quantity` }
    return itemId === undefined ? { ...common, recipeId: recipeId ?? '' } : { ...common, itemId }
  })
}

/**
 * Records use, waste, meals or a kit by hand: all of it must be there (R13). Answers its id. 409 `stock_busy`; 422 `insufficient_stock`, `quantity_too_small`,
 * `reference_not_found`, errors of dates.
 */
export const recordUse = async (trx: Trx, given: NewUse): Promise<string> => {
  const { propertyId, kind, locationId, reason } = given
  if ((kind === 'waste') !== (reason !== undefined))
    throw invalid([{ field: 'reason', message: 'is required of waste, and belongs to nothing else' }])
  await refuseArchived(trx, propertyId)
  const businessDate = dateOf(await businessDay(trx, propertyId), given.occurredOn)
  await refuseStrange(trx, given)
  const place = (await holdLocations(trx, [{ id: locationId, field: 'locationId' }])).get(locationId)
  if (!place) throw new Error('a location was not held')
  refuseElsewhere(place, propertyId, 'locationId')
  const wanted = await wantedOf(trx, given)
  const recipes = await readRecipeFacts(
    trx,
    wanted.flatMap(({ recipeId }) => recipeId ?? []),
  )
  const used = explode(wanted, recipes)
  const items = await holdItems(
    trx,
    used.map(({ itemId }) => itemId),
  )
  const shelf = await holdStock(trx, used)
  refuseBeforeCount(shelf.all(), businessDate)
  const short = used.filter((one) => shelf.at(one).quantity < one.quantity)
  if (short.length > 0)
    throw unprocessable(
      'insufficient_stock',
      'There is not enough stock',
      short.slice(0, 50).map((one) => {
        const { sku, base } = items.get(one.itemId) ?? { sku: one.itemId, base: '' }
        return {
          field: one.field,
          message: `needs ${decimalOf(one.quantity)} ${base} of ${sku}; there are ${decimalOf(shelf.at(one).quantity)} ${base}`,
        }
      }),
    )
  return consume(
    trx,
    {
      kind,
      propertyId,
      bookId: place.bookId,
      businessDate,
      locationId,
      reason: reason ?? null,
      costCenterId: given.costCenterId ?? null,
      reservationId: given.reservationId ?? null,
      unitId: given.unitId ?? null,
    },
    used,
    { shelf, items },
  )
}
