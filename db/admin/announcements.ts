import { forbidden, invalid } from '../../config/errors.ts'
import type { LocalText } from '../../config/local-text.ts'
import type { Plan } from '../../config/plans.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx } from '../lib/connection.ts'
import { readPage } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'

export type Kind = 'info' | 'maintenance' | 'incident' | 'deprecation'
export type Announcement = {
  id: string
  kind: Kind
  title: LocalText
  body: LocalText
  plans: Plan[]
  tenantIds: string[]
  startsAt: Date
  endsAt: Date | null
}
export type GivenAnnouncement = Omit<Announcement, 'id' | 'startsAt' | 'endsAt'> & {
  id?: string | undefined
  startsAt: string
  endsAt: string | null
}

const columns = `id, kind, title, body, plans, tenant_ids, starts_at, ends_at`
const list = (trx: AnyTrx) => sql<Announcement>(trx, `select ${columns} from announcement order by starts_at, id`)

const inOrder = (text: LocalText) => Object.entries(text).toSorted(([one], [other]) => (one < other ? -1 : 1))

const facts = ({ kind, title, body, plans, tenantIds, startsAt, endsAt }: Announcement | GivenAnnouncement) =>
  JSON.stringify([
    kind,
    inOrder(title),
    inOrder(body),
    plans.toSorted(),
    tenantIds.toSorted(),
    new Date(startsAt).toISOString(),
    endsAt === null ? null : new Date(endsAt).toISOString(),
  ])

/** Kinds of announcements that operators of level N2 may make, change and withdraw. */
const ofN2 = new Set<Kind>(['incident', 'maintenance'])

/**
 * Replaces all announcements. One that names the id of a present one is that one; N2 may leave, change and remove incidents and maintenance alone.
 */
export const replaceAnnouncements = async (
  trx: PlatformTrx,
  level: 'N1' | 'N2',
  given: readonly GivenAnnouncement[],
): Promise<Announcement[]> => {
  await sql(trx, `select pg_advisory_xact_lock(hashtext('announcement'))`)
  const before = await list(trx)
  const known = new Map(before.map((one) => [one.id, one]))
  for (const [index, one] of given.entries()) {
    if (one.id !== undefined && !known.has(one.id))
      throw invalid([{ field: `announcements.${index}.id`, message: 'is not known' }])
    if (one.plans.length > 0 && one.tenantIds.length > 0)
      throw invalid([{ field: `announcements.${index}.audience`, message: 'must name plans or tenants, not both' }])
    if (one.endsAt !== null && new Date(one.endsAt) <= new Date(one.startsAt))
      throw invalid([{ field: `announcements.${index}.endsAt`, message: 'must be after startsAt' }])
  }
  const ids = given.flatMap(({ id }) => (id === undefined ? [] : [id]))
  if (new Set(ids).size < ids.length) throw invalid([{ field: 'announcements', message: 'must name each id once' }])
  const kept = new Set(ids)
  const gone = before.filter(({ id }) => !kept.has(id))
  const changed = given.filter((one) => {
    const old = one.id === undefined ? undefined : known.get(one.id)
    return !old || facts(old) !== facts(one)
  })
  const touched = [...gone, ...changed, ...changed.flatMap(({ id }) => (id === undefined ? [] : [known.get(id)!]))]
  if (level !== 'N1' && touched.some(({ kind }) => !ofN2.has(kind)))
    throw forbidden('level_required', 'Insufficient permissions: level N2 announces incidents and maintenance alone')
  await sql(trx, `delete from announcement where id = any(?::uuid[])`, [gone.map(({ id }) => id)])
  for (const one of changed)
    await sql(
      trx,
      `insert into announcement (id, kind, title, body, plans, tenant_ids, starts_at, ends_at, created_by)
       values (coalesce(:id::uuid, gen_random_uuid()), :kind, :title::jsonb, :body::jsonb, :plans::text[], :tenantIds::uuid[], :startsAt::timestamptz,
         :endsAt::timestamptz, :by)
       on conflict (id) do update set kind = excluded.kind, title = excluded.title, body = excluded.body, plans = excluded.plans,
         tenant_ids = excluded.tenant_ids, starts_at = excluded.starts_at, ends_at = excluded.ends_at`,
      {
        id: one.id ?? null,
        kind: one.kind,
        title: JSON.stringify(one.title),
        body: JSON.stringify(one.body),
        plans: one.plans,
        tenantIds: one.tenantIds,
        startsAt: one.startsAt,
        endsAt: one.endsAt,
        by: contextOf(trx).actor.id,
      },
    )
  await audit(trx, {
    tenantId: null,
    action: 'announcement.replace',
    subjectType: 'Announcement',
    changes: [
      { field: 'count', before: before.length, after: given.length },
      { field: 'removed', after: gone.length },
      { field: 'written', after: changed.length },
    ],
  })
  return list(trx)
}

/** Announcements that run now for any of these tenants; `all`: every one there is, also those to come and those that are over. */
export const listAnnouncements = (
  trx: AnyTrx,
  { userId, all, ...paging }: Paging & { userId: string; all: boolean },
): Promise<Page<Announcement>> =>
  readPage<Announcement>(
    trx,
    {
      columns,
      from: 'announcement n',
      conditions: all
        ? []
        : [
            {
              text: `n.starts_at <= now() and (n.ends_at is null or n.ends_at > now()) and (cardinality(n.plans) + cardinality(n.tenant_ids) = 0
                or exists (select from tenants_of(?) t where t.plan = any(n.plans) or t.tenant_id = any(n.tenant_ids)))`,
              values: [userId],
            },
          ],
      order: 'n.starts_at desc, n.id',
    },
    paging,
  )
