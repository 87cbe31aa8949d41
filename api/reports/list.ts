import { reportFormats, reports } from '../../config/reports.ts'
import { reportLocaleOf } from '../../config/report-texts.ts'
import { Anything, Bool, Int, List, MapOf, Nullable, Obj, OneOf, Text } from '../../config/schema.ts'
import { subjectFacts } from '../../config/subjects.ts'
import { readTenant } from '../../db/admin/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { route } from '../lib/route.ts'
import { ReportKeys } from './schemas.ts'

/** Tells whether a caller may run a report: its subject may be read, and its feature is active. */
const mayRun = (admission: Admission, subject: string): boolean => {
  const { feature } = subjectFacts(subject)
  return admission.can('read', subject) && (feature === null || admission.features.includes(feature))
}

const list = route({
  id: 'reports.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/reports',
  summary: 'List the reports that the caller may run, with parameters',
  description: '`parameters` is the JSON Schema of each. Names are in the language of the tenant.',
  access: can('read', 'ReportRun'),
  returns: Obj({
    data: List(
      Obj(
        {
          key: ReportKeys,
          name: Text(1, 120),
          subject: Text(1, 60),
          feature: Nullable(Text(1, 60)),
          formats: List(OneOf([...reportFormats]), { max: 4 }),
          atOnce: Bool,
          parameters: MapOf(Anything, { max: 50 }),
          formulaVersion: Int(1, 1000),
        },
        { title: 'ReportDeclaration' },
      ),
      { max: 100 },
    ),
  }),
  handle: async ({ trx, admission }) => {
    admission.scope('read', 'ReportRun')
    const { locale } = await readTenant(trx)
    return {
      data: reports
        .filter(({ subject }) => mayRun(admission, subject))
        .map(({ key, name, subject, parameters, atOnce, formulaVersion }) => ({
          key,
          name: name[reportLocaleOf(locale)],
          subject,
          feature: subjectFacts(subject).feature,
          formats: [...reportFormats],
          atOnce,
          parameters: JSON.parse(JSON.stringify(Obj(parameters))) as Record<string, unknown>,
          formulaVersion,
        })),
    }
  },
})

export const routes = [list]
