import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Count,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  Opt,
  PageOf,
  PageQuery,
  SignedAmount,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import { assessTaxes, listAssessments } from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { Reply, route } from '../lib/route.ts'

const path = '/api/tenants/:tenantId/financial/tax-assessments'
/** Millionths. */
const rate = Int(0, 1_000_000)
const Assessment = Obj(
  {
    id: Uuid,
    bookId: Uuid,
    taxCodeId: Uuid,
    periodId: Uuid,
    propertyId: Nullable(Uuid),
    number: Count,
    base: Amount,
    rate,
    tax: Amount,
    delta: SignedAmount,
    entryId: Uuid,
    createdAt: Instant,
  },
  { title: 'TaxAssessment' },
)
const Due = Obj(
  {
    taxCodeId: Uuid,
    propertyId: Nullable(Uuid),
    base: Amount,
    rate,
    tax: Amount,
    before: SignedAmount,
    delta: SignedAmount,
  },
  { title: 'TaxDue' },
)

const list = route({
  id: 'taxAssessments.list',
  method: 'GET',
  path,
  summary: 'List tax assessments by period and tax code',
  description:
    'Latest first. Each is what its entry posted: the difference to the assessments of the period before it.',
  access: can('read', 'TaxAssessment'),
  query: Obj({
    ...PageQuery,
    bookId: Opt(Uuid),
    periodId: Opt(Uuid),
    taxCodeId: Opt(Uuid),
    propertyId: Opt(Uuid),
  }),
  returns: PageOf(Assessment),
  handle: async ({ trx, query: { page = 1, limit = 20, ...filter }, admission }) => {
    const scope = admission.scope('read', 'TaxAssessment')
    const { rows, total } = await listAssessments(trx, { ...filter, page, limit, scope })
    return { data: rows, meta: pageMeta(page, limit, total) }
  },
})

const create = route({
  id: 'taxAssessments.create',
  method: 'POST',
  path,
  summary: 'Preview or post the revenue taxes of a period',
  description:
    'Revenue less allowances of the sections of each tax code, for each property, at the rate of the last day of the period. What was assessed before is `before`; `delta` is posted, unless `dryRun` says so. Soft-closing a period does it by itself.',
  access: can('create', 'TaxAssessment'),
  status: 201,
  ok: 'Taxes as they would be posted',
  body: Obj({
    bookId: Opt(Uuid),
    periodId: Uuid,
    taxCodeIds: Opt(List(Uuid, { min: 1, max: 100 })),
    dryRun: Opt(Bool),
  }),
  example: { bookId: sampleId('bookId'), periodId: sampleId('periodId'), dryRun: true },
  returns: Obj({ data: List(Due, { max: 100_000 }) }),
  errors: ['not_found', 'reference_not_found', 'period_closed', 'date_locked'],
  handle: async ({ trx, body, admission }) => {
    const data = await assessTaxes(trx, { ...body, scope: admission.scope('create', 'TaxAssessment') })
    return body.dryRun ? new Reply({ data }, { status: 200 }) : { data }
  },
})

export const routes = [list, create]
