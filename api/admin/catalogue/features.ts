import { features } from '../../../config/features.ts'
import { List, Obj, Text } from '../../../config/schema.ts'
import { listPlans, subjectsOfFeature } from '../../../db/admin/index.ts'
import { superuser } from '../../lib/access/kinds.ts'
import { paged } from '../../lib/paged.ts'
import type { AnyRoute } from '../../lib/route.ts'
import { Plan, FeatureKey } from './schemas.ts'

/** The routes are known once all modules are loaded. */
let known: readonly AnyRoute[] = []

export const tellRoutes = (routes: readonly AnyRoute[]): void => {
  known = routes
}

export const endpointsOf = (key: string): string[] => {
  const gated = new Set(subjectsOfFeature(key))
  return known
    .filter(({ access }) =>
      access.kind === 'tenant'
        ? gated.has(access.subject)
        : (access.kind === 'property' || access.kind === 'guest') && access.feature === key,
    )
    .map(({ method, path }) => `${method} ${path}`)
    .toSorted()
}

const Feature = Obj(
  {
    key: FeatureKey,
    name: Text(1, 80),
    description: Text(0, 500),
    subjects: List(Text(1, 60), { max: 200 }),
    endpoints: List(Text(1, 200), { max: 1_000 }),
    plans: List(Plan, { max: 10 }),
  },
  { title: 'Feature' },
)

export const featureList = paged({
  id: 'superuser.features.list',
  path: '/superuser/features',
  summary: 'List features with entities, endpoints and plans they open',
  access: superuser('N2', 'read', 'Feature'),
  of: Feature,
  find: async ({ trx, query: { page, limit } }) => {
    const { rows: all } = await listPlans(trx, { page: 1, limit: 10 })
    const rows = Object.entries(features).map(([key, { name, description }]) => ({
      key,
      name,
      description,
      subjects: subjectsOfFeature(key),
      endpoints: endpointsOf(key),
      plans: all
        .filter(({ versions }) => versions[0]?.features.some((feature) => feature.key === key))
        .map(({ plan }) => plan),
    }))
    return { total: rows.length, rows: rows.slice((page - 1) * limit, page * limit) }
  },
})
