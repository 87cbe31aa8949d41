import { businessDay } from '../../financial/index.ts'
import { prepared, preparedOne, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { holdItems } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import { readRecipeFacts } from '../recipes/facts.ts'
import { explode } from '../rules/explode.ts'
import { holdStock } from '../stock/hold.ts'
import { consume } from './consume.ts'
import type { UseHead } from './consume.ts'

type Due = {
  recipeId: string
  locationId: string
  /** Portions. */
  portions: number
  source: { type: string; id: string }
}

/** Uses up kits for what has happened: each source once, and nothing is refused for want of stock (R13, R17). Locks the stock of all of them in one statement. */
const useKits = async (
  trx: Trx,
  head: Pick<UseHead, 'kind' | 'propertyId' | 'businessDate' | 'unitId' | 'taskId' | 'reservationId'>,
  wanted: readonly Due[],
): Promise<void> => {
  const done = await sql<{ sourceType: string; sourceId: string }>(
    trx,
    `select source_type, source_id from inventory_consumption where source_id = any(?::uuid[])`,
    [wanted.map(({ source }) => source.id)],
  )
  const due = wanted.filter(
    ({ source, portions }) =>
      portions > 0 && !done.some((one) => one.sourceType === source.type && one.sourceId === source.id),
  )
  if (due.length === 0) return
  const recipes = await readRecipeFacts(
    trx,
    due.map(({ recipeId }) => recipeId),
  )
  const uses = due.map((one) => ({
    ...one,
    used: explode(
      [{ recipeId: one.recipeId, locationId: one.locationId, amount: [BigInt(one.portions) * 10_000n, 1n] }],
      recipes,
    ),
  }))
  const places = await holdLocations(
    trx,
    due.map(({ locationId }) => ({ id: locationId, field: 'locationId' })),
  )
  const items = await holdItems(
    trx,
    uses.flatMap(({ used }) => used.map(({ itemId }) => itemId)),
  )
  const shelf = await holdStock(
    trx,
    uses.flatMap(({ used }) => used),
  )
  for (const { used, source, locationId } of uses) {
    const place = places.get(locationId)
    if (place && used.length > 0)
      await consume(trx, { ...head, bookId: place.bookId, locationId, source }, used, { shelf, items })
  }
}

/** Rules of active kits in a property whose location is in use. */
const rulesText = `select r.id as recipe_id, x.rule ->> 'id' as rule_id, (x.rule ->> 'locationId')::uuid as location_id, x.rule
  from recipe r cross join lateral jsonb_array_elements(r.rules) as x (rule)
  join inventory_location l on l.tenant_id = r.tenant_id and l.id = (x.rule ->> 'locationId')::uuid and l.status = 'active'
  where r.status = 'active' and r.kind = 'kit' and x.rule ->> 'propertyId' = :propertyId`

type Found = { recipeId: string; ruleId: string; locationId: string }

/** A task is done: the kits whose rules name its kind and type are used up, each once for the task, whatever happens to it later. */
export const consumeKitsOf = async (trx: Trx, eventId: string): Promise<void> => {
  const task = await sqlOne<{
    id: string
    propertyId: string
    unitId: string
    kind: string
    reservationId: string | null
    unitTypeId: string
  }>(
    trx,
    `select t.id, t.property_id, t.unit_id, t.kind, t.reservation_id, u.unit_type_id
     from event e join housekeeping_task t on t.tenant_id = e.tenant_id and t.id = (e.entity ->> 'id')::uuid
     join unit u on u.tenant_id = t.tenant_id and u.id = t.unit_id where e.id = ?`,
    [eventId],
  )
  if (!task) return
  const { propertyId, kind, unitTypeId } = task
  const businessDate = await businessDay(trx, propertyId)
  const rules = await sql<Found>(
    trx,
    `select distinct on (f.recipe_id) f.recipe_id, f.rule_id, f.location_id from (${rulesText} and x.rule ->> 'on' = 'task'
       and x.rule -> 'taskKinds' @> to_jsonb(cast(:kind as text))
       and (coalesce(jsonb_array_length(x.rule -> 'unitTypeIds'), 0) = 0
         or x.rule -> 'unitTypeIds' @> to_jsonb(cast(:unitTypeId as text)))) f
     order by f.recipe_id, f.rule_id`,
    { propertyId, kind, unitTypeId },
  )
  await useKits(
    trx,
    { kind: 'kit', propertyId, businessDate, unitId: task.unitId, taskId: task.id, reservationId: task.reservationId },
    rules.map(({ recipeId, locationId }) => ({
      recipeId,
      locationId,
      portions: 1,
      source: { type: `task:${recipeId}`, id: task.id },
    })),
  )
}

/** A business day is over: the kits of its meals are used up, for the guests whose plan of that night includes them. Each rule and day once. */
export const consumeMealsOf = async (trx: Trx, eventId: string): Promise<void> => {
  const day = await preparedOne<{ propertyId: string; date: string }>(
    trx,
    `select d.property_id, d.date from event e cross join lateral (select (e.entity ->> 'id')::uuid as id offset 0) x
       join business_day d on d.tenant_id = e.tenant_id and d.id = x.id where e.id = ?`,
    [eventId],
  )
  if (!day) return
  const { propertyId, date } = day
  await businessDay(trx, propertyId)
  const rules = await prepared<Found & { guests: number }>(
    trx,
    `select f.recipe_id, f.rule_id, f.location_id, coalesce((select sum(s.adults + cardinality(s.children_ages)) from reservation_night n
         join reservation s on s.tenant_id = n.tenant_id and s.id = n.reservation_id and s.property_id = :propertyId and s.status in ('checked_in', 'checked_out')
           and s.check_in_business_date <= :date and (s.check_out_business_date is null or s.check_out_business_date > :date)
         join rate_plan p on p.tenant_id = n.tenant_id and p.id = n.rate_plan_id
         where n.date = :date and n.status in ('open', 'charged', 'waived') and f.rule -> 'mealPlans' @> to_jsonb(p.meal_plan)), 0)::int as guests
     from (${rulesText} and x.rule ->> 'on' = 'meal') f order by f.recipe_id, f.rule_id`,
    { propertyId, date },
  )
  await useKits(
    trx,
    { kind: 'meal', propertyId, businessDate: date },
    rules.map(({ recipeId, ruleId, locationId, guests }) => ({
      recipeId,
      locationId,
      portions: guests,
      source: { type: `meal:${date}`, id: ruleId },
    })),
  )
}
