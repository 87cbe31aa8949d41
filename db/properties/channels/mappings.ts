import { mostRatesPerType } from '../../../config/channels.ts'
import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { sql, sqlOne } from '../../connection.ts'
import type { Trx } from '../../connection.ts'

export type MappingEntry = {
  unitTypeId: string
  /** Null maps availability alone. */
  ratePlanId: string | null
  externalUnitTypeId: string
  externalRatePlanId: string | null
  /** Signed basis points upon the plan's price. */
  modifierRate?: number | undefined
  enabled?: boolean | undefined
}
export type Mapping = Omit<MappingEntry, 'modifierRate' | 'enabled'> & { modifierRate: number; enabled: boolean }

export const readMappings = (trx: Trx, connectionIds: readonly string[]) =>
  sql<Mapping & { channelConnectionId: string }>(
    trx,
    `select channel_connection_id, unit_type_id, rate_plan_id, external_unit_type_id, external_rate_plan_id, modifier_rate, enabled from channel_mapping
     where channel_connection_id = any(?::uuid[]) order by external_unit_type_id, external_rate_plan_id nulls first`,
    [connectionIds],
  )

const ours = (entry: MappingEntry) => `${entry.unitTypeId} ${entry.ratePlanId}`
const theirs = (entry: MappingEntry) => `${entry.externalUnitTypeId}\n${entry.externalRatePlanId}`

const judge = (entries: readonly MappingEntry[]) => {
  const field = (index: number, name: string) => `mappings.${index}.${name}`
  const errors: FieldError[] = entries.flatMap((entry, index) => {
    const before = entries.slice(0, index)
    const named = { ratePlanId: entry.ratePlanId, externalRatePlanId: entry.externalRatePlanId }
    return [
      ...((named.ratePlanId === null) === (named.externalRatePlanId === null)
        ? []
        : [{ field: field(index, 'externalRatePlanId'), message: 'stands with ratePlanId, or neither does' }]),
      ...(before.some((other) => ours(other) === ours(entry))
        ? [{ field: field(index, 'unitTypeId'), message: 'type and plan are mapped twice' }]
        : []),
      ...(before.some((other) => theirs(other) === theirs(entry))
        ? [{ field: field(index, 'externalUnitTypeId'), message: 'is mapped twice with this rate' }]
        : []),
      ...(before.some(
        (other) => other.externalUnitTypeId === entry.externalUnitTypeId && other.unitTypeId !== entry.unitTypeId,
      )
        ? [{ field: field(index, 'externalUnitTypeId'), message: 'belongs to another unit type already' }]
        : []),
      ...(before.filter((other) => other.unitTypeId === entry.unitTypeId).length >= mostRatesPerType
        ? [{ field: field(index, 'unitTypeId'), message: `has at most ${mostRatesPerType} rates` }]
        : []),
    ]
  })
  if (errors.length > 0) throw invalid(errors)
}

/** 422 for types and plans that are not the property's, not active, or not sold together. */
const refuseStrangers = async (trx: Trx, propertyId: string, entries: readonly MappingEntry[]) => {
  const known = await sqlOne<{ types: string[]; plans: string[] }>(
    trx,
    `select coalesce((select array_agg(t.id::text) from unit_type t where t.property_id = :propertyId and t.status = 'active'), '{}') as types,
       coalesce((select array_agg(r.id || ' ' || u.unit_type_id) from rate_plan r
         join rate_plan_unit_type u on u.tenant_id = r.tenant_id and u.rate_plan_id = r.id
         where r.property_id = :propertyId and r.status = 'active'), '{}') as plans`,
    { propertyId },
  )
  const [types, plans] = [new Set(known?.types), new Set(known?.plans)]
  const errors = entries.flatMap(({ unitTypeId, ratePlanId }, index): FieldError[] => {
    if (!types.has(unitTypeId)) return [{ field: `mappings.${index}.unitTypeId`, message: 'is no unit type sold here' }]
    if (ratePlanId !== null && !plans.has(`${ratePlanId} ${unitTypeId}`))
      return [{ field: `mappings.${index}.ratePlanId`, message: 'is no plan sold for this type' }]
    return []
  })
  if (errors.length > 0)
    throw unprocessable('reference_not_found', 'A mapping names what is not sold here', errors.slice(0, 50))
}

/**
 * Replaces the mappings of a connection, which is locked. What a channel was told once and that is left out stays, disabled: the channel
 * must hear that it is closed, or it would go on selling it.
 */
export const replaceMappings = async (
  trx: Trx,
  connection: { id: string; propertyId: string; lastPushAt: Date | null },
  entries: readonly MappingEntry[],
): Promise<void> => {
  judge(entries)
  const stored = await readMappings(trx, [connection.id])
  // What is kept as it was may be of a type or plan that is not sold any more.
  const known = new Set(stored.map(ours))
  const fresh = entries.map((entry) => (known.has(ours(entry)) ? null : entry))
  await refuseStrangers(
    trx,
    connection.propertyId,
    fresh.filter((entry) => entry !== null),
  )
  const named = new Set(entries.map(theirs))
  const namedOurs = new Set(entries.map(ours))
  const left =
    connection.lastPushAt === null
      ? []
      : stored
          .filter((one) => !named.has(theirs(one)) && !namedOurs.has(ours(one)))
          .map((one) => ({ ...one, enabled: false }))
  await sql(trx, `delete from channel_mapping where channel_connection_id = ?`, [connection.id])
  await sql(
    trx,
    `insert into channel_mapping (channel_connection_id, unit_type_id, rate_plan_id, external_unit_type_id, external_rate_plan_id, modifier_rate, enabled)
     select ?::uuid, m."unitTypeId", m."ratePlanId", m."externalUnitTypeId", m."externalRatePlanId", coalesce(m."modifierRate", 0), coalesce(m.enabled, true)
     from jsonb_to_recordset(?::jsonb) as m ("unitTypeId" uuid, "ratePlanId" uuid, "externalUnitTypeId" text, "externalRatePlanId" text,
       "modifierRate" int, enabled boolean)`,
    [connection.id, JSON.stringify([...entries, ...left])],
  )
}
