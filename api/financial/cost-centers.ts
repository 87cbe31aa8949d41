import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Currency,
  Int,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import {
  changeCostCenter,
  costCenterTotals,
  createCostCenter,
  deleteCostCenter,
  listCostCenters,
  readCostCenter,
} from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { LedgerCode, Name, stamps } from './schemas.ts'

const kind = OneOf(['department', 'project', 'other'])
const record = {
  id: Uuid,
  bookId: Uuid,
  code: LedgerCode,
  name: Name,
  kind,
  parentId: Nullable(Uuid),
  active: Bool,
  ...stamps,
}

const costCenters = resource({
  name: 'costCenters',
  subject: 'CostCenter',
  table: 'cost_center',
  path: '/api/tenants/:tenantId/financial/cost-centers',
  param: 'costCenterId',
  record: Obj(record, { title: 'CostCenter' }),
  read: readCostCenter,
})

const list = costCenters.list({
  summary: 'List cost centres and departments as a tree',
  description: 'By code; `parentId` names the cost centre above, and filters by it.',
  query: { bookId: Opt(Uuid), kind: Opt(kind), active: Opt(Bool), parentId: Opt(Uuid), q: Opt(Text(1, 120)) },
  example: { active: true },
  find: ({ trx, filter }) => listCostCenters(trx, filter),
})

const create = costCenters.create({
  summary: 'Create a cost centre',
  errors: ['duplicate_code', 'reference_not_found', 'not_found'],
  body: Obj({ bookId: Opt(Uuid), code: LedgerCode, name: Name, kind: Opt(kind), parentId: Opt(Nullable(Uuid)) }),
  example: { bookId: sampleId('bookId'), code: 'SPA.1', name: 'Spa' },
  command: ({ trx, body }) => createCostCenter(trx, body),
})

const read = route({
  id: 'costCenters.read',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/cost-centers/:costCenterId',
  summary: 'Show a cost centre with totals of the year',
  description:
    '`revenue` and `expense` are those of the present fiscal year, each on its normal side, of the properties of the caller.',
  access: can('read', 'CostCenter'),
  returns: Obj({ ...record, year: Int(1900, 9999), currency: Currency, revenue: SignedAmount, expense: SignedAmount }),
  handle: async ({ trx, params, admission }) => ({
    ...(await readCostCenter(trx, params.costCenterId)),
    ...(await costCenterTotals(trx, params.costCenterId, admission.scope('read', 'CostCenter'))),
  }),
})

const change = costCenters.change({
  summary: 'Change name, parent or active switch',
  errors: ['reference_not_found'],
  body: Sparse(Obj({ name: Name, parentId: Nullable(Uuid), active: Bool })),
  example: { name: 'Spa and wellness' },
  command: ({ trx, id, body }) => changeCostCenter(trx, id, body),
})

const remove = costCenters.remove({
  summary: 'Delete a cost centre that was never used',
  errors: ['in_use'],
  command: ({ trx, id }) => deleteCostCenter(trx, id),
})

export const routes = [list, create, read, change, remove]
