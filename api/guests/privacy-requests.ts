import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Count,
  Day,
  Instant,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  approveRequest,
  blockerCodes,
  listRequests,
  openExport,
  readRequest,
  refuseRequest,
  registerRequest,
} from '../../db/guests/index.ts'
import { can } from '../lib/access/kinds.ts'
import { Bytes } from '../lib/bytes.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { guestFields, Version } from './schemas.ts'

const Kind = OneOf(['access', 'correction', 'erasure'])
const Status = OneOf(['received', 'running', 'completed', 'refused'])
const Channel = OneOf(['in_person', 'email', 'phone', 'letter', 'portal'])
const AnyChannel = OneOf(['in_person', 'email', 'phone', 'letter', 'portal', 'retention'])
const IdentityMethod = OneOf(['document', 'email_code', 'phone_code', 'known_guest'])
const Basis = OneOf(['contract', 'legal_obligation', 'claims', 'legitimate_interest', 'consent'])
const Sha256 = Matching('^[0-9a-f]{64}$', 64)
const Table = Text(1, 60)
const kept = { table: Table, keep: Count, basis: Nullable(Basis), until: Nullable(Text(0, 200)) }

const Certificate = Obj(
  {
    privacyRequestId: Uuid,
    kind: Kind,
    /** HMAC of the guest's id. */
    guest: Matching('^[0-9a-f]{32}$', 32),
    receivedAt: Instant,
    decidedAt: Instant,
    completedAt: Instant,
    erased: List(Obj({ table: Table, rows: Count }), { max: 100 }),
    kept: List(Obj(kept), { max: 100 }),
    sha256: Sha256,
  },
  { title: 'PrivacyCertificate' },
)
const Plan = Obj(
  {
    blockers: List(Obj({ code: OneOf([...blockerCodes]), message: Text(1, 300) }), { max: 1000 }),
    items: List(Obj({ erase: Count, ...kept }), { max: 100 }),
    hash: Sha256,
  },
  { title: 'ErasurePlan' },
)
const shown = {
  id: Uuid,
  guestId: Uuid,
  kind: Kind,
  status: Status,
  channel: AnyChannel,
  receivedAt: Instant,
  dueOn: Day,
  overdue: Bool,
  identityMethod: Nullable(IdentityMethod),
  decidedBy: Nullable(Uuid),
  decidedAt: Nullable(Instant),
  legalBasis: Nullable(Text(0, 300)),
  reason: Nullable(Text(0, 2000)),
  completedAt: Nullable(Instant),
  hasExport: Bool,
  exportUntil: Nullable(Instant),
  version: Version,
  createdAt: Instant,
  updatedAt: Instant,
}
const PrivacyRequestSummary = Obj(shown, { title: 'PrivacyRequestSummary' })
const PrivacyRequest = Obj(
  {
    ...shown,
    note: Nullable(Text(0, 2000)),
    /** Names of the fields that a correction would change. */
    correctionFields: List(Text(1, 40), { max: 20 }),
    /** Of an erasure that waits for a decision, as of now. */
    plan: Nullable(Plan),
    certificate: Nullable(Certificate),
    /** The certificate's hash, signed by the keys of the service (PASETO v4.public). */
    certificateToken: Nullable(Text(0, 20_000)),
  },
  { title: 'PrivacyRequest' },
)

const requests = resource({
  name: 'privacyRequests',
  subject: 'PrivacyRequest',
  table: 'privacy_request',
  path: '/api/tenants/:tenantId/privacy-requests',
  param: 'privacyRequestId',
  record: PrivacyRequest,
  lockedBy: 'command',
  read: readRequest,
})

const list = requests.list({
  summary: 'List privacy requests by state and deadline',
  description: 'The day that is due first comes first.',
  query: { status: Opt(Status), kind: Opt(Kind), overdue: Opt(Bool), guestId: Opt(Uuid) },
  of: PrivacyRequestSummary,
  example: { status: 'received' },
  find: ({ trx, filter }) => listRequests(trx, filter),
})

const create = requests.create({
  summary: 'Register a request for access, correction or erasure',
  description:
    'It is due 15 days after its receipt. One of each kind is open per guest. `correction` names the fields to be changed, with their values.',
  errors: ['reference_not_found', 'guest_erased', 'privacy_request_open'],
  body: Obj({
    guestId: Uuid,
    kind: Kind,
    channel: Channel,
    receivedAt: Opt(Instant),
    note: Opt(Words(1, 2000)),
    correction: Opt(Sparse(Obj(guestFields))),
  }),
  example: { guestId: sampleId('guestId'), kind: 'access', channel: 'email', note: 'Wants to know what is held' },
  command: ({ trx, body }) => registerRequest(trx, body),
})

const read = requests.read({ summary: 'Read a request with its erasure plan or certificate' })

const approve = requests.act('approve', {
  summary: 'Confirm identity and carry the request out',
  description:
    'An erasure needs the `hash` of the plan that was read: 409 `plan_changed` where it is another one by now. With the reply everything that the key of the guest sealed is unreadable; a job takes away the rest and writes the certificate.',
  errors: ['guest_erased', 'guest_merged', 'invalid_transition', 'plan_changed', 'erasure_blocked'],
  body: Obj({ identityMethod: IdentityMethod, planHash: Opt(Sha256) }),
  example: { identityMethod: 'document' },
  command: ({ trx, id, body, expectedVersion }) => approveRequest(trx, id, body, expectedVersion),
})

const refuse = requests.act('refuse', {
  summary: 'Refuse a request with its legal basis',
  action: 'approve',
  errors: ['invalid_transition'],
  body: Obj({ legalBasis: Words(3, 300), reason: Words(3, 2000) }),
  example: { legalBasis: 'LGPD, article 16, I', reason: 'Invoices of the stay must be kept for five years' },
  command: ({ trx, id, body, expectedVersion }) => refuseRequest(trx, id, body, expectedVersion),
})

const download = route({
  id: 'privacyRequests.export',
  method: 'GET',
  path: `${requests.one}/export`,
  summary: 'Download the data of an access request',
  description: 'JSON, kept for 7 days. Each download is in the audit trail.',
  access: can('export', 'PrivacyRequest'),
  returns: Bytes(['application/json']),
  errors: ['export_expired'],
  handle: async ({ trx, params }) => ({
    mediaType: 'application/json',
    bytes: await openExport(trx, params.privacyRequestId),
    fileName: `personal-data-${params.privacyRequestId}.json`,
  }),
})

export const routes = [list, create, read, approve, refuse, download]
