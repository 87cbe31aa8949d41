import { Amount, Bool, Currency, Instant, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { answerDispute, listDisputes, readDispute } from '../../db/payment/index.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { Reference } from './schemas.ts'

const Status = OneOf(['needs_response', 'submitted', 'under_review', 'won', 'lost'])
const evidenceText = Opt(Text(0, 20_000))
const Evidence = Obj({
  explanation: evidenceText,
  productDescription: evidenceText,
  policyDisclosure: evidenceText,
  refundPolicy: evidenceText,
  serviceDate: evidenceText,
  guestCommunication: evidenceText,
  guestName: evidenceText,
  guestEmail: evidenceText,
})

const fields = {
  id: Uuid,
  provider: OneOf(['stripe', 'sandbox', 'bank']),
  gatewayAccountId: Nullable(Uuid),
  paymentId: Uuid,
  propertyId: Uuid,
  externalId: Reference,
  amount: Amount,
  currency: Currency,
  reason: Text(1, 100),
  phase: OneOf(['inquiry', 'dispute', 'appeal']),
  status: Status,
  /** The gateway has taken the money for it. */
  taken: Bool,
  response: Nullable(OneOf(['contest', 'accept'])),
  responseDueAt: Nullable(Instant),
  openedAt: Instant,
  closedAt: Nullable(Instant),
  ...stamps,
}
const DisputeSummary = Obj(fields, { title: 'DisputeSummary' })
const Dispute = Obj({ ...fields, evidence: Nullable(Evidence), suggested: Nullable(Evidence) }, { title: 'Dispute' })

const disputes = resource({
  name: 'disputes',
  subject: 'Dispute',
  table: 'dispute',
  path: '/api/tenants/:tenantId/payments/disputes',
  param: 'disputeId',
  record: Dispute,
  read: readDispute,
  show: (dispute, admission) => (admission.isMasked('Dispute') ? { ...dispute, evidence: null } : dispute),
})

const list = disputes.list({
  summary: 'List disputes, nearest deadline first',
  query: { status: Opt(Status), paymentId: Opt(Uuid) },
  of: DisputeSummary,
  example: { status: 'needs_response' },
  find: ({ trx, filter }) => listDisputes(trx, filter),
})

const read = disputes.read({
  summary: 'Read a dispute with suggested evidence',
})

const respond = disputes.act('respond', {
  summary: 'Contest a dispute with evidence, or accept it',
  description: 'Once in each phase. The gateway decides; the outcome is told by the events of the dispute.',
  idempotency: 'required',
  errors: ['invalid_transition', 'response_overdue', 'rule_violated'],
  body: Obj({ action: OneOf(['contest', 'accept']), evidence: Opt(Evidence) }),
  example: { action: 'contest', evidence: { explanation: 'The guest stayed all nights.' } },
  command: ({ trx, id, body }) => answerDispute(trx, id, body),
})

export const routes = [list, read, respond]
