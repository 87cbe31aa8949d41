import { invalid } from '../../config/errors.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { consents } from './consent.ts'
import type { ChannelKind } from './rules/contents.ts'
import type { PlanStep } from './rules/plan.ts'
import type { Segment } from './rules/segment.ts'

/** A segment says something, and nothing that contradicts itself. 400 */
export const judgeSegment = (segment: Segment): void => {
  if (Object.values(segment).every((value) => value === undefined))
    throw invalid([{ field: 'segment', message: 'needs at least one field' }])
  for (const [from, to] of [
    ['stayedFrom', 'stayedTo'],
    ['arrivalFrom', 'arrivalTo'],
  ] as const)
    if (segment[from] !== undefined && segment[to] !== undefined && segment[to] < segment[from])
      throw invalid([{ field: `segment.${to}`, message: `must not be before ${from}` }])
}

// Stays of a guest `g` under any profile that was merged into it, in the campaign's house.
const stays = `from reservation r where r.property_id = :propertyId
  and r.primary_guest_id in (select g.id union all select o.id from guest o where o.merged_into_id = g.id)`
const stayed = `${stays} and r.status in ('checked_in', 'checked_out')`

const condition: Record<keyof Segment, string> = {
  stayedFrom: `exists (select ${stayed} and r.departure >= :stayedFrom::date and (:stayedTo::date is null or r.arrival <= :stayedTo::date))`,
  stayedTo: `exists (select ${stayed} and r.arrival <= :stayedTo::date and (:stayedFrom::date is null or r.departure >= :stayedFrom::date))`,
  arrivalFrom: `exists (select ${stays} and r.status = 'confirmed' and r.arrival >= :arrivalFrom::date and (:arrivalTo::date is null or r.arrival <= :arrivalTo::date))`,
  arrivalTo: `exists (select ${stays} and r.status = 'confirmed' and r.arrival <= :arrivalTo::date and (:arrivalFrom::date is null or r.arrival >= :arrivalFrom::date))`,
  minStays: `(select count(*) ${stayed}) >= :minStays::int`,
  minNights: `exists (select ${stayed} and r.departure - r.arrival >= :minNights::int)`,
  countries: `g.residence_country = any(:countries::text[])`,
  languages: `(g.language = any(:languages::text[]) or split_part(g.language, '-', 1) = any(:languages::text[]))`,
  tags: `g.tags @> :tags::text[]`,
  excludeTags: `not g.tags && :excludeTags::text[]`,
  unitTypeIds: `exists (select ${stays} and r.status in ('confirmed', 'checked_in', 'checked_out') and r.unit_type_id = any(:unitTypeIds::uuid[]))`,
  notStayedSince: `not exists (select ${stayed} and r.departure >= :notStayedSince::date)`,
}

const bindingsOf = (propertyId: string, segment: Segment) => ({
  propertyId,
  ...Object.fromEntries(Object.keys(condition).map((field) => [field, segment[field as keyof Segment] ?? null])),
})

const matchOf = (segment: Segment): string =>
  [
    `g.status = 'active'`,
    ...Object.entries(condition).flatMap(([field, text]) =>
      segment[field as keyof Segment] === undefined ? [] : [text],
    ),
  ].join(' and ')

const indexOf = (kind: ChannelKind) => `g.${kind === 'email' ? 'email' : 'phone'}_index`
const isSuppressed = (kind: ChannelKind) => `exists (select from suppression s
  where s.kind = '${kind}' and s.address_index = ${indexOf(kind)} and s.lifted_at is null)`
const mayReceive = (kind: ChannelKind) =>
  `(${indexOf(kind)} is not null and ${consents('g.id', `'marketing_${kind}'`)} and not ${isSuppressed(kind)})`
const any = (plan: readonly PlanStep[], of: (kind: ChannelKind) => string) =>
  `(${plan.map(({ channel }) => of(channel)).join(' or ')})`

export type Audience = {
  audience: number
  excluded: { recipientMissing: number; consentMissing: number; suppressed: number }
  /** Of the audience, by the first channel that each may get. */
  byChannel: Partial<Record<ChannelKind, number>>
}

/** Counts the guests of a campaign, and those of the segment that it leaves out, by cause. */
export const countAudience = async (
  trx: Trx,
  propertyId: string,
  segment: Segment,
  plan: readonly PlanStep[],
): Promise<Audience> => {
  const [first, second, third] = plan.map(({ channel }) => channel)
  const row = await sqlOne<{
    audience: number
    missing: number
    unwilling: number
    suppressed: number
    first: number
    second: number
    third: number
  }>(
    trx,
    `select count(*) filter (where eligible) as audience,
       count(*) filter (where not eligible and not addressed) as missing,
       count(*) filter (where not eligible and addressed and not willing) as unwilling,
       count(*) filter (where not eligible and addressed and willing) as suppressed,
       count(*) filter (where first) as first, count(*) filter (where second and not first) as second,
       count(*) filter (where third and not first and not second) as third
     from (select ${any(plan, mayReceive)} as eligible, ${any(plan, (kind) => `${indexOf(kind)} is not null`)} as addressed,
         ${any(plan, (kind) => `(${indexOf(kind)} is not null and ${consents('g.id', `'marketing_${kind}'`)})`)} as willing,
         ${first ? mayReceive(first) : 'false'} as first, ${second ? mayReceive(second) : 'false'} as second,
         ${third ? mayReceive(third) : 'false'} as third
       from guest g where ${matchOf(segment)}) judged`,
    bindingsOf(propertyId, segment),
  )
  const counts = [row?.first ?? 0, row?.second ?? 0, row?.third ?? 0]
  return {
    audience: row?.audience ?? 0,
    excluded: {
      recipientMissing: row?.missing ?? 0,
      consentMissing: row?.unwilling ?? 0,
      suppressed: row?.suppressed ?? 0,
    },
    byChannel: Object.fromEntries(plan.map(({ channel }, at) => [channel, counts[at] ?? 0])),
  }
}

/** The next guests of an audience after a cursor, by id. */
export const nextAudience = async (
  trx: Trx,
  propertyId: string,
  segment: Segment,
  plan: readonly PlanStep[],
  { after, limit }: { after: string | null; limit: number },
): Promise<string[]> => {
  const rows = await sql<{ id: string }>(
    trx,
    `select g.id from guest g where ${matchOf(segment)} and ${any(plan, mayReceive)} and (:after::uuid is null or g.id > :after::uuid)
     order by g.id limit :limit`,
    { ...bindingsOf(propertyId, segment), after, limit },
  )
  return rows.map(({ id }) => id)
}
