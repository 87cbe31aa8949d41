import { sampleId } from '../../config/samples.ts'
import { Count, Instant, Int, List, Nullable, Obj, Opt, Text, Uuid } from '../../config/schema.ts'
import { policyOf, setPolicy } from '../../db/accounts-payable/index.ts'
import { bookOf } from '../../db/documents/index.ts'
import { refuseKey, requireRecent } from '../lib/access/admission.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Part, path } from './schemas.ts'

const Bands = List(
  Obj({ from: Part, approvals: Int(0, 3), roles: List(Text(1, 60), { max: 20 }, { uniqueItems: true }) }),
  { min: 1, max: 10 },
)
const fields = { bands: Bands, coolOffHours: Int(0, 168), priceTolerance: Int(0, 2_000) }
const ApprovalPolicy = Obj(
  {
    bookId: Uuid,
    /** Counts the versions; 0 while the book has none of its own. */
    version: Count,
    ...fields,
    createdBy: Nullable(Uuid),
    createdAt: Nullable(Instant),
  },
  { title: 'ApprovalPolicy' },
)

const shown = async (trx: Parameters<typeof policyOf>[0], bookId: string) => {
  const { number, ...policy } = await policyOf(trx, bookId)
  return { ...policy, version: number }
}

const read = route({
  id: 'approvalPolicy.read',
  method: 'GET',
  path: `${path}/approval-policy`,
  summary: 'Read who must approve which amounts',
  access: can('read', 'ApprovalPolicy'),
  query: Obj({ bookId: Opt(Uuid) }),
  example: { bookId: sampleId('bookId') },
  returns: ApprovalPolicy,
  errors: ['reference_not_found'],
  handle: async ({ trx, query }) => shown(trx, (await bookOf(trx, query)).id),
})

const set = route({
  id: 'approvalPolicy.set',
  method: 'PUT',
  path: `${path}/approval-policy`,
  summary: 'Set approval bands, roles and the bank details wait',
  description:
    'With a recent proof of identity, never by an API key. A bill keeps the version under which it was submitted. `priceTolerance` is in basis points.',
  access: can('update', 'ApprovalPolicy'),
  query: Obj({ bookId: Opt(Uuid) }),
  body: Obj(fields),
  example: {
    bands: [
      { from: 0, approvals: 1, roles: ['owner', 'admin', 'manager', 'finance'] },
      { from: 500_000, approvals: 2, roles: ['owner', 'admin', 'finance'] },
    ],
    coolOffHours: 24,
    priceTolerance: 200,
  },
  returns: ApprovalPolicy,
  errors: ['reference_not_found', 'reauthentication_required', 'key_not_allowed', 'version_conflict'],
  handle: async ({ trx, query, body, caller, request, expectedVersion }) => {
    refuseKey(caller)
    requireRecent(caller, request.receivedAt)
    const book = await bookOf(trx, query)
    await setPolicy(trx, book.id, body, expectedVersion)
    return shown(trx, book.id)
  },
})

export const routes = [read, set]
