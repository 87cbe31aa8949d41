import { sampleDay, sampleId } from '../../config/samples.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import type { House } from './factories.ts'

/** Ids of records that are there, by the names that examples have for them. */
export type Records = Readonly<Record<string, string>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const daysAhead = new Map(Array.from({ length: 800 }, (_, ahead) => [sampleDay(ahead), ahead]))

/** An example with records and days of a house in the places of samples. Throws where it names a record that `records` does not have. */
export const placed = (example: unknown, records: Records, house: Pick<House, 'day'>): unknown => {
  const byId = new Map(Object.entries(records).map(([name, id]) => [sampleId(name), id]))
  const put = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(put)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, put(inside)]))
    if (typeof value !== 'string') return value
    const ahead = daysAhead.get(value)
    if (ahead !== undefined) return house.day(ahead)
    const id = byId.get(value)
    if (id === undefined && uuid.test(value))
      throw new Error(`no record stands for a sample of ${JSON.stringify(example)}`)
    return id ?? value
  }
  return put(example)
}

/** Fields of which no two records have the same. */
const unique = ['code', 'key', 'slug', 'name', 'url', 'email', 'externalPropertyId']

/** An example for another record: the texts that must not stand twice end with a number, addresses before the `@`. */
export const numbered = (example: unknown, number: number): unknown =>
  Object.fromEntries(
    Object.entries(example as object).map(([field, value]: [string, unknown]) => [
      field,
      unique.includes(field) && typeof value === 'string' ? value.replace(/(?=@)|(?<!@.*)$/, `-${number}`) : value,
    ]),
  )

/** Records of a house that examples of every module may name. */
export const recordsOf = async (house: House): Promise<Records> => {
  const policies = await house.inHouse((trx) =>
    sqlOne<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    ),
  )
  if (!policies) throw new Error('the house has no plan')
  return {
    ...policies,
    tenantId: house.tenantId,
    propertyId: house.propertyId,
    bookId: house.bookId,
    unitTypeId: house.unitTypeId,
    unitPoolId: house.poolId,
    unitId: house.unitIds[0] ?? '',
    ratePlanId: house.ratePlanId,
  }
}
