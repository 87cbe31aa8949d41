import { prepared, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { blindIndex } from '../lib/sealing/index.ts'
import { presentDay } from '../units/index.ts'
import { survivorOf } from './resolve.ts'

type Person = { guestIds?: readonly string[]; email?: string | null; documentNumber?: string | null }

/** The condition under which a block holds in a property, on the day that the property is on. Both are named by their alias. */
export const holdsAt = (block: string, property: string): string =>
  `${block}.lifted_at is null and (${block}.property_id is null or ${block}.property_id = ${property}.id)
   and ${block}.starts_on <= ${presentDay(property)} and (${block}.ends_on is null or ${block}.ends_on >= ${presentDay(property)})`

/**
 * The strictest block in force against a person at a property, by profile, by what is merged with it, or by document, so that
 * a new profile with the same document is found (R16).
 */
export const blockAgainst = async (trx: Trx, propertyId: string, person: Person): Promise<'warn' | 'refuse' | null> => {
  const index = person.documentNumber ? blindIndex(trx, 'document', person.documentNumber) : null
  const guestIds = person.guestIds ?? []
  if (index === null && guestIds.length === 0) return null
  const row = await sqlOne<{ level: 'warn' | 'refuse' }>(
    trx,
    `with person as (
       select g.id from guest g where g.id = any(cast(:guestIds as uuid[]))
       union select d.guest_id from guest_document d where d.number_index = cast(:index as bytea)
     ), heads as (
       select coalesce(g.merged_into_id, g.id) as id from guest g join person p on p.id = g.id
     ), related as (
       select id from heads union select g.id from guest g join heads h on g.merged_into_id = h.id
     )
     select b.level from property y join guest_block b on b.tenant_id = y.tenant_id and ${holdsAt('b', 'y')}
     where y.id = :propertyId and (b.guest_id in (select id from related) or cast(:index as bytea) = any(b.document_indexes))
     order by b.level limit 1`,
    { guestIds, index, propertyId },
  )
  return row?.level ?? null
}

export type Blocked = { guestId: string; level: 'warn' | 'refuse' }

/**
 * The strictest block in force against each of some guests at a property: their own, that of a profile merged with theirs, that of a guest with the same
 * document, or one against a document of any of these profiles (R16). `among` selects ids of guests by one binding, so that it travels with other statements.
 */
export const blocksAmong = (
  trx: Trx,
  propertyId: string,
  among: string,
  binding: readonly string[],
): Promise<Blocked[]> =>
  prepared<Blocked>(
    trx,
    `select p.id as guest_id, min(b.level) as level
     from guest p join property y on y.tenant_id = p.tenant_id and y.id = ?
     cross join lateral (select array(
       select g.id from guest g where g.tenant_id = p.tenant_id and (g.id = ${survivorOf('p')} or g.merged_into_id = ${survivorOf('p')})
       union select m.id from guest g join guest_document d on d.tenant_id = g.tenant_id and d.guest_id = g.id and d.status <> 'rejected'
         join guest_document o on o.tenant_id = d.tenant_id and o.number_index = d.number_index and o.status <> 'rejected'
           and o.kind = d.kind and (o.country_code = d.country_code or 'ZZ' in (o.country_code, d.country_code))
         join guest h on h.tenant_id = o.tenant_id and h.id = o.guest_id
         join guest m on m.tenant_id = h.tenant_id and (m.id = ${survivorOf('h')} or m.merged_into_id = ${survivorOf('h')})
         where g.tenant_id = p.tenant_id and (g.id = ${survivorOf('p')} or g.merged_into_id = ${survivorOf('p')})) as ids offset 0) k
     join guest_block b on b.tenant_id = p.tenant_id and ${holdsAt('b', 'y')} and (
       b.guest_id = any(k.ids)
       or exists (select from guest_document d join guest g on g.tenant_id = d.tenant_id and g.id = d.guest_id
         where d.tenant_id = p.tenant_id and d.number_index = any(b.document_indexes)
           and (g.id = ${survivorOf('p')} or g.merged_into_id = ${survivorOf('p')})))
     where p.id in (${among}) group by p.id`,
    [propertyId, binding],
  )
